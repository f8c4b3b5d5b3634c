# SPDX-License-Identifier: GPL-2.0-or-later
"""What modinfo says of a module's file, beside an item of modules.files."""

import re
import subprocess

FIELDS = ("version", "srcversion", "vermagic", "license", "description", "signer")


def fields(path):
    """{field: [value]}"""
    done = subprocess.run(["modinfo", "-0", path], capture_output=True, check=True)
    found = {}
    for line in done.stdout.decode(errors="replace").split("\0"):
        # "parm:           NAME:TEXT", and the others as the file has them.
        parts = re.match(r"(\w+)(?:=|: *)(.*)", line, re.DOTALL)
        if parts:
            found.setdefault(parts[1], []).append(parts[2])
    return found


def compared(path, item):
    """(field, what ITEM has, what modinfo says)"""
    theirs = fields(path)
    for field in FIELDS:
        yield field, item.get(field, "unknown"), theirs.get(field, [None])[0]
    parameters = [p.partition(":")[0] for p in theirs.get("parm", [])]
    yield "parameters", item.get("parameters", "unknown"), sorted(set(parameters))
    depends = ",".join(theirs.get("depends", [])).replace("-", "_").split(",")
    yield "depends", item.get("depends", "unknown"), [d for d in depends if d]
