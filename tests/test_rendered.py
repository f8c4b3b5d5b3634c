# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports, requests, plans and drawings as people see them: golden/NODE.rendered.txt and
golden/NODE.repaired.txt. NVNODECHECK_UPDATE=1 writes them anew; look at the difference before it is committed."""
import os
import re

import pytest

from lib import node, plans, program
from lib.tree import Stage
from test_nodes import hold_file

EVERYTHING = "deepep,p2p,nccl-gin"
# (edits of the node, by an ordinary user, command)
ROWS = {
    "broken-everything": [
        ("", False, "doctor --profile " + EVERYTHING), ("", True, "doctor --profile deepep"),
        ("", True, "doctor --brief --profile deepep"), ("", False, "doctor --for provider --profile deepep"),
        ("", False, "topo"), ("", False, "topo --format svg"), ("", False, "fix"), ("", False, "preflight")],
    "workstation-nouveau": [
        ("", False, "doctor"), ("", True, "doctor"), ("", True, "doctor --for provider"), ("", False, "fix"), ("", False, "topo")],
    "hgx-h100-ib": [
        ("", False, "doctor"), ("", True, "doctor"), ("", False, "topo"), ("", False, "doctor --for provider"),
        ("env NCCL_IB_DISABLE=1", True, "doctor --profile gpudirect-rdma"),
        ("env NCCL_IB_DISABLE=1", True, "doctor --brief --profile gpudirect-rdma"),
        ("remove /dev/nvidia-uvm", True, "doctor"), ("container docker\nremove /dev/nvidia-uvm", False, "doctor")],
    "h20-roce-deepep": [("", True, "doctor --profile deepep"), ("", True, "doctor --for provider --profile deepep"),
                        ("", False, "fix --profile deepep")],
    "rtx4090-stock-smallbar": [("", False, "topo"), ("", False, "topo --format svg")],
    "vm-h200-passthrough": [("", False, "topo"), ("", False, "doctor --profile gpudirect-rdma")],
}


REPAIRS = {
    "broken-everything": "", "workstation-nouveau": "",
    "hgx-h100-ib": "sysctl kernel.numa_balancing 1\nremove /etc/modules-load.d/nvidia-peermem.conf\nunload nvidia_peermem",
}


def plain(text, directory):
    text = text.replace(directory, "/TREE")
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(Z| UTC)", "TIME", text)
    return re.sub(r"(\d{8}T\d{6}Z-)?\b[0-9a-f]{16}\b", "ID", text)


def said(directory, command, edits="", user=False):
    verb, *words = command.split()
    result = program.run(verb, "--root", directory, *words, user=user)
    heading = "$ nvnodecheck %s%s%s" % (command, " # as a user" if user else "", " # " + edits.replace("\n", "; ") if edits else "")
    return "%s\n%s%sstatus %d\n" % (heading, result.out, result.err, result.status)


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user gets other reports")
@pytest.mark.parametrize("name", ROWS)
def test_as_people_see_it(name, stages):
    stage, parts = stages("rendered"), []
    for edits, user, command in ROWS[name]:
        stage.put(node.tree_of(name, plans.edits(edits)))
        parts.append(said(stage.directory, command, edits, user))
    hold_file(name + ".rendered.txt", plain("\n".join(parts), stage.directory))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can repair")
@pytest.mark.parametrize("name", REPAIRS)
def test_repairs_as_people_see_them(name, tmp_path):
    directory = str(tmp_path / "tree")
    Stage(directory).put(node.tree_of(name, plans.edits(REPAIRS[name])))
    parts = [said(directory, command) for command in (
        "fix --all --apply --yes --no-regenerate", "fix", "undo --list", "undo nosuch", "facts repairs.applied", "undo --yes",
        "undo --yes", "undo --list")]
    lines = plain("\n".join(parts), directory).splitlines(True)
    hold_file(name + ".repaired.txt", "".join(line for line in lines if '"time_s"' not in line))
