# SPDX-License-Identifier: GPL-2.0-or-later
"""What libkmod makes of the configuration of a tree, and the same of the facts."""

import json
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = ("blacklist", "install", "remove", "alias", "softdep")


def build(folder):
    """A program that asks libkmod, with a command line of our choice."""
    program = pathlib.Path(folder) / "kmod-oracle"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-o", program, HERE / "programs" / "kmod-oracle.c", "-lkmod", "-ldl"],
                   check=True)
    return program


def softdep_words(text):
    """The dependencies of a softdep line, as kmod prints them."""
    lists, now = {"pre": [], "post": []}, None
    # One blank more than needed after the name, and kmod takes it as part of the first word.
    text = re.sub(r"^\s(?=\S)", "?", text)
    for word in re.split(r"[ \t\n\v\f\r]+", text):
        if word in ("pre:", "post:"):
            now = word[:-1]
        elif now and word:
            lists[now].append(word)
    return "".join(f"{kind}: {' '.join(names)}" for kind, names in lists.items() if names)


class Kmod:
    """KERNEL: the release whose modules.softdep is read."""

    def __init__(self, program, root, kernel, modules=()):
        folders = [root / name for name in ("etc/modprobe.d", "run/modprobe.d",
                                            "usr/local/lib/modprobe.d", "usr/lib/modprobe.d")]
        result = subprocess.run(
            [program, root / "lib/modules" / kernel, root / "proc/cmdline",
             *[f for f in folders if f.exists()], "--", *modules],
            capture_output=True, check=True)
        self.lists = {kind: [] for kind in COMMANDS + ("options", "joined")}
        for line in result.stdout.decode().splitlines():
            item = json.loads(line)
            text = item.get("text")
            if (item["kind"], item["name"]) == ("blacklist", "") or (item["kind"], text) == ("options", ""):
                continue  # an empty word of the command line: kmod keeps it, and it does nothing
            self.lists[item["kind"]].append(
                (item["name"].encode("latin-1").decode(errors="replace"),
                 text and text.encode("latin-1").decode(errors="replace")))
        self.bad = [(m[1], int(m[2])) for m in
                    re.finditer(r"(\S+) line (\d+): ignoring bad line", result.stderr.decode(errors="replace"))]


def as_kmod(found):
    """The facts in the form of the oracle's lists."""
    lists = {kind: [(c["module"], c.get("text")) for c in found[kind]]
             for kind in COMMANDS + ("options",)}
    lists["alias"] = [(name, module) for module, name in lists["alias"]]
    lists["softdep"] = [(module, softdep_words(text)) for module, text in lists["softdep"]]
    lists["blacklist"] = [(c["module"], None) for c in found["blacklist"]
                          if c["text"] in (None, "modprobe.blacklist")]
    return lists


def joined(found, module):
    return " ".join(o["text"] for o in found["options"] if o["module"] == module) or None


def compared(program, root, kernel, found):
    """(name, what FOUND, the section modprobe of the facts of ROOT, has, what libkmod has)"""
    modules = sorted({o["module"] for o in found["options"]
                      if re.fullmatch(r"[a-z0-9_]+", o["module"])})
    kmod = Kmod(program, root, kernel, modules)
    ours = as_kmod(found)
    for kind in COMMANDS + ("options",):
        yield kind, ours[kind], kmod.lists[kind]
    for module, text in kmod.lists["joined"]:
        yield "options of " + module, joined(found, module), text
    ours_bad = [(str(root) + b["file"].replace("/lib/", "/usr/lib/", b["file"].startswith("/lib/")),
                 b["line"]) for b in found["bad_lines"]
                if b["line"] and b["why"] != "this command is no longer read"]
    # kmod 34 and later know weakdep.
    yield "bad lines", *([b for b in bad if not is_weakdep(*b)] for bad in (ours_bad, kmod.bad))


def is_weakdep(path, number):
    """NUMBER is that of the last of the lines that backslashes join. kmod drops backslashes."""
    text = b"\n".join(pathlib.Path(path).read_bytes().split(b"\n")[:number])
    line = re.sub(rb"\\(.)", lambda m: m[1].replace(b"\n", b""), text, flags=re.S).split(b"\n")[-1]
    return line.split()[:1] == [b"weakdep"]
