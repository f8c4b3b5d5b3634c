# SPDX-License-Identifier: GPL-2.0-or-later
"""What all oracles share: an input, what the program reads of it, what the owner of the format reads of
it, and the fields in which the two differ."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
PROGRAM = os.path.abspath(os.environ.get("NVNODECHECK", TOP / "build" / "nvnodecheck"))
SOURCES = pathlib.Path(os.environ.get("ORACLE_SOURCES", TOP / "build-sources"))
sys.path.insert(0, str(HERE.parent))	# for what the tests have in lib
UNKNOWN = "unknown"	# what the program does not say never differs, and is counted


class Skip(Exception):
    """The oracle cannot run here; the text says why."""


class Failed(Exception):
    """The program, or the oracle, ended with an error."""


class Difference:
    def __init__(self, field, ours, theirs):
        self.field, self.ours, self.theirs = field, ours, theirs

    def __str__(self):
        return "%s: here %r, there %r" % (self.field, self.ours, self.theirs)


class Result:
    """What came of one input."""

    def __init__(self):
        self.fields = 0
        self.unknown = 0
        self.differences = []

    def field(self, name, ours, theirs):
        self.fields += 1
        if ours is UNKNOWN:
            self.unknown += 1
        elif ours != theirs:
            self.differences.append(Difference(name, ours, theirs))


class Oracle:
    """name; material(): inputs that lie somewhere; random(rng): one more; compare(input): a Result."""
    name = None
    programs = ()	# that must be there

    def __init__(self, place):
        self.place = pathlib.Path(place)
        for program in self.programs:
            if not shutil.which(program):
                raise Skip("no " + program)
        self.prepare()

    def prepare(self):
        pass

    def material(self):
        return ()

    def random(self, rng):
        return None

    def compare(self, item):
        raise NotImplementedError

    def smaller(self, item, still_bad):
        """The least part of ITEM that is STILL_BAD."""
        if not isinstance(item, str):
            return item
        return "".join(shrunk(item.splitlines(True), lambda parts: still_bad("".join(parts))))

    def show(self, item):
        return item if isinstance(item, str) else repr(item)


def shrunk(parts, still_bad):
    """Leaves out as many of PARTS, large pieces first, as STILL_BAD allows."""
    size = max(1, len(parts) // 2)
    while True:
        at, before = 0, len(parts)
        while at < len(parts):
            less = parts[:at] + parts[at + size:]
            if less and still_bad(less):
                parts = less
            else:
                at += 1 if size < 8 else size // 2
        if size == 1 and len(parts) == before:
            return parts
        size = max(1, size // 2)


def run(*command, text=None, timeout=60, **more):
    return subprocess.run([str(word) for word in command], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=timeout, check=False, **more)


def facts(root, *parts):
    """Sections of the facts of a tree, or all; what is unknown is not in them."""
    found = {}
    process = run(PROGRAM, "--root", root, "facts")
    if process.returncode not in (0, 3):
        raise Failed("facts ended with %d: %s" % (process.returncode, process.stderr.decode()))
    document = json.loads(process.stdout)
    for part in parts:
        found[part] = document.get(part, {})
    return document if not parts else found if len(parts) != 1 else found[parts[0]]


def write(path, content, mode=None):
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
    if mode is not None:
        path.chmod(mode)


def empty_folder(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def known_differences():
    """(oracle, pattern, reason): differences that have one."""
    rows = []
    with open(HERE / "known-differences.tsv", encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, pattern, reason = line.rstrip("\n").split("\t")
                rows.append((name, re.compile(pattern, re.DOTALL), reason))
    return rows


def files_of(item):
    """[(path, text)] of an input in which each file follows a line "==> PATH"."""
    parts = re.split(r"^==> (.*)\n", item, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def as_item(files):
    return "".join("==> %s\n%s%s" % (path, text, "" if text.endswith("\n") or not text else "\n")
                   for path, text in files)


def read_text(path):
    return pathlib.Path(path).read_bytes().decode("utf-8", "surrogateescape")


def source(name):
    """The unpacked source package of that name."""
    path = SOURCES / name
    if not path.is_dir():
        raise Skip("no %s: tests/oracles/get-material" % path)
    return path


def unpacked(archive, folder):
    """The folder at the top of an archive, below FOLDER."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as tar:
        tops = {name.lstrip("./").split("/")[0] for name in tar.getnames()} - {""}
    run("tar", "-xf", archive, "--no-same-owner", "--no-same-permissions", "-C", folder)
    run("chmod", "-R", "u+rwX", folder)
    return folder / tops.pop() if len(tops) == 1 else folder


def new_place():
    above = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return pathlib.Path(tempfile.mkdtemp(prefix="nvnodecheck-oracle-", dir=above))
