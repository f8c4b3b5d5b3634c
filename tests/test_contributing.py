# SPDX-License-Identifier: GPL-2.0-or-later
"""The walk-through of CONTRIBUTING.md, done by its text alone in a copy of the sources."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from lib import program


SAMPLE = "src/rules/sysctl-overcommit.c"


def is_done():
    """Has whoever runs this done the walk-through here?"""
    return os.path.exists(os.path.join(program.TOP, SAMPLE))


def steps():
    """[(the line above a block, the block)]"""
    with open(os.path.join(program.TOP, "CONTRIBUTING.md"), encoding="utf-8") as file:
        text = file.read()
    found = re.findall(r"^(\S.*)\n\n((?:^    .*\n(?:\n(?=    ))*)+)", text, re.M)
    return [(above, re.sub(r"^    ", "", block, flags=re.M)) for above, block in found]


def left_out(folder, names):
    """Of what was built the objects alone are wanted: build/ also holds whole root file systems."""
    if folder == program.TOP:
        return [n for n in names if n == ".git" or n.startswith("build-")]
    if folder != os.path.join(program.TOP, "build"):
        return []
    return [n for n in names if os.path.isdir(os.path.join(folder, n)) and
            not os.path.isdir(os.path.join(program.TOP, "src", n))]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    if is_done():
        pytest.skip("it is done here")
    if not shutil.which("make") or not os.path.exists(os.path.join(program.TOP, "build", "main.o")):
        pytest.skip("nothing is built in build/, which the walk-through names")
    folder = str(tmp_path_factory.mktemp("contributing") / "nvnodecheck")
    shutil.copytree(program.TOP, folder, symlinks=True, ignore=left_out)
    return folder


def do(command, folder):
    env = dict(os.environ, MAKEFLAGS="-s")
    env.pop("NVNODECHECK", None)
    process = subprocess.run(["sh", "-c", command], cwd=folder, env=env, timeout=300,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = process.stdout.decode()
    assert process.returncode == 0, "%s\n%s" % (command, text)
    return text


def test_a_rule_in_ten_minutes(copy):
    written = set()
    for above, block in steps():
        target = re.search(r"`((?:src|tests)/\S+\.(?:c|cases))`$", above)
        if target:
            with open(os.path.join(copy, target.group(1)), "a", encoding="utf-8") as file:
                file.write(("\n" if above.startswith("`tests") else "") + block)
            written.add(target.group(1))
        elif "Try it" in above or "What else changes" in above:
            for line in block.splitlines():
                text = do(line.replace("/usr/bin/python3", sys.executable), copy)
                if "explain" in line:
                    assert "overcommit" in text
                if "pytest" in line:
                    assert re.search(r"[1-9] passed", text), text
    assert written == {SAMPLE, "tests/cases/sysctl.cases"}
    # Of make check, which is the last word, what asks something of every rule.
    do("%s -m pytest -q tests/test_nodes.py tests/test_rules_have_cases.py tests/test_rules_page.py tests/test_manual.py"
       " tests/test_user.py tests/test_format.py tests/test_layout.py tests/test_contributing.py" % sys.executable, copy)


def test_fact_of_the_walk_through():
    command, _, shown = next(b for _, b in steps() if b.startswith("$ ")).partition("\n")
    assert do(command[2:].replace("build/nvnodecheck", program.binary()), program.TOP) == shown


def test_files_that_are_named_are_there():
    with open(os.path.join(program.TOP, "CONTRIBUTING.md"), encoding="utf-8") as file:
        names = re.findall(r"`((?:src|tests|docs|nodes)/[\w./-]+)`", file.read())
    missing = [name for name in names if "NAME" not in name and not os.path.exists(os.path.join(program.TOP, name))]
    assert missing == ([] if is_done() else [SAMPLE])


# The structs that a contributor fills, whose members the documents name.
FILLED = ("evaluate/rule.h", "probes/probe.h", "fixes/fix.h")


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/reading.md", "docs/evaluating.md"])
def test_members_that_are_named_are_there(document):
    headers = "".join(pathlib.Path(program.TOP, "src", name).read_text() for name in FILLED)
    members = set(re.findall(r"^\t[^/\n(]*?\b(\w+)(?:\[\w+\])?;", headers, re.M))
    members |= set(re.findall(r"^\t.*\(\*(\w+)\)\(", headers, re.M))
    named = set(re.findall(r"`\.(\w+)`", pathlib.Path(program.TOP, document).read_text(encoding="utf-8")))
    assert named and not named - members
