# SPDX-License-Identifier: GPL-2.0-or-later
"""The pages of diff and doctor in a real browser: they sort, search and filter, ask for nothing else, can be read in
light and dark and on paper; the texts of a drawing do not overlap. Screenshots are left in build/tests."""
import copy
import glob
import json
import os
import subprocess

import pytest
from conftest import need
from lib import node, program

PROBE = """<script>
const rows=()=>[...document.querySelector('#facts').tBodies[0].rows];
const first=()=>rows().filter(r=>!r.hidden)[0].cells;
const out={};
document.querySelectorAll('#facts th button')[3].click();
out.fewest=first()[3].textContent;
document.querySelectorAll('#facts th button')[3].click();
out.most=first()[3].textContent;
const f=document.getElementById('filter');
f.value='driver node07';f.dispatchEvent(new Event('input'));
out.filtered=rows().filter(r=>!r.hidden).map(r=>r.cells[0].textContent);
out.shown=document.getElementById('shown').textContent;
document.title=JSON.stringify(out);
</script>"""


DARK = "--blink-settings=preferredColorScheme=0"

AUDIT = """<script>
const out={errors:[]};
const channel=c=>{c/=255;return c<=0.03928?c/12.92:((c+0.055)/1.055)**2.4};
const light=rgb=>0.2126*channel(rgb[0])+0.7152*channel(rgb[1])+0.0722*channel(rgb[2]);
const rgb=text=>text.match(/[0-9.]+/g).map(Number);
function paper(e){
 for(;e;e=e.parentElement){const c=rgb(getComputedStyle(e).backgroundColor);if(c.length<4||c[3]>0)return c}
 return [255,255,255];
}
for(const e of document.querySelectorAll('h1,h2,h3,p,a,dt,dd,td,th,li,code,span,button,label,footer')){
 if(!e.textContent.trim()||e.closest('svg')||e.closest('[hidden]')||e.className==='skip')continue;
 const a=light(rgb(getComputedStyle(e).color)),b=light(paper(e));
 const contrast=(Math.max(a,b)+0.05)/(Math.min(a,b)+0.05);
 if(contrast<4.5)out.errors.push([e.tagName,e.className,contrast.toFixed(2)]);
}
out.paper=getComputedStyle(document.body).backgroundColor;
const words=document.getElementById('words'),verdict=document.getElementById('verdict');
const shown=()=>[...document.querySelectorAll('#answers tbody tr')].filter(r=>!r.hidden);
out.all=shown().length;
words.value='nouveau';words.dispatchEvent(new Event('input'));
out.found=shown().map(r=>r.cells[1].firstChild.textContent);
words.value='';words.dispatchEvent(new Event('input'));
verdict.value='fail';verdict.dispatchEvent(new Event('change'));
out.failed=shown().length;out.said=document.getElementById('shown').textContent;
out.wide=document.documentElement.scrollWidth-document.documentElement.clientWidth;
out.focus=[...document.querySelectorAll('a[href],input,select,button,[tabindex]')].every(e=>{
 e.focus();return document.activeElement===e||e.closest('svg')});
document.title=JSON.stringify(out);
</script>"""

OVERLAPS = """<script>
const out=[],boxes=[...document.querySelectorAll('text')].map(t=>[t.textContent,t.getBoundingClientRect()]);
const view=document.querySelector('svg').getBoundingClientRect();
boxes.forEach(([a,x],i)=>{
 if(!a.trim())return;
 if(x.right>view.right+1||x.bottom>view.bottom+1)out.push(a+' leaves the drawing');
 for(const [b,y] of boxes.slice(i+1))
  if(b.trim()&&Math.min(x.right,y.right)-Math.max(x.left,y.left)>1&&Math.min(x.bottom,y.bottom)-Math.max(x.top,y.top)>4)
   out.push(a+' | '+b);
});
for(const r of document.querySelectorAll('rect.gpu,rect.nic,rect.nvs,rect.bx')){
 const box=r.getBoundingClientRect();
 for(const [a,x] of boxes)
  if(x.left>=box.left&&x.left<box.right&&x.top>=box.top-1&&x.bottom<=box.bottom+1&&x.right>box.right)
   out.push(a+' leaves its box');
}
document.title=JSON.stringify(out);
</script>"""


def chromium(*args):
    return subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu",
                           "--disable-dev-shm-usage", "--virtual-time-budget=3000"] + list(args),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120).stdout


def title_of(page, *args):
    """What a script left in the page's title."""
    dom = chromium("--dump-dom", *args, "file://%s" % page).decode()
    title = dom[dom.index("<title>") + 7:dom.index("</title>")]
    for name, char in (("quot", '"'), ("lt", "<"), ("gt", ">"), ("amp", "&")):
        title = title.replace("&%s;" % name, char)
    return json.loads(title)


def picture(name, page, *args):
    """A screenshot, to be looked at."""
    path = os.path.join(program.BUILD, name)
    os.makedirs(program.BUILD, exist_ok=True)
    if os.path.exists(path):
        os.remove(path)
    chromium("--window-size=1200,900", "--screenshot=" + path, *args, "file://%s" % page)
    assert os.path.getsize(path) > 1000


def test_sorts_and_filters(tmp_path, machine):
    need("chromium")
    facts = program.facts(machine.stage.directory)
    for i in range(12):
        one = copy.deepcopy(facts)
        if i == 7:
            one["driver"]["version"] = "<b>550.1</b>"
        if i in (2, 3):
            for interface in one["net"]["interfaces"]:
                interface["mtu_bytes"] = 1500
        with open(str(tmp_path / ("node%02d.json" % i)), "w") as file:
            json.dump(one, file)
    page = str(tmp_path / "page.html")
    files = sorted(glob.glob(str(tmp_path / "node*.json")))
    result = program.run("diff", "--format", "html", "--output", page, *files)
    assert result.status == 1, str(result)
    with open(page) as file:
        text = file.read()
    assert "http:" not in text and "https:" not in text and "<b>550" not in text
    with open(str(tmp_path / "probe.html"), "w") as file:
        file.write(text.replace("</body>", PROBE + "</body>"))
    out = title_of(tmp_path / "probe.html")
    assert out["fewest"] == "1" and out["most"] == "11", out
    assert out["filtered"] == ["driver.version"] and out["shown"] == "1 row", out
    picture("diff.png", page)
    picture("diff-filtered.png", tmp_path / "probe.html")


def report_of(directory, tmp_path, script):
    page = tmp_path / "report.html"
    result = program.run("doctor", "--format", "html", "--profile", "deepep", "--root", directory, "-o", page)
    assert result.status in (0, 1), str(result)
    probe = tmp_path / "probe.html"
    probe.write_text(page.read_text().replace("</body>", script + "</body>"))
    return page, probe


def test_report_in_light_and_dark(tmp_path, node_tree):
    """Contrast of WCAG 2.1, level AA; every answer is found; nothing is out of a keyboard's reach."""
    need("chromium")
    page, probe = report_of(node_tree("broken-everything"), tmp_path, AUDIT)
    papers = []
    for name, args in (("light", []), ("dark", [DARK])):
        out = title_of(probe, *args)
        assert out["errors"] == [], name
        assert out["all"] > 300 and out["found"] and set(out["found"]) <= {"modules/nouveau-loaded", "driver/loaded",
                                                                          "boot/modprobe-conf-shadowed"}
        assert out["said"] == "%d answers" % out["failed"] and out["wide"] == 0 and out["focus"], out
        papers.append(out["paper"])
        picture("report-%s.png" % name, page, *args)
    assert papers[0] == "rgb(255, 255, 255)" != papers[1]


def test_report_is_readable_on_a_telephone(tmp_path, node_tree):
    need("chromium")
    out = title_of(report_of(node_tree("broken-everything"), tmp_path, AUDIT)[1], "--window-size=500,900")
    assert out["wide"] == 0


def test_report_prints(tmp_path, node_tree):
    need("chromium")
    page, _ = report_of(node_tree("broken-everything"), tmp_path, "")
    paper = tmp_path / "report.pdf"
    chromium("--print-to-pdf=%s" % paper, DARK, "file://%s" % page)
    assert paper.read_bytes().startswith(b"%PDF") and paper.stat().st_size > 20000


@pytest.mark.parametrize("name", node.names())
def test_texts_of_a_drawing_do_not_overlap(name, tmp_path, node_tree):
    need("chromium")
    drawing = program.run("topo", "--format", "svg", "--root", node_tree(name)).out
    page = tmp_path / "drawing.html"
    page.write_text("<!DOCTYPE html><html><head><meta charset=utf-8><title></title></head><body>%s%s</body></html>"
                    % (drawing, OVERLAPS))
    assert title_of(page, "--window-size=2400,3000") == []
