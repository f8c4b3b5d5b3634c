# SPDX-License-Identifier: GPL-2.0-or-later
"""modprobe.d and the kernel command line: the facts against libkmod and modprobe themselves."""

import pathlib
import shutil
import subprocess

import pytest

from lib import kmod
from lib.rootfs import KERNEL, facts, link, new_tree, write

@pytest.fixture(scope="session")
def oracle(tmp_path_factory):
    """A program that asks libkmod, with a command line of our choice."""
    return kmod.build(tmp_path_factory.mktemp("oracle"))


def assert_same(program, root):
    found = facts(root, "modprobe")
    for name, ours, theirs in kmod.compared(program, root, KERNEL, found):
        assert ours == theirs, name
    return found


CORPUS = {
    "plain": "options nvidia NVreg_EnableStreamMemOPs=1\nblacklist nouveau\n",
    "every command": "alias a-b c-d\nblacklist x-y\ninstall i-j /bin/true --a-b\n"
                     "remove r-s /bin/true\nsoftdep s-t pre: p-q r post: u-v\noptions o-p a-b=c-d\n"
                     "weakdep w-x y\n",
    "comments": "# options a b=1\n # options a b=2\n\t#x\noptions a b=3 # not one\n#\n  \n\t\n",
    "joined": "options nvidia \\\n  A=1 \\\n\tB=2\n# swallows \\\noptions nvidia C=3\noptions nvidia D=4\n",
    "joined in a word": "opti\\\nons nvi\\\ndia A\\\n=1 B=2\\\n\\\n C=3\n",
    "backslashes": "options a b=\\\"x\\\" c=\\\\ d=\\e\\ f\n",
    "backslash at the end": "options a b=1\\\n",
    "tabs": "options\ta\tb=1\tc=\"x\ty\"\ninstall\tq\tcmd\tx\nalias\tm\tn\tthird\n",
    "leading blanks": "   options   a   b=1\n\t \tblacklist\t \tq\n",
    "byte order mark": "\ufeffoptions a b=1\noptions a c=2\n",
    "carriage returns": "options a b=1\r\nblacklist nouveau\r\n\r\noptions a c=2\r\n",
    "no final newline": "options a b=1",
    "nothing to set": "options nvidia\noptions nvidia \noptions nvidia  \noptions\ninstall x\n"
                      "remove x\nsoftdep x\nblacklist\nalias\nalias x\n",
    "unknown commands": "Options a b=1\noption a b=1\ninclude x\nconfig y\n404 page not found\n",
    "unclosed quote": "options a A=\"x; B=2\noptions a C=3\noptions b D=4\n",
    "brackets": "alias pci:v[0-9]-x m-[a-b]-c\nalias x[ y\nalias x] y\nblacklist a[b\n"
                "options a[b-c]-d e=1\n",
    "trailing words": "blacklist a b c\nalias a b c\n",
    "nul bytes": b"options a b=1\0 c=2\noptions a d=3\n\0options a e=4\n",
    "not UTF-8": "options a b=\u00e9\u4e2d\nblacklist \u00e9\n",
    "two of one": "options nvidia NVreg_RegistryDwords=\"A=1\"\noptions nvidia NVreg_RegistryDwords=\"B=1\"\n",
    "extension": "options nvidia.ko A=1\noptions nvidia A=2\n",
    "only blanks in options": "options a     \noptions a b=1\n",
    "empty": "",
    "newlines": "\n\n\n",
    "long line": "options a " + " ".join(f"p{i}=v{i}" for i in range(3000)) + "\n",
    "softdep": "softdep a pre: b c post: d\nsoftdep a post: e pre: f\nsoftdep b  \t pre:\tc  d \n"
               "softdep c nothing\nsoftdep d  pre: lost post: found\n",
}


@pytest.mark.parametrize("name", CORPUS)
def test_lines_as_kmod(oracle, tmp_path, name):
    root = new_tree(tmp_path)
    write(root / "etc/modprobe.d/x.conf", CORPUS[name])
    assert_same(oracle, root)


def test_all_lines_together_as_kmod(oracle, tmp_path):
    """An unclosed quote, a comment without end and so on must not reach into the next file."""
    root = new_tree(tmp_path, cmdline="a.b=9 nvidia.NVreg_X=1")
    folders = ["etc/modprobe.d", "run/modprobe.d", "usr/local/lib/modprobe.d", "usr/lib/modprobe.d"]
    for i, (name, text) in enumerate(CORPUS.items()):
        write(root / folders[i % 4] / f"{i % 7}-{name.replace(' ', '-')}.conf", text)
    assert_same(oracle, root)


CMDLINES = [
    "nvidia.NVreg_EnableStreamMemOPs=1",
    "root=/dev/sda1 ro quiet nvidia-drm.modeset=1 nvidia_drm.fbdev=0 --",
    'a.b="x y" c.d=1',
    '"a.b=x y" c.d=1',
    '"a.b=x" "c.d=y z"',
    'a.b.c=1 d.e=f.g rd.driver.blacklist=nouveau',
    'a=b.c d.e',
    '"a b.c=1" d.e=1',
    'a."b=1" d.e=1',
    'a.b="unclosed c.d=1',
    '"a.b=unclosed c.d=1',
    '"a.b" c.d=1',
    "modprobe.blacklist=nouveau,nvidia-drm,,x modprobe.blacklist=y",
    "modprobe.blacklist= a.b=",
    '"modprobe.blacklist=a,b" c.d=1',
    "a.b=1\tc.d=2\vd.e=3\fe.f=4\rf.g=5",
    "a. .b=1 . .. =.x a=.b",
    "a[0-9]-b.c=1 a[.b=1 a-b.c-d=e-f",
    'a.b=c"d e"f g.h="',
    "x" * 4090 + " a.b=1",
    "x.y=1 " * 1000,
]


@pytest.mark.parametrize("cmdline", CMDLINES, ids=range(len(CMDLINES)))
def test_command_line_as_kmod(oracle, tmp_path, cmdline):
    root = new_tree(tmp_path, cmdline=cmdline)
    write(root / "etc/modprobe.d/x.conf", "options a b=0\noptions c d=0\n")
    found = assert_same(oracle, root)
    for option in found["options"][2:]:
        assert option["file"] == "/proc/cmdline" and option["line"] is None


def test_against_modprobe_itself(tmp_path):
    """modprobe -c with the folders in kmod's order, and this host's command line in the tree."""
    modprobe = shutil.which("modprobe", path="/usr/sbin:/sbin:/usr/bin:/bin")
    assert modprobe, "modprobe is not installed"
    host_cmdline = pathlib.Path("/proc/cmdline").read_text()
    root = new_tree(tmp_path, cmdline=host_cmdline.rstrip("\n"))
    files = {
        "etc/modprobe.d/b.conf": "options b from=etc\noptions nvidia P=etc\nblacklist n-x\n",
        "run/modprobe.d/b.conf": "options b from=run\n",
        "run/modprobe.d/10-a.conf": "options nvidia P=run\n",
        "usr/local/lib/modprobe.d/zz.conf": "options nvidia P=local\n",
        "usr/lib/modprobe.d/b.conf": "options b from=usr\n",
        "usr/lib/modprobe.d/A.conf": "options nvidia P=usr\nalias q-w e-r\n",
        "usr/lib/modprobe.d/a.txt": "options nvidia P=never\n",
        "usr/lib/modprobe.d/.a.conf": "options nvidia P=never\n",
    }
    for path, text in files.items():
        write(root / path, text)
    args = [modprobe, "-c", "-d", root, "-S", KERNEL]
    for folder in ("etc", "run", "usr/local/lib", "usr/lib"):
        args += ["-C", root / folder / "modprobe.d"]
    text = subprocess.run(args, capture_output=True, check=True, text=True).stdout
    text = text.split("# End of configuration files")[0]
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]

    found = facts(root, "modprobe")
    ours = [f"blacklist {c['module']}" for c in found["blacklist"]
            if c["text"] in (None, "modprobe.blacklist")]
    ours += [f"alias {c['text']} {c['module']}" for c in found["alias"]]
    ours += [f"options {o['module']} {o['text']}".rstrip() for o in found["options"]]
    assert sorted(ours) == sorted(lines)
    assert [line for line in ours if "P=" in line] == [line for line in lines if "P=" in line]


def effective(found, module, param):
    values = [a for a in found["assignments"]
              if (a["module"], a["param"]) == (module, param) and a["effective"]]
    assert len(values) <= 1
    return values[0] if values else None


def test_order_and_masking(oracle, tmp_path):
    root = new_tree(tmp_path)
    write(root / "etc/modprobe.d/zz.conf", "options m p=etc-zz\n")
    write(root / "usr/lib/modprobe.d/zzz.conf", "options m p=usr-zzz\n")
    write(root / "run/modprobe.d/10-.conf", "options m p=run-10\n")
    write(root / "usr/local/lib/modprobe.d/A.conf", "options m p=local-A\n")
    write(root / "usr/lib/modprobe.d/zz.conf", "options m p=usr-zz\nblacklist masked\n")
    write(root / "run/modprobe.d/zz.conf", "options m p=run-zz\n")
    write(root / "usr/lib/modprobe.d/empty.conf", "options m p=masked-by-empty\n")
    write(root / "etc/modprobe.d/empty.conf", "")
    write(root / "usr/lib/modprobe.d/null.conf", "options m p=masked-by-null\n")
    link(root / "etc/modprobe.d/null.conf", "/dev/null")
    found = facts(root, "modprobe")
    order = [(f["path"], f["masked_by"]) for f in found["files"]]
    assert order == [
        ("/run/modprobe.d/10-.conf", None),
        ("/usr/local/lib/modprobe.d/A.conf", None),
        ("/etc/modprobe.d/empty.conf", None),
        ("/usr/lib/modprobe.d/empty.conf", "/etc/modprobe.d/empty.conf"),
        ("/etc/modprobe.d/null.conf", None),
        ("/usr/lib/modprobe.d/null.conf", "/etc/modprobe.d/null.conf"),
        ("/etc/modprobe.d/zz.conf", None),
        ("/run/modprobe.d/zz.conf", "/etc/modprobe.d/zz.conf"),
        ("/usr/lib/modprobe.d/zz.conf", "/etc/modprobe.d/zz.conf"),
        ("/usr/lib/modprobe.d/zzz.conf", None),
    ]
    assert effective(found, "m", "p")["value"] == "usr-zzz"
    assert found["blacklist"] == []
    assert kmod.joined(found, "m") == "p=run-10 p=local-A p=etc-zz p=usr-zzz"
    # libkmod opens the link itself: this host's /dev/null serves as well as the tree's.
    assert_same(oracle, root)


def test_chain_of_links_to_null(tmp_path):
    root = new_tree(tmp_path)
    link(root / "etc/modprobe.d/x.conf", "../alternatives/x")
    link(root / "etc/alternatives/x", "../../../../dev/../dev/null")
    write(root / "usr/lib/modprobe.d/x.conf", "options m p=1\n")
    found = facts(root, "modprobe")
    assert found["options"] == [] and found["bad_lines"] == []
    assert found["files"][1]["masked_by"] == "/etc/modprobe.d/x.conf"


def test_alternatives_link(tmp_path):
    """Debian: /etc/modprobe.d/nvidia.conf leads through /etc/alternatives, absolute links inside
    the root."""
    root = new_tree(tmp_path)
    link(root / "etc/modprobe.d/nvidia.conf", "/etc/alternatives/glx--nvidia-modprobe.conf")
    link(root / "etc/alternatives/glx--nvidia-modprobe.conf", "/etc/nvidia/current/nvidia.conf")
    write(root / "etc/nvidia/current/nvidia.conf",
          "install nvidia modprobe -i nvidia-current $CMDLINE_OPTS\noptions nvidia-current A=1\n")
    found = facts(root, "modprobe")
    assert found["install"] == [{"module": "nvidia", "text": "modprobe -i nvidia-current $CMDLINE_OPTS",
                                 "file": "/etc/modprobe.d/nvidia.conf", "line": 1}]
    assert effective(found, "nvidia_current", "A")["value"] == "1"
    assert effective(found, "nvidia", "A") is None


@pytest.mark.parametrize("layout", ["lib to usr/lib", "lib/modprobe.d to usr/lib", "usr/lib to lib",
                                    "two folders"])
def test_merged_usr(tmp_path, layout):
    root = new_tree(tmp_path)
    if layout != "lib to usr/lib":
        (root / "lib").unlink()
    if layout == "lib/modprobe.d to usr/lib":
        link(root / "lib/modprobe.d", "../usr/lib/modprobe.d")
    elif layout == "usr/lib to lib":
        (root / "usr/lib/modprobe.d").rmdir()
        link(root / "usr/lib/modprobe.d", "/lib/modprobe.d")
    write(root / "lib/modprobe.d/a.conf", "options m p=1\n")
    (root / "lib/modules" / KERNEL).mkdir(parents=True, exist_ok=True)
    if layout == "two folders":
        write(root / "usr/lib/modprobe.d/a.conf", "options m p=2\n")
    found = facts(root, "modprobe")
    if layout == "two folders":
        assert [(f["path"], f["masked_by"]) for f in found["files"]] == [
            ("/usr/lib/modprobe.d/a.conf", None),
            ("/lib/modprobe.d/a.conf", "/usr/lib/modprobe.d/a.conf")]
    else:
        assert [f["masked_by"] for f in found["files"]] == [None]
    assert len(found["options"]) == 1


def test_what_is_not_read(tmp_path):
    root = new_tree(tmp_path)
    link(root / "etc/modprobe.d/dangling.conf", "/nowhere/x.conf")
    write(root / "usr/lib/modprobe.d/dangling.conf", "options m p=1\n")
    (root / "etc/modprobe.d/folder.conf").mkdir()
    write(root / "etc/modprobe.d/nvidia.cfg", "options m p=2\n")
    write(root / "etc/modprobe.d/.hidden.conf", "options m p=3\n")
    write(root / "etc/modprobe.d/.conf", "options m p=4\n")
    found = facts(root, "modprobe")
    assert effective(found, "m", "p")["value"] == "1"
    assert sorted((b["file"], b["line"]) for b in found["bad_lines"]) == [
        ("/etc/modprobe.d/dangling.conf", None), ("/etc/modprobe.d/folder.conf", None),
        ("/etc/modprobe.d/nvidia.cfg", None)]


def test_softdep_stands_in_the_order_of_names(oracle, tmp_path):
    root = new_tree(tmp_path)
    write(root / "lib/modules" / KERNEL / "modules.softdep",
          "# Soft dependencies extracted from modules themselves.\nsoftdep nvidia post: nvidia-uvm\n")
    write(root / "usr/lib/modprobe.d/nvidia.conf", "softdep nvidia post: late\n")
    write(root / "usr/lib/modprobe.d/50-nvidia.conf", "softdep nvidia post: early\n")
    found = assert_same(oracle, root)
    assert [s["text"] for s in found["softdep"]] == ["post: early", "post: nvidia-uvm", "post: late"]


# fix-layer table: what is written, and what the kernel sees: parameter, value (None: no value).
QUOTES = [
    ('NVreg_RegistryDwords="PeerMappingOverride=1;" NVreg_X=1',
     [("NVreg_RegistryDwords", "PeerMappingOverride=1;"), ("NVreg_X", "1")]),
    ("NVreg_RegistryDwords=A=1;B=2 NVreg_X=1", [("NVreg_RegistryDwords", "A=1;B=2"), ("NVreg_X", "1")]),
    ("NVreg_RegistryDwords=A=1; B=2;", [("NVreg_RegistryDwords", "A=1;"), ("B", "2;")]),
    ("NVreg_RegistryDwords='A=1;'", [("NVreg_RegistryDwords", "'A=1;'")]),
    ('NVreg_RegistryDwords="A=1; NVreg_Y=1 z', [("NVreg_RegistryDwords", "A=1; NVreg_Y=1 z")]),
    ('"NVreg_RegistryDwords=A=1; B=2;"', [("NVreg_RegistryDwords", "A=1; B=2;")]),
    ("NVreg_X = 1", [("NVreg_X", None), ("=", None), ("1", None)]),
    ("NVreg-X-Y=1", [("NVreg_X_Y", "1")]),
    ("a= b", [("a", ""), ("b", None)]),
    ('a="" b', [("a", ""), ("b", None)]),
    ('a=b"c d"e f', [("a", 'b"c d"e'), ("f", None)]),
    ('a="b"c d', [("a", 'b"c'), ("d", None)]),
    ('a="', [("a", "")]),
    ('"', [("", None)]),
    ('"a b"', [("a b", None)]),
    ('=x y', [("=x", None), ("y", None)]),
    ('==x', [("=", "x")]),
    ("a=1 # b=2", [("a", "1"), ("#", None), ("b", "2")]),
    ("a=1 -- b=2", [("a", "1")]),
    ("a=1\rb=2\vc=3\fd", [("a", "1"), ("b", "2"), ("c", "3"), ("d", None)]),
    ('"a="b"', [("a", "b")]),
]


@pytest.mark.parametrize("text,expected", QUOTES)
def test_quotes_as_the_kernel(tmp_path, text, expected):
    root = new_tree(tmp_path)
    write(root / "etc/modprobe.d/x.conf", f"options m {text}\n")
    found = facts(root, "modprobe")
    assert [(a["param"], a["value"]) for a in found["assignments"]] == expected


def test_unclosed_quote_swallows_later_files_of_its_module(tmp_path):
    root = new_tree(tmp_path, cmdline="nvidia.NVreg_Z=1")
    write(root / "etc/modprobe.d/a.conf", 'options nvidia A=1\noptions nvidia NVreg_R="x; B=2\n')
    write(root / "etc/modprobe.d/b.conf", "options nvidia C=3\noptions other D=4\n")
    found = facts(root, "modprobe")
    assert [(a["module"], a["param"], a["value"], a["file"], a["line"])
            for a in found["assignments"]] == [
        ("nvidia", "A", "1", "/etc/modprobe.d/a.conf", 1),
        ("nvidia", "NVreg_R", "x; B=2 C=3 NVreg_Z=1", "/etc/modprobe.d/a.conf", 2),
        ("other", "D", "4", "/etc/modprobe.d/b.conf", 2)]


def test_lines_of_assignments_in_joined_lines(tmp_path):
    root = new_tree(tmp_path)
    write(root / "etc/modprobe.d/x.conf",
          "# one\noptions nvidia A=1 \\\n  B=\\\n2 C=3 \\\n\\\n D=4\noptions nvidia A=5\n"
          "opti\\\nons x \\\n E=6\n")
    found = facts(root, "modprobe")
    assert [(a["param"], a["value"], a["line"], a["effective"]) for a in found["assignments"]] == [
        ("A", "1", 2, False), ("B", "2", 3, True), ("C", "3", 4, True), ("D", "4", 6, True),
        ("A", "5", 7, True), ("E", "6", 10, True)]
    assert [o["line"] for o in found["options"]] == [2, 7, 8]


def test_last_one_wins_over_spellings_and_files(tmp_path):
    root = new_tree(tmp_path, cmdline="nvidia-x.a_b=cmdline")
    write(root / "etc/modprobe.d/a.conf", "options nvidia-x a-b=1\noptions nvidia_x a_b=2 A_b=3\n")
    found = facts(root, "modprobe")
    assert effective(found, "nvidia_x", "a_b") == {
        "module": "nvidia_x", "param": "a_b", "value": "cmdline", "effective": True,
        "file": "/proc/cmdline", "line": None}
    assert effective(found, "nvidia_x", "A_b")["value"] == "3"


def test_words_that_block_modules(tmp_path):
    root = new_tree(tmp_path, cmdline="module_blacklist=a,b modprobe.blacklist=c,d-e "
                                      "rd.driver.blacklist=f-g,h rd.driver.blacklist=i "
                                      "module_blacklist=nouveau,x-y -- module_blacklist=init")
    write(root / "etc/modprobe.d/x.conf", "blacklist j-k\n")
    found = facts(root, "modprobe")
    assert [(c["module"], c["text"], c["file"]) for c in found["blacklist"]] == [
        ("j_k", None, "/etc/modprobe.d/x.conf"),
        ("f_g", "rd.driver.blacklist", "/proc/cmdline"),
        ("h", "rd.driver.blacklist", "/proc/cmdline"),
        ("i", "rd.driver.blacklist", "/proc/cmdline"),
        ("nouveau", "module_blacklist", "/proc/cmdline"),
        ("x-y", "module_blacklist", "/proc/cmdline"),
        ("c", "modprobe.blacklist", "/proc/cmdline"),
        ("d-e", "modprobe.blacklist", "/proc/cmdline")]


def test_bad_lines_say_why(tmp_path):
    root = new_tree(tmp_path)
    write(root / "etc/modprobe.d/x.conf",
          "\ufeffoptions a b=1\n #c\nOptions a b=1\ninclude x\noptions nvidia\nblacklist\n"
          "blacklist a]b\nfoo\\\nbar\n")
    found = facts(root, "modprobe")
    assert [(b["line"], b["why"]) for b in found["bad_lines"]] == [
        (1, "begins with a byte order mark"),
        (2, "a comment must begin in the first column"),
        (3, "commands are in lower case"),
        (4, "this command is no longer read"),
        (5, "nothing after the module's name"),
        (6, "no module named"),
        (7, "a bracket in the name has no partner"),
        (9, "not a command of modprobe.d")]


def test_what_could_not_be_read_is_unknown(tmp_path):
    """A file over the limit counts, but what it says is not known: what is seen is not all."""
    root = new_tree(tmp_path)
    write(root / "etc/modprobe.d/a.conf", "options m p=1\n")
    write(root / "etc/modprobe.d/b.conf", "#" * 5_000_000)
    found = facts(root)
    assert [f["path"] for f in found["modprobe"]["files"]] == [
        "/etc/modprobe.d/a.conf", "/etc/modprobe.d/b.conf"]
    assert found["modprobe"]["complete"] is False
    assert [a["param"] for a in found["modprobe"]["assignments"]] == ["p"]
    assert [g["path"] for g in found["gaps"] if g["probe"] == "modprobe"] == ["/etc/modprobe.d/b.conf"]


def test_a_tree_without_usr_is_not_complete(tmp_path):
    write(tmp_path / "etc/modprobe.d/a.conf", "options m p=1\n")
    found = facts(tmp_path)
    assert found["modprobe"]["complete"] is False
    assert "/usr" in [g["path"] for g in found["gaps"]]


def test_run_may_be_missing(tmp_path):
    root = new_tree(tmp_path)
    shutil.rmtree(root / "run")
    write(root / "etc/modprobe.d/a.conf", "options m p=1\n")
    assert effective(facts(root, "modprobe"), "m", "p")["value"] == "1"


def test_no_files_at_all(tmp_path):
    found = facts(new_tree(tmp_path), "modprobe")
    assert found.pop("complete") is True and found.pop("etc_complete") is True
    assert all(value == [] for value in found.values()) and len(found) == 9


def test_what_a_masked_file_would_have_said(tmp_path):
    """A site's nvidia.conf in front of NVIDIA's."""
    root = new_tree(tmp_path)
    write(root / "usr/lib/modprobe.d/nvidia.conf",
          "# vendor\nblacklist nouveau\nalias nouveau off\nsoftdep nvidia \\\n post: nvidia-uvm\n"
          "options nvidia  NVreg_A=1\noptions snd index=1\nalias char-major-195* nvidia\n"
          "  options nvidia-drm modeset=1 \n")
    write(root / "etc/modprobe.d/nvidia.conf", "options  nvidia NVreg_A=1\noptions nvidia NVreg_B=1\n")
    write(root / "usr/lib/modprobe.d/other.conf", "blacklist nouveau\n")
    write(root / "usr/lib/modprobe.d/null.conf", "blacklist nouveau\n")
    link(root / "etc/modprobe.d/null.conf", "/dev/null")
    write(root / "usr/lib/modprobe.d/same.conf", "blacklist nouveau\n")
    write(root / "etc/modprobe.d/same.conf", "blacklist nouveau\n")
    assert {f["path"]: f["lost"] for f in facts(root, "modprobe.files")} == {
        "/etc/modprobe.d/nvidia.conf": None,
        "/usr/lib/modprobe.d/nvidia.conf": [
            "blacklist nouveau", "alias nouveau off", "softdep nvidia  post: nvidia-uvm",
            "alias char-major-195* nvidia", "options nvidia-drm modeset=1"],
        "/etc/modprobe.d/null.conf": None, "/usr/lib/modprobe.d/null.conf": ["blacklist nouveau"],
        "/usr/lib/modprobe.d/other.conf": None,
        "/etc/modprobe.d/same.conf": None, "/usr/lib/modprobe.d/same.conf": []}


def test_masked_file_that_could_not_be_read(tmp_path):
    """It does not count, so everything else is known; what it would have said is not."""
    root = new_tree(tmp_path)
    write(root / "usr/lib/modprobe.d/a.conf", "#" * 5_000_000)
    write(root / "etc/modprobe.d/a.conf", "options nvidia A=1\n")
    found = facts(root, "modprobe")
    assert effective(found, "nvidia", "A")["value"] == "1"
    assert found["files"][0]["lost"] is None and "lost" not in found["files"][1]
