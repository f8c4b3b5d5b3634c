# SPDX-License-Identifier: GPL-2.0-or-later
"""A variable of NCCL means the same in /etc/nccl.conf as in the environment: each case that sets one gives the same
answers when it is moved to the file."""
import copy
import os

import pytest

from lib import cases, node, textform

CONF = "/etc/nccl.conf"
# Rules that are about the file itself.
OF_FILE = {"env/nccl-conf-line", "env/nccl-graph-for-all"}
# A rule that names the file in which the variable is: its subject is another one.
NAMES_FILE = {"env/file-missing"}


def movable(case):
    """The assignments of NCCL's variables, if the case has no file of NCCL's. Where the node sets the variable too, its
    environment would override the file."""
    if any("nccl.conf" in edit.text or edit.verb == "unreadable" or "NCCL_CONF_FILE" in edit.text or
           "/etc/environment" in edit.text
           for edit in case.edits):
        return []
    if not os.path.exists(os.path.join(node.NODES, case.node + ".node")):
        return []		# a capture, whose environment is not seen here
    own = {word.partition("=")[0] for edit in node.statements(case.node) if edit.verb == "env"
           for word in edit.words}
    return [word for edit in case.edits if edit.verb == "env" for word in edit.words
            if word.startswith("NCCL_") and word.partition("=")[2]
            and word.partition("=")[0] not in own]


ALL = {case.name: case for case in cases.read_all() if movable(case)}


def moved(case):
    """The case with the assignments in the file."""
    other, taken, edits = copy.copy(case), movable(case), []
    for edit in case.edits:
        if edit.verb != "env":
            edits.append(edit)
            continue
        rest = [word for word in edit.words if word not in taken]
        if rest:
            new = textform.Statement(edit.file, edit.line, "env")
            new._words = rest
            edits.append(new)
    conf = textform.Statement(case.file, case.line, "file " + CONF)
    conf.block = list(taken)
    other.edits = edits + [conf]
    return other


def answers(case, stage):
    stage.put(node.tree_of(case.node, case.edits))
    run = cases.Run(case, stage.directory)
    assert run.report, run.result
    return [f for f in run.report["findings"] if f["rule"] not in OF_FILE]


def shape(findings):
    return sorted((f["rule"], f["verdict"], f["severity"] or "",
                   "" if f["rule"] in NAMES_FILE else f["subject"] or "") for f in findings)


@pytest.mark.parametrize("name", list(ALL))
def test_file_is_judged_as_the_environment(name, stages):
    case = ALL[name]
    stage = stages("conf")
    before = answers(case, stage)
    after = answers(moved(case), stage)
    here, there = set(shape(before)), set(shape(after))
    assert (here - there, there - here) == (set(), set())
    # Every problem or note that rests on the variable names the file.
    used = [f for f in before if f["verdict"] in ("fail", "note") and "env.variables[NCCL_" in str(f["evidence"])]
    for rule, subject in {(f["rule"], f["subject"]) for f in used}:
        said = [f for f in after if f["rule"] == rule and
                (f["subject"] == subject or rule in NAMES_FILE)]
        assert any(CONF + ":" in str(f) or "env.nccl_conf" in str(f["evidence"]) for f in said), said


def test_there_are_many():
    assert len({rule.words[0] for case in ALL.values() for rule, _ in case.expects
                if rule.verb == "expect" and rule.words[0].startswith("env/")}) > 10
