# SPDX-License-Identifier: GPL-2.0-or-later
"""memcheck over the verbs that look, their children included: no error, nothing definitely lost.
make check-valgrind; valgrind has no openat2(), so trees are walked folder by folder here."""
import glob
import os
import shutil

import pytest

from lib import program

pytestmark = [
    pytest.mark.skipif(not os.environ.get("NVNODECHECK_VALGRIND"), reason="make check-valgrind"),
    pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed"),
]
NODES = ("rtx4090-stock-smallbar", "hgx-h200-roce", "broken-everything")
VERBS = (["doctor"], ["doctor", "--json"], ["facts"], ["capture", "-o", "-"], ["fix", "--all"], ["topo"],
         ["topo", "--format", "svg"], ["expect"], ["preflight"],
         ["why", "--text", "NCCL INFO Using network Socket"])


def memcheck(folder, *args):
    """The exit status of ARGS and all that valgrind said of its processes."""
    result = program.run(*args, wrap=[
        "valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite", "--log-file=%s/%%p.log" % folder])
    said = ""
    logs = glob.glob(os.path.join(str(folder), "*.log"))
    assert logs
    for log in logs:
        with open(log, encoding="utf-8", errors="replace") as file:
            # Of a system call that it does not know it says so in lines that begin otherwise.
            said += "".join(line for line in file if line.startswith("=="))
    return result.status, said


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
@pytest.mark.parametrize("name", NODES)
def test_memcheck(name, verb, node_tree, tmp_path):
    status, said = memcheck(tmp_path, *verb, "--root", node_tree(name))
    assert status in (0, 1) and not said, said


def test_memcheck_documents(node_tree, tmp_path):
    """What reads files of many nodes."""
    files = []
    for name in NODES:
        files.append(tmp_path / name)
        files[-1].write_bytes(program.run("facts", "--root", node_tree(name)).raw)
    for i, args in enumerate((["diff"] + files, ["doctor", "--from"] + files,
                              ["doctor", "--from", files[0]])):
        folder = tmp_path / str(i)
        folder.mkdir()
        status, said = memcheck(folder, *args)
        assert status in (0, 1) and not said, said
