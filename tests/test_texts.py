# SPDX-License-Identifier: GPL-2.0-or-later
"""No text of a rule decides anything: with every text replaced, verdicts, plans and exit statuses are the
same. make check-texts builds that program; without it (NVNODECHECK_REPLACED) these tests are skipped."""
import json
import os
import re
import subprocess

import pytest

from lib import node, program

REPLACED = os.environ.get("NVNODECHECK_REPLACED")
TEXTS = ("title", "observed", "expected", "impact", "remedy", "command", "source", "unknown_why", "unknown_check")
PROFILES = "deepep,p2p"

pytestmark = pytest.mark.skipif(not REPLACED, reason="make check-texts")


def run(binary, *args):
    process = subprocess.run([binary, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return process.returncode, process.stdout.decode()


def without_texts(value):
    if isinstance(value, dict):
        return {key: without_texts(v) for key, v in value.items() if key not in TEXTS}
    return [without_texts(v) for v in value] if isinstance(value, list) else value


def answers(binary, directory):
    status, out = run(binary, "doctor", "--json", "--profile", PROFILES, "--root", directory)
    return status, without_texts(json.loads(out)["findings"])


def steps(binary, directory):
    """Problems with the same text of what to do are side by side, so the order inside a step differs."""
    _, out = run(binary, "doctor", "--json", "--profile", PROFILES, "--root", directory)
    return [(step["kind"], step["who"], step["restart"],
             sorted((p["rule"], p["activation"], bool(p["refused"])) for p in step["problems"]))
            for step in json.loads(out)["steps"]]


def plan(binary, directory):
    status, out = run(binary, "fix", "--json", "--all", "--profile", PROFILES, "--root", directory)
    document = json.loads(out)
    repairs = [(r["rule"], r["subject"], r["fix"], bool(r["what"]), bool(r["refused"]), r["activation"])
               for r in document["repairs"]]
    return status, document["files"], document["steps"], repairs


def table(binary, directory):
    """Severity, who acts and what is next. Problems with the same text of what to do are side by side, so the order
    differs."""
    _, out = run(binary, "doctor", "--brief", "--profile", PROFILES, "--root", directory)
    return sorted(re.findall(r"^(CRIT|ERR|WARN|WAIT) .* {2,}(\S+) {2,}(\S.*)$", out, re.M))


@pytest.mark.parametrize("name", node.names())
def test_texts_decide_nothing(name, stages):
    stage = stages("texts")
    stage.put(node.tree_of(name, []))
    first = answers(program.binary(), stage.directory)
    assert answers(REPLACED, stage.directory) == first
    assert steps(REPLACED, stage.directory) == steps(program.binary(), stage.directory)
    assert plan(REPLACED, stage.directory) == plan(program.binary(), stage.directory)
    assert table(REPLACED, stage.directory) == table(program.binary(), stage.directory)


def test_texts_are_replaced(stages):
    """The program under test is the one that it should be."""
    stage = stages("texts")
    stage.put(node.tree_of("broken-everything", []))
    _, out = run(REPLACED, "doctor", "--json", "--root", stage.directory)
    assert '"observed": "replaced"' in out
