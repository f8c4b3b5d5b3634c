# SPDX-License-Identifier: GPL-2.0-or-later
"""What a redacted capture has of each line: golden/redaction.txt. The lines are those of the nodes, those with secrets of
test_privacy.py, and those of redaction.lines. NVNODECHECK_UPDATE=1 writes the golden file anew; look at the difference
before it is committed."""
import base64
import difflib
import json
import os
import re

import pytest

import test_privacy
from lib import golden, node, program

LINES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "redaction.lines")
FIRST = "broken-everything"

# A stand-in differs from capture to capture, and is the same in one. Of an address the maker's half is kept.
STAND_IN = re.compile(r"(?P<word>redacted[-_])[0-9a-f]{8}|"
                      r"(?P<uuid>)[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|"
                      r"(?<![0-9a-zA-Z])(?P<id>)[0-9a-fA-F]{32}(?![0-9a-zA-Z])|"
                      r"(?P<maker>(?:[0-9a-f]{2}[-:])+)[0-9a-f]{2}[-:][0-9a-f]{2}[-:][0-9a-f]{2}(?![-:0-9a-f])|"
                      r"(?P<guid>(?:[0-9a-f]{0,4}:)+[0-9a-f]{2})[0-9a-f]{2}:[0-9a-f]{1,4}(?![:0-9a-f])|"
                      r"(?P<name>(?:enx|wlx)[0-9a-f]{6})[0-9a-f]{6}|"
                      r"(?P<inet6>fe80000000000000[0-9a-f]{10})[0-9a-f]{6}|"
                      r"(?<![0-9a-zA-Z])(?P<user>)[1-5][0-9]{4}(?![0-9a-zA-Z])")


def added():
    """[(node, path, lines)]"""
    found, name, path = [], FIRST, None
    with open(LINES, encoding="utf-8") as file:
        for line in file:
            if line.startswith("=== "):
                name, path = line[4:-1], None
            elif line.startswith("==> "):
                path = line[4:-1]
                found.append([name, path, ""])
            elif path:
                found[-1][2] += line
    return found


def put_lines(tree, name):
    paths = []
    for where, path, lines in added():
        if where != name:
            continue
        before, paths = tree.read(path) or b"", paths + [path]
        data = re.sub(rb"\\x([0-9a-f]{2})|\\0", lambda m: bytes([int(m[1] or b"0", 16)]), lines.encode())
        if data.startswith(b"\\ "):
            before, data = before.rstrip(b"\n"), data[1:].replace(b"\n", b" ") + b"\n"
        tree.file(path, before + data)
    return paths


def numbered(text, seen):
    """TEXT with a number for each stand-in, the same for the same one."""
    def number(match):
        kept = match[match.lastgroup] or match.lastgroup + "-"
        return "%s<%d>" % (kept, seen.setdefault((match.lastgroup, match[0]), len(seen) + 1))
    return STAND_IN.sub(number, text)


def shown(record):
    """RECORD with its bytes as text, and without what the hour makes."""
    if "base64" in record:
        data = base64.b64decode(record["base64"])
        return dict(record, base64=data[:4].hex() + " " + data[4:].decode("utf-16-le", "replace").replace("\0", "\\0"))
    return {key: value for key, value in record.items() if key != "answer" or record.get("query") != "observer"}


def lines_of(value):
    """Long lines are taken apart at their blanks."""
    if isinstance(value, str):
        return [part for line in value.splitlines() for part in (line.split(" ") if len(line) > 300 else [line])]
    return json.dumps(value, indent=1, ensure_ascii=False).splitlines()


def difference(before, after):
    """What was asked, and each line of the answer that was replaced or left out."""
    key, seen = next(iter(after)), {}
    yield "== %s %s" % (key, before[key]) + ("" if before[key] == after[key] else " -> " + numbered(str(after[key]), seen))
    for name in sorted(set(before) | set(after)):
        if name == key or before.get(name) == after.get(name):
            continue
        lines = difflib.unified_diff(lines_of(before.get(name, "")), lines_of(after.get(name, "")), n=0, lineterm="")
        for line in list(lines)[2:]:
            if line != "+" and not line.startswith("@@"):
                yield repr(numbered(line, seen))[1:-1] if not line.isprintable() else numbered(line, seen)


def redacted(stage, name):
    tree = node.copy_of(node.tree_of(name))
    if name == FIRST:
        test_privacy.plant(tree)
    paths = put_lines(tree, name)
    stage.put(tree)
    before, after = ([shown(json.loads(line)) for line in test_privacy.capture(stage.directory, *options).splitlines()]
                     for options in (["--no-redact"], []))
    assert len(before) == len(after)
    asked = " ".join(str(next(iter(record.values()))) for record in before)
    assert not [path for path in paths if path not in asked and "make.log" not in path], "not read"
    yield from (line for pair in zip(before[1:], after[1:]) if pair[0] != pair[1] for line in difference(*pair))
    said = program.run("capture", "--root", stage.directory, "-o", stage.directory + ".capture", "--show-redactions").out
    left_out = [line for line in said.splitlines() if line.endswith("left out")]
    yield "== --show-redactions: %d replaced" % (len(said.splitlines()) - len(left_out))
    yield from left_out


@pytest.mark.skipif(os.geteuid() != 0, reason="acknowledgements are read if root wrote them")
def test_what_a_capture_has_of_each_line(stages):
    lines = [line for name in dict.fromkeys(name for name, _, _ in added())
             for line in ["=== " + name, *redacted(stages("redaction"), name)]]
    path, now = os.path.join(golden.FOLDER, "redaction.txt"), "\n".join(lines) + "\n"
    if os.environ.get("NVNODECHECK_UPDATE") == "1":
        with open(path, "w", encoding="utf-8") as file:
            file.write(now)
        pytest.skip("wrote " + path)
    with open(path, encoding="utf-8") as file:
        wrong = list(difflib.unified_diff(file.read().splitlines(), lines, "golden", "now", n=0, lineterm=""))
    assert not wrong, "\n".join(wrong[:40])
