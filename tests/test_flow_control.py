# SPDX-License-Identifier: GPL-2.0-or-later
"""PFC and pause: a tree does not tell them, a capture gives back what a running host said."""

import json

import pytest

from lib import node, program

INTERFACE = "enp24s0np0"
RULE = "rdma/flow-control-off"


@pytest.fixture
def capture(scratch, tmp_path):
    """A capture of a RoCE node, with answers that only the running kernel gives."""
    scratch.put(node.tree_of("hgx-h200-roce", []))

    def make(answer):
        path = tmp_path / "node.capture"
        program.run("capture", "--root", scratch.directory, "-o", path, "--no-redact")
        key = "flow control of " + INTERFACE
        with open(path) as file:
            lines = [json.loads(line) for line in file]
        lines = [line for line in lines if line.get("query") != key] + [dict(answer, query=key)]
        with open(path, "w") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)
        return path
    return make


def answer_of(path):
    report = program.run("doctor", "--json", "--from", path).json()
    return next(f for f in report["findings"] if f["rule"] == RULE and f["subject"] == "mlx5_0/1")


def test_a_tree_does_not_tell(capture):
    assert answer_of(capture({"errno": "ENODATA"}))["verdict"] == "unknown"


@pytest.mark.parametrize("pfc, pause, verdict", [
    ("0x8", False, "pass"), ("0x0", True, "pass"), (None, True, "pass"), ("0x0", False, "note"),
    (None, False, "unknown"), ("0x0", None, "unknown")])
def test_what_the_kernel_says(capture, pfc, pause, verdict):
    path = capture({"answer": {"interfaces": [
        {"name": INTERFACE, "pfc_priorities": pfc, "pause": pause}]}})
    found = answer_of(path)
    assert found["verdict"] == verdict
