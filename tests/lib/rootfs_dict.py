# SPDX-License-Identifier: GPL-2.0-or-later
"""A small root made of a dictionary of paths and contents, and its facts, which its capture must have too."""
import json
import os
import subprocess

from lib import program

BINARY = os.path.abspath(program.binary())


class Link(str):
    """The target of a symbolic link."""


def make(root, files):
    """Puts FILES {path: text, bytes or Link} below ROOT; a path that ends in / is a folder."""
    for path, content in files.items():
        place = os.path.join(str(root), path.lstrip("/"))
        if path.endswith("/"):
            os.makedirs(place, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if isinstance(content, Link):
            os.symlink(str(content), place)
        else:
            with open(place, "wb") as f:
                f.write(content if isinstance(content, bytes) else content.encode())
    return str(root)


def run(*arguments, **kwargs):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=180, **kwargs)


def document(*arguments, **kwargs):
    done = run("facts", *arguments, **kwargs)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def without_times(facts):
    for probe in facts["probes"]:
        del probe["duration_us"]
    facts.get("os", {}).pop("observed_time_s", None)
    return facts


def observe(root, *arguments, **kwargs):
    """The facts of the tree; its capture must say exactly the same."""
    facts = document("--root", str(root), *arguments, **kwargs)
    capture = str(root).rstrip("/") + ".capture"
    done = run("capture", "--no-redact", "--root", str(root), "-o", capture, *arguments, **kwargs)
    assert done.returncode == 0, done.stderr
    again = document("--from", capture, *arguments, **kwargs)
    assert without_times(again) == without_times(facts)
    return facts


def gaps(facts, probe=None):
    return {g["path"]: g["error"] for g in facts["gaps"] if probe in (None, g["probe"])}


def by(items, key):
    found = {}
    for item in items:
        assert item[key] not in found
        found[item[key]] = item
    return found
