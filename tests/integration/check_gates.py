# SPDX-License-Identifier: GPL-2.0-or-later
"""What refuses jobs: Slurm's prolog and health program, node-problem-detector's plugin, and NHC's check where it can be had.
Each sees each dead GPU, and none holds a healthy node."""
import json
import os
import subprocess

import pytest

from conftest import CONTRIB, DEAD, Machine, output

HEALTHY = ("hgx-h100-ib", "hgx-h200-roce", "b200-hgx", "grace-gh200-cx8", "rtx4090-p2p", "vm-h200-passthrough",
           "no-gpu-server")


def prolog(machine):
    """What is said where jobs are refused."""
    status, text = output(["sh", machine.contrib("slurm/prolog")])
    assert status in (0, 1), text
    return text if status else ""


def health(machine):
    said = os.path.join(machine.folder, "said")
    for name, text in (("sinfo", "echo 'idle|none'"), ("scontrol", 'echo "$@" >> %s' % said)):
        path = os.path.join(machine.folder, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n%s\n" % text)
        os.chmod(path, 0o755)
    env = dict(os.environ, PATH=machine.folder + ":" + os.environ["PATH"], SLURMD_NODENAME="n1")
    subprocess.run(["sh", machine.contrib("slurm/health")], env=env, check=True)
    if not os.path.exists(said):
        return ""
    with open(said) as file:
        text = file.read()
    assert "State=DRAIN Reason=nvnodecheck: " in text, text
    return text


def problem_detector(machine):
    with open(os.path.join(CONTRIB, "node-problem-detector/nvnodecheck.json")) as file:
        rule = json.load(file)["rules"][0]
    status, text = output([machine.program] + rule["args"])
    assert status in (0, 1), text
    return text if status else ""


def nhc(machine):
    source = os.environ.get("NHC_SOURCE")
    if not source:
        pytest.skip("NHC_SOURCE names no checkout of github.com/mej/nhc")
    include = os.path.join(machine.folder, "scripts")
    subprocess.run(["cp", "-r", os.path.join(source, "scripts"), include], check=True)
    subprocess.run(["cp", machine.contrib("nhc/nvnodecheck.nhc"), include], check=True)
    with open(machine.folder + "/nhc.conf", "w") as file:
        file.write("* || check_nvnodecheck\n")
    status, text = output(["bash", os.path.join(source, "nhc"), "MARK_OFFLINE=0", "INCDIR=" + include, "NHC_RM=none",
                           "HELPERDIR=" + os.path.join(source, "helpers"), "LOGFILE=-",
                           "CONFFILE=" + machine.folder + "/nhc.conf", "NVNODECHECK=" + machine.program])
    return text if status else ""


GATES = (prolog, health, problem_detector, nhc)


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("edit, rule", DEAD)
def test_a_dead_gpu_is_refused(gate, edit, rule, machine):
    machine.become(edit)
    assert rule in gate(machine)


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_node_is_let_through(gate, name, tmp_path):
    assert gate(Machine(tmp_path, name)) == ""
