# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of diff in a real browser: it sorts and filters, and asks for nothing else. Screenshots are
left in build/tests."""
import copy
import glob
import json
import os
import subprocess

from conftest import need
from lib import program

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


def chromium(*args):
    return subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu",
                           "--disable-dev-shm-usage", "--virtual-time-budget=3000"] + list(args),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120).stdout


def picture(name, page):
    """A screenshot, to be looked at."""
    path = os.path.join(program.BUILD, name)
    os.makedirs(program.BUILD, exist_ok=True)
    if os.path.exists(path):
        os.remove(path)
    chromium("--window-size=1200,900", "--screenshot=" + path, "file://%s" % page)
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
    dom = chromium("--dump-dom", "file://%s/probe.html" % tmp_path).decode()
    title = dom[dom.index("<title>") + 7:dom.index("</title>")].replace("&quot;", '"')
    out = json.loads(title)
    assert out["fewest"] == "1" and out["most"] == "11", out
    assert out["filtered"] == ["driver.version"] and out["shown"] == "1 row", out
    picture("diff.png", page)
    picture("diff-filtered.png", tmp_path / "probe.html")
