# SPDX-License-Identifier: GPL-2.0-or-later
"""Text that wants more than to be read: control characters, quotes, markup, marks of direction, bytes that are no
characters, far too much of it. It goes through every string that facts have into every format, and each result is
taken by a parser of that format as what it is: nothing in it begins a line, a label, an element or a colour."""
import concurrent.futures
import configparser
import html.parser
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest

from lib import node, program, schema
from lib.long import dealt
from lib.program import run

NODE = "broken-everything"
THREADS = 2

BAD = {
    "sequences": "\x1b]0;FORGED\x07\x1b[2J\x1b[1;31mFORGED\x9b31m\x9dFORGED\x9c\x08\x08\x7f\x0e",
    "lines": "a\nFORGED\r\nERR  driver/FORGED\n\x0b\x0cFORGED_metric 1\n",
    "markup": "\"'><script>FORGED()</script><FORGED a=\"b\" c='d'>&amp;&FORGED;&#1;]]><!-- -->",
    "metric": "x\",FORGED=\"1\"} 1\n# HELP FORGED x\n# TYPE FORGED gauge\nFORGED 1\n| FORGED=1;2;3",
    "direction": "\u202eDEGROF\u202c\u2066\u2067\u2069\u200e\u2028FORGED\u2029\ufeff\u200b\ufffe\uffff\u00ad\u034f\u115f\u3164\ufe0f\uffa0",
    "backslashes": "\\n\\\"\\x1b\\u202e %s%n%1$s $(FORGED) `FORGED` ${FORGED} \\",
    "requests": "\n.SH FORGED\n'br\n\\fBFORGED",
    "configuration": "x\n[FORGED]\nFORGED = 1\n; FORGED",
}
ALL = "".join(BAD.values())
LENGTHY = "w" * 400 + " " + "\u00e4" * 400


# ---- every string of a document of facts ----

def is_free(part):
    """A string of any text: no word of a list, no number written as a string."""
    options = part.get("anyOf", [part])
    return any("string" in (o.get("type") if isinstance(o.get("type"), list) else [o.get("type")])
               and "pattern" not in o and "enum" not in o for o in options)


def strings():
    """(struct, key) of every fact that is a string, or a list of them."""
    found = []
    for name, part in schema.load("facts")["$defs"].items():
        for key, sub in part.get("properties", {}).items():
            lists = [o.get("items", {}) for o in sub.get("anyOf", [sub])]
            if is_free(sub) or any(is_free(item) for item in lists):
                found.append((name, key))
    return found


def poison(value, name, change, whole):
    """Calls CHANGE(struct, key, text) for every free string of VALUE, and puts in what it returns."""
    part = whole if name == "node" else whole["$defs"][name]
    for key in list(value):
        sub = part["properties"].get(key, {})
        if isinstance(value[key], str) and is_free(sub) and key not in schema.STATED:
            value[key] = change(name, key, value[key])
        for option in sub.get("anyOf", [sub]):
            item = option.get("items", {})
            if isinstance(value[key], list) and is_free(item):
                value[key] = [change(name, key, s) if isinstance(s, str) else s for s in value[key]]
            reference = option.get("$ref") or item.get("$ref")
            for one in value[key] if isinstance(value[key], list) else [value[key]]:
                if reference and isinstance(one, dict):
                    poison(one, reference.rpartition("/")[2], change, whole)


def poisoned(facts, change):
    facts = json.loads(facts)
    poison(facts, "node", change, schema.load("facts"))
    return facts


# ---- what each format is ----

STYLES = re.compile("\x1b\\[(0|1|2|1;3[1-4])m")
# C0 and C1 control characters, DEL, marks of direction, zero widths, other characters without a form, separators, what XML has no room for.
HIDDEN = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
                    "\ufeff\ufff9-\ufffb\ufffe\uffff\u00ad\u034f\u115f\u3164\ufe0f\uffa0]")


def check_shown(raw):
    text = raw.decode("utf-8")
    hidden = HIDDEN.search(text)
    assert not hidden, repr(text[max(0, hidden.start() - 60):hidden.end() + 20])
    return text


def check_text(raw):
    text = check_shown(STYLES.sub("", raw.decode("utf-8")).encode())
    begun = [line for line in text.splitlines() if re.match(r"\s*(ERR +)?(driver/)?FORGED", line)]
    # A long value is broken at its blanks, and goes on indented: by four columns at least, in the steps.
    assert not [line for line in begun if not line.startswith(" " * 4)], begun
    return text


def check_json(raw):
    check_shown(raw)
    return json.loads(raw)


def check_lines(raw):
    for line in raw.splitlines():
        check_json(line)


SERIES = re.compile(r'([a-z_]+)(?:\{((?:[a-zA-Z_]+="(?:[^"\\\n]|\\[\\"n])*",?)+)\})? (-?[0-9.e+]+)')


def check_prometheus(raw):
    text, seen = check_shown(raw), set()
    for line in text.splitlines():
        if line.startswith("#"):
            assert re.match(r"# (HELP|TYPE) nvnodecheck_", line), line
            continue
        series = SERIES.fullmatch(line)
        assert series and series[1].startswith("nvnodecheck_"), line
        labels = re.findall(r'([a-zA-Z_]+)="((?:[^"\\]|\\.)*)"', series[2] or "")
        assert not {name for name, _ in labels} & {"FORGED"}
        assert (series[1], tuple(labels)) not in seen, line
        seen.add((series[1], tuple(labels)))
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=raw, capture_output=True, check=False)
        assert done.returncode != 1, done.stderr


def check_nagios(raw):
    text = check_shown(raw)
    lines = text.splitlines()
    assert lines[0].count("|") == 1 and not [line for line in lines[1:] if "|" in line]
    assert re.search(r" \| failed=\d+ pending=\d+ unknown=\d+ passed=\d+$", lines[0])
    check_text(raw)


def check_npd(raw):
    text = check_shown(raw)
    assert text.endswith("\n") and text.count("\n") == 1 and len(raw) <= 81


ELEMENTS = {"svg", "title", "desc", "style", "g", "rect", "text", "tspan", "path"}


def check_svg(raw):
    check_shown(raw)
    for element in xml.etree.ElementTree.fromstring(raw).iter():
        assert element.tag.rpartition("}")[2] in ELEMENTS
        assert not set(element.attrib) - {"width", "height", "viewBox", "role", "aria-labelledby", "id", "x",
                                          "y", "class", "rx", "d", "dx"}


class Page(html.parser.HTMLParser):
    VOID = {"meta", "input", "br"}
    TAGS = VOID | {"html", "head", "title", "style", "body", "h1", "h2", "label", "span", "table", "thead", "tr",
                   "th", "button", "tbody", "td", "script"}

    def __init__(self):
        super().__init__()
        self.open, self.scripts = [], 0

    def handle_starttag(self, tag, attrs):
        assert tag in self.TAGS, tag
        assert "forged" not in str(attrs).lower()
        self.scripts += tag == "script"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_comment(self, data):
        raise AssertionError("a comment: " + data)


class Report(Page):
    """doctor --format html: the drawing of topo is a part of it."""
    TAGS = Page.TAGS | ELEMENTS | {"a", "header", "main", "footer", "section", "article", "div", "p", "h3", "dl",
                                          "dt", "dd", "ol", "ul", "li", "pre", "code", "select", "option", "strong"}

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        names = dict(attrs)
        assert names.get("href", "#").startswith("#") and "src" not in names

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()


def check_report(raw):
    check_html(raw, Report())


def check_markdown(raw):
    """Own marks alone: a heading for the letter and one for each problem, no element, no link."""
    text = check_text(raw)
    sentences = [line for line in text.splitlines() if not line.startswith("    ")]
    for line in sentences:
        assert not re.search(r"(?<!\\)(\\\\)*[<`\[]", line), line
        assert not line.startswith("#") or re.match(r"# Request for changes on |## \d+\. ", line), line


def check_html(raw, page=None):
    check_shown(raw)
    page = page or Page()
    page.feed(raw.decode())
    page.close()
    assert not page.open and page.scripts == 1


def check_expect(raw):
    check_text(raw)
    config = configparser.ConfigParser(delimiters="=", interpolation=None)
    config.read_string(raw.decode())
    assert config.sections() == ["expect"]
    # "nic." and "mount." name what is on the node.
    assert not [k for k in config["expect"] if k.startswith("forged")]


# Whose messages name many rules.
LOG = """NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory
NCCL INFO NET/IB : No device found.
NCCL WARN NET/IB : Got completion from peer 192.0.2.1<1> with status=12 opcode=0 len=0 vendor err 129 (Send)
NCCL INFO NET/IB : Using [0]mlx5_77:1/IB [RO]; OOB eth0:192.0.2.1<0>
NCCL version 2.7.8+cuda10.2"""
FORMATS = {
    "doctor": (["doctor"], check_text),
    "colour": (["doctor", "--verbose", "--color", "always"], check_text),
    "brief": (["doctor", "--brief"], check_text),
    "page": (["doctor", "--format", "html"], check_report),
    "provider": (["doctor", "--for", "provider"], check_markdown),
    "json": (["doctor", "--json"], check_json),
    "jsonl": (["doctor", "--format", "jsonl"], check_lines),
    "prometheus": (["doctor", "--format", "prometheus"], check_prometheus),
    "nagios": (["doctor", "--format", "nagios"], check_nagios),
    "npd": (["doctor", "--format", "npd"], check_npd),
    "preflight": (["preflight"], check_text),
    "topo": (["topo", "--color", "always"], check_text),
    "topo-json": (["topo", "--json"], check_json),
    "svg": (["topo", "--format", "svg"], check_svg),
    "expect": (["expect"], check_expect),
    "expect-json": (["expect", "--json"], check_json),
    "facts": (["facts"], check_json),
    "why": (["why", "--color", "always", "--text", LOG], check_text),
    "why-json": (["why", "--json", "--text", LOG], check_json),
    "fix": (["fix", "--all", "--color", "always"], check_text),
    "fix-json": (["fix", "--all", "--json"], check_json),
}
CAPTURES = {
    "capture": (["capture", "-o", "-"], check_lines),
    "whole capture": (["capture", "--no-redact", "-o", "-"], check_lines),
}
DIFFS = {
    "diff": (["diff"], check_text),
    "diff-json": (["diff", "--json"], check_json),
    "html": (["diff", "--format", "html"], check_html),
}


def check_format(name, file, other=None):
    args, check = DIFFS[name] if name in DIFFS else FORMATS[name]
    result = run(*args, *((file, other) if name in DIFFS else ("--from", file)))
    assert result.status in (0, 1, 2, 3), str(result)
    check_text(result.err.encode())
    try:
        check(result.raw)
    except (AssertionError, ValueError, xml.etree.ElementTree.ParseError) as error:
        raise AssertionError("%s: %s" % (name, error)) from error


@pytest.fixture
def plain(node_facts, tmp_path):
    """The node's facts as they are, in a file and as text."""
    file = tmp_path / "plain.json"
    file.write_text(node_facts(NODE))
    return str(file), node_facts(NODE)


# ---- through facts ----

@pytest.mark.parametrize("how", ["behind", "instead", "long"])
def test_every_format(how, plain, tmp_path):
    """All strings at once: behind what they are, in place of it, and far too long."""
    other, facts = plain
    change = {"behind": lambda name, key, text: text + ALL, "instead": lambda name, key, text: ALL,
              "long": lambda name, key, text: text + LENGTHY}[how]
    file = str(tmp_path / "facts.json")
    with open(file, "w", encoding="utf-8") as out:
        json.dump(poisoned(facts, change), out)
    for name in list(FORMATS) + list(DIFFS):
        check_format(name, file, other)


# One for each way of escaping; the others are these or JSON.
SINKS = ("colour", "page", "provider", "prometheus", "nagios", "npd", "svg", "expect", "fix", "html")


def for_groups_of_strings(groups, try_one):
    """Calls TRY_ONE(group, its file's name) for each, in two threads; what it returns is wrong."""
    def one(number):
        said = try_one(groups[number], "%d.json" % number)
        return "%s: %s" % (" ".join("%s.%s" % hole for hole in groups[number]), said) if said else None
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        wrong = [said for said in pool.map(one, range(len(groups))) if said]
    assert not wrong, "\n".join(wrong)


def test_every_fact(plain, tmp_path):
    """A few kinds of strings at a time, so that what is wrong with the rest of the node is still found and shown."""
    other, facts = plain

    def try_one(group, name):
        file = str(tmp_path / name)
        with open(file, "w", encoding="utf-8") as out:
            json.dump(poisoned(facts, lambda name, key, text: text + ALL if (name, key) in group else text), out)
        try:
            for name in SINKS:
                check_format(name, file, other)
        except AssertionError as error:
            return str(error)[:600]
        os.unlink(file)
        return None
    for_groups_of_strings(dealt(20, strings()), try_one)


@pytest.mark.parametrize("text", ["", "x", "/", "-", "="])
def test_strings_without_separators(text, plain, tmp_path):
    """Where a path, an option or an address is expected: each rule and each repair ends by itself."""
    _, facts = plain

    def try_one(group, name):
        file = tmp_path / name
        file.write_text(json.dumps(poisoned(facts, lambda name, key, old: text if (name, key) in group else old)))
        ended = [run(*args, "--profile", "deepep,nccl-gin,p2p", "--from", file).status
                 for args in (["doctor"], ["fix", "--all"])]
        os.unlink(file)
        return None if set(ended) <= {0, 1, 2} else str(ended)
    for_groups_of_strings(dealt(20, strings()), try_one)


def test_a_probe_cannot_forge_a_finding(plain, tmp_path):
    """Nor be there twice, which would make node exporter refuse the whole file."""
    facts = json.loads(plain[1])
    for probe in facts["probes"][:3]:
        probe["name"] = 'x"} 1\nnvnodecheck_finding{rule="driver/FORGED",subject=""} 1\n#'
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(facts))
    result = run("doctor", "--format", "prometheus", "--from", file)
    check_prometheus(result.raw)
    assert 'finding{rule="driver/FORGED"' not in result.out


# ---- by other ways ----

def test_names_of_files(plain, tmp_path):
    """A fleet's files are named by whoever sent them."""
    folder = tmp_path / "fleet"
    folder.mkdir()
    for i, bad in enumerate(BAD.values()):
        name = ("%d" % i + bad.replace("/", "_").replace("\0", "_")).encode()[:200] + b"\xff.json"
        with open(os.path.join(os.fsencode(str(folder)), name), "w", encoding="utf-8") as file:
            file.write(plain[1])
    check_text(run("doctor", "--from", folder).raw)
    check_text(run("diff", folder).raw)
    check_html(run("diff", "--format", "html", folder).raw)
    check_lines(run("doctor", "--format", "jsonl", "--from", folder).raw)
    with open(os.path.join(os.fsencode(str(folder)), b"none\x1b[2J\nFORGED.json"), "wb") as file:
        file.write(b"{")
    check_text(run("doctor", "--from", folder).err.encode())


@pytest.mark.parametrize("args", [["--from", "\x1b[2Jno\nFORGED"], ["--root", "\x9bno\nFORGED"],
                                  ["\x1bverb\nFORGED"], ["--\u202eoption"], ["-\x1b"],
                                  ["doctor", "--only", "\x1b\nFORGED"], ["explain", "\x1b\nFORGED"],
                                  ["facts", "os.\x1b\nFORGED"]])
def test_messages(args):
    result = run(*args)
    assert result.status in (2, 4), str(result)
    assert result.err
    check_text(result.err.encode())


def test_files_of_a_tree(scratch):
    """Bytes of any kind where a node has text: names, values, the log, what a job's environment says."""
    bad = ALL.encode() + b"\xff\xfe\xc0\xaf"
    line = bad.replace(b"\n", b" ").replace(b"\r", b" ")
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    tree.file("/proc/sys/kernel/hostname", b"host" + bad + b"\n")
    tree.file("/etc/os-release", b'ID=ubuntu\nVERSION_ID="24.04"\nPRETTY_NAME="U' + line.replace(b'"', b"") + b'"\n')
    tree.file("/proc/self/environ", b"NCCL_SOCKET_IFNAME=" + bad.replace(b"\0", b"") + b"\0NCCL_IB_HCA=" + bad
              + b"\0NCCL_NET=" + bad + b"\0")
    tree.file("/etc/modprobe.d/nvidia" + "\x1b[2J\u202e.conf", b"options nvidia NVreg_RegistryDwords=\"" + line
              + b"\nnonsense " + line + b"\n")
    tree.file("/etc/nvnodecheck.conf", b"[rule pci/*]\nseverity = warn\nreason = " + line[:60] + b"\n")
    tree.file("/proc/cmdline", b"BOOT_IMAGE=/vmlinuz iommu=pt " + line + b"\n")
    tree.file("/var/log/dmesg", b"[    1.000000] NVRM: Xid (PCI:0000:19:00): 79, pid=1, name=" + line + b"\n")
    tree.file("/sys/class/dmi/id/product_name", b"Server" + bad + b"\n")
    tree.file("/proc/driver/nvidia/version", b"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  "
              b"Release Build  (" + line + b"@" + line + b")  now\n")
    scratch.put(tree)
    for name, (args, check) in {**FORMATS, **CAPTURES}.items():
        result = run(*args, "--root", scratch.directory)
        assert result.status in (0, 1, 2, 3), str(result)
        check_text(result.err.encode())
        if result.out:
            try:
                check(result.raw)
            except (AssertionError, ValueError) as error:
                raise AssertionError("%s: %s" % (name, error)) from error


# ---- what others made ----

def owned_pipe(folder, owner):
    """A pipe in a folder that everybody may write to, as in /tmp."""
    os.chmod(folder, 0o1777)
    pipe = os.path.join(folder, "pipe")
    os.mkfifo(pipe)
    os.chown(pipe, owner, owner)
    os.chmod(pipe, 0o666)
    return pipe


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be two users")
@pytest.mark.parametrize("args", [["capture"], ["facts"], ["rules"]], ids=" ".join)
def test_a_strangers_pipe(args, tmp_path):
    """Nobody reads it: root does not wait. Somebody does: he is not given what is the owner's alone."""
    pipe = owned_pipe(str(tmp_path), program.NOBODY)
    result = run(*args, "-o", pipe)
    assert result.status == 4 and "a pipe of another user" in result.err, str(result)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    result = run(*args, "-o", pipe)
    assert result.status == 4 and os.read(reader, 10) == b"", str(result)
    os.close(reader)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be two users")
@pytest.mark.parametrize("user", [False, True])
def test_ones_own_pipe(user, place):
    """It is waited for, and root's is as good."""
    folder = os.path.join(place, "pipe-%d" % user)
    os.mkdir(folder)
    pipe = owned_pipe(folder, 0)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE)
    try:
        result = run("rules", "-o", pipe, user=user)
        assert result.status == 0, str(result)
        assert reader.communicate(timeout=program.TIMEOUT_S)[0] == run("rules").raw
    finally:
        reader.kill()
        reader.wait()


KERNEL_LOG = "/proc/kmsg"  # reading it takes lines away from whoever keeps the log


def named_by_a_job(folder, way):
    """The environment of a job that leads root's doctor --pid to KERNEL_LOG."""
    link = os.path.join(folder, {"link": "conf", "home": ".nccl.conf", "behind": ".nccl.conf", "cuda": "version.json",
                                 "nvshmem": "include/non_abi/nvshmem_version.h"}.get(way, "none"))
    os.makedirs(os.path.dirname(link), exist_ok=True)
    os.symlink(KERNEL_LOG, link)
    os.lchown(link, program.NOBODY, program.NOBODY)
    return {"path": {"NCCL_CONF_FILE": KERNEL_LOG}, "magic": {"NCCL_CONF_FILE": "/proc/self/root" + KERNEL_LOG},
            "link": {"NCCL_CONF_FILE": link}, "home": {"HOME": folder}, "cuda": {"CUDA_HOME": folder},
            "behind": {"HOME": "/proc/self/root" + folder}, "nvshmem": {"NVSHMEM_HOME": folder}}[way]


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("strace"), reason="needs root and strace")
@pytest.mark.parametrize("way", ["path", "magic", "link", "home", "behind", "cuda", "nvshmem"])
def test_what_a_job_names_does_nothing(way, place, tmp_path):
    """It is opened only where that is reading and nothing more."""
    folder = os.path.join(place, "job-" + way)
    trace = tmp_path / "trace"
    job = subprocess.Popen(["sleep", "60"], env=named_by_a_job(folder, way))
    try:
        result = run("facts", "--pid", str(job.pid),
                     wrap=["strace", "-f", "-y", "-s", "300", "-o", str(trace), "-e", "trace=open,openat,openat2"])
        assert result.status == 0, str(result)
    finally:
        job.kill()
        job.wait()
    opened = [line for line in trace.read_text(errors="replace").splitlines()
              if "<%s>" % KERNEL_LOG in line.partition(" = ")[2] and "O_PATH" not in line]
    assert not opened, "\n".join(opened)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to be two users")
@pytest.mark.parametrize("owner", [0, program.NOBODY])
def test_a_users_link_is_not_followed(owner, place):
    """It could lead root to what its owner may not read. One of root's is followed."""
    folder = os.path.join(place, "link-%d" % owner)
    os.mkdir(folder)
    with open(os.path.join(folder, "secret"), "w") as file:
        file.write("NCCL_DEBUG=SECRET\n")
    os.chmod(file.name, 0o600)
    link = os.path.join(folder, "conf")
    os.symlink(file.name, link)
    os.lchown(link, owner, owner)
    job = subprocess.Popen(["sleep", "60"], env={"NCCL_CONF_FILE": link})
    try:
        result = run("facts", "--pid", str(job.pid))
    finally:
        job.kill()
        job.wait()
    assert ("SECRET" in result.out) == (owner == 0), str(result)
    assert owner == 0 or "one of a user that is not followed" in result.out


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("strace"), reason="needs root and strace")
def test_files_of_a_fleet(plain, place, tmp_path):
    """Strangers' files lie in one folder: what is none is named, and the others are evaluated."""
    folder, trace = os.path.join(place, "fleet"), tmp_path / "trace"
    os.mkdir(folder)
    shutil.copy(plain[0], os.path.join(folder, "good.json"))
    os.symlink(KERNEL_LOG, os.path.join(folder, "log.json"))
    os.mkfifo(os.path.join(folder, "pipe.json"))
    os.chown(os.path.join(folder, "pipe.json"), program.NOBODY, program.NOBODY)
    files = [os.path.join(folder, name) for name in ("log.json", "pipe.json", "good.json")]
    for args in (["doctor", "--from", folder], ["doctor", "--from", *files], ["diff", *files, files[-1]]):
        result = run(*args, wrap=["strace", "-f", "-y", "-s", "300", "-o", str(trace), "-e", "trace=open,openat"])
        assert result.status == 4 and "log.json: neither a regular file nor a pipe that you own" in result.err, str(result)
        assert args[0] == "diff" or re.search(r"^\w+ +1  good$", result.out, re.M)
        opened = [line for line in whole_lines(trace.read_text(errors="replace"))
                  if "<%s>" % KERNEL_LOG in line.partition(" = ")[2] and "O_PATH" not in line]
        assert not opened, "\n".join(opened)


def whole_lines(trace):
    """Lines of strace, with what another process's line came between put together."""
    begun = {}
    for line in trace.splitlines():
        pid, _, call = line.partition(" ")
        if call.endswith("<unfinished ...>"):
            begun[pid] = line
        else:
            yield (begun.pop(pid, "") if " resumed>" in call else "") + line


# ---- the journal ----

STANDIN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
int sd_journal_sendv(const struct iovec *fields, int n)
{
	FILE *out = fopen(getenv("STANDIN_JOURNAL"), "a");
	for (int i = 0; i < n; i++)
		fwrite(fields[i].iov_base, 1, fields[i].iov_len, out), fputc(0, out);
	return fclose(out);
}
"""


def test_journal(plain, tmp_path):
    """Fields are lines, and none is made of another's text."""
    source, library = tmp_path / "journal.c", tmp_path / "libsystemd.so.0"
    source.write_text(STANDIN)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    file, journal = tmp_path / "facts.json", tmp_path / "journal"
    file.write_text(json.dumps(poisoned(plain[1], lambda name, key, text: text + ALL)))
    result = run("doctor", "--journal", "--quiet", "--from", file,
                 env={"LD_LIBRARY_PATH": str(tmp_path), "STANDIN_JOURNAL": str(journal)})
    assert result.status in (0, 1), str(result)
    for field in journal.read_bytes().split(b"\0")[:-1]:
        assert b"\n" not in field
        check_shown(field)
        assert re.match(rb"(MESSAGE|MESSAGE_ID|PRIORITY|SYSLOG_IDENTIFIER|NVNODECHECK_[A-Z_]+)=", field)
    # An entry for each rule that text shows, and the last one is the run's.
    entries = journal.read_bytes().split(b"SYSLOG_IDENTIFIER=nvnodecheck\0")[1:]
    rules = [re.search(rb"(?:^|\0)NVNODECHECK_RULE=([^\0]*)", entry) for entry in entries]
    wrong = {f["rule"] for f in run("doctor", "--json", "--from", file).json()["findings"]
             if f["verdict"] in ("fail", "pending")}
    assert wrong and wrong <= {rule[1].decode() for rule in rules[:-1]}
    assert rules[-1] is None and b"NVNODECHECK_EXIT_STATUS=%d" % result.status in entries[-1]


# ---- one way out ----

def test_nothing_is_written_past_the_escapes():
    """A value is written by escape_printf(), page_printf() and their like alone: printf() has no %s but in the
    texts that are this program's own. What a capture keeps becomes strings of JSON, which json-c writes."""
    own = {"cli.c", "help.c", "complete.c", "rules-man.c", "main.c", "escape.c", "message.c", "text.c", "arena.c", "memory.c",
           "node-names.c"}	# into memory, which is escaped where it is printed
    wrong = []
    for folder, _, files in os.walk(os.path.join(program.TOP, "src")):
        for name in files:
            if not name.endswith(".c") or name in own or name == "redact.c" or name.startswith("keep-"):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            for call in re.finditer(r"(?<![a-z_])f?(printf|puts)\(((?:[^()]|\([^()]*\))*)\);", text):
                own_text = re.match(r'(\S+, )?("|\w+ \? "|page_(title|head|script|style)\b|style_sheet\b|to, stdout)',
                                    call[2])
                plural = re.search(r"plural\(|== 1", call[2])
                if not own_text or (re.search(r"%[-*.0-9]*s", call[2]) and not plural):
                    wrong.append("%s: %s" % (name, call[0][:100]))
    assert not wrong, "\n".join(wrong)


# ---- files that are too much ----

def too_much(folder):
    """Facts that take more than there is room for, though their text does not, as facts and as a capture."""
    facts = {"format": "nvnodecheck-facts", "format_version": [1, 0], "tool_version": "1"}
    with open(os.path.join(folder, "facts.json"), "w") as file:
        json.dump(dict(facts, pci={"devices": [{}] * 60000}), file)
    with open(os.path.join(folder, "strings.json"), "w") as file:
        json.dump(dict(facts, os={"hostname": "x" * (40 << 20)}), file)
    with open(os.path.join(folder, "node.capture"), "w") as file:
        file.write(json.dumps(dict(facts, format="nvnodecheck-capture")) + "\n")
        file.write(json.dumps({"read": "/proc/cmdline", "text": "a " * 520000}) + "\n")
        file.write(json.dumps({"read": "/proc/modules", "text": "a 1 0 - Live 0\n" * 69000}) + "\n")


@pytest.mark.parametrize("verb", [["doctor"], ["doctor", "--format", "jsonl"], ["diff"]], ids=" ".join)
def test_too_much_costs_its_file_alone(verb, plain, place):
    """It is named, and all others are evaluated, whichever worker has them."""
    folder = os.path.join(place, "much-" + "-".join(verb))
    os.mkdir(folder)
    too_much(folder)
    for i in range(12):
        shutil.copy(plain[0], os.path.join(folder, "good%d.json" % i))
    result = run(*verb, folder) if verb == ["diff"] else run(*verb, "--from", folder)
    assert result.status == 4, str(result)
    assert "facts.json: pci.devices: more than 32 MiB of facts" in result.err
    assert "strings.json: os.hostname: more than 32 MiB of facts" in result.err
    assert "node.capture: the process that read it ended early" in result.err
    if verb == ["diff"]:
        assert result.out.startswith("12 nodes, 0 facts differ; 3 files could not be read")
    elif len(verb) == 1:
        assert re.search(r"^\w+ +12  good\[0-11\]$", result.out, re.M), result.out
        assert " of 12 nodes " in result.out and "; 3 files could not be read" in result.out
    else:
        assert len(result.out.splitlines()) == 13
        assert json.loads(result.out.splitlines()[-1])["unreadable"] == 3
    shutil.rmtree(folder)


def test_a_line_is_cut_between_characters(scratch):
    """What is kept of a long line of the log, and what a finding shows of a line of configuration."""
    for shift in range(3):
        tree = node.copy_of(node.tree_of("hgx-h100-ib"))
        text = "x" * shift + "\u20ac" * 400
        tree.file("/var/log/dmesg", ("[    1.000000] NVRM: Xid (PCI:0000:19:00): 79, name=%s\n" % text).encode())
        tree.file("/etc/modprobe.d/nvidia-x.conf", ("nonsense %s\n" % text).encode())
        scratch.put(tree)
        for args in (["doctor", "--json"], ["doctor"], ["facts"]):
            result = run(*args, "--root", scratch.directory)
            assert "\ufffd" not in result.out and "\\xe2" not in result.out
            assert "\u20ac" in result.out


@pytest.mark.parametrize("name", ["workstation-nouveau", "broken-everything"])
@pytest.mark.parametrize("text", ["x", "", "/", "x/", "./../x"])
def test_paths_that_are_none(name, text, node_facts, tmp_path):
    """In a document of facts a path need not have a slash: a repair is refused or left out, and nothing crashes."""
    def change(_struct, _key, old):
        return text if old.startswith("/") else old
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(poisoned(node_facts(name), change)))
    for words in (["fix", "--all", "--from"], ["fix", "--all", "--json", "--from"], ["doctor", "-v", "--from"], ["topo", "--from"]):
        done = run(*words, str(file))
        assert 0 <= done.status <= 5, str(done)
