# SPDX-License-Identifier: GPL-2.0-or-later
"""LBNL NHC from its source (NHC_SOURCE=DIR), systemd's own checks of the units, Ansible."""
import json
import os
import re
import subprocess

import pytest

from conftest import DEAD, need, output


def test_nhc_keeps_the_reason(machine):
    source = os.environ.get("NHC_SOURCE")
    if not source:
        pytest.skip("NHC_SOURCE names no checkout of github.com/mej/nhc")
    include = os.path.join(machine.folder, "scripts")
    subprocess.run(["cp", "-r", os.path.join(source, "scripts"), include], check=True)
    subprocess.run(["cp", machine.contrib("nhc/nvnodecheck.nhc"), include], check=True)
    with open(machine.folder + "/nhc.conf", "w") as file:
        file.write("* || check_nvnodecheck\n")

    def nhc():
        return output(["bash", os.path.join(source, "nhc"), "-e", "check_nvnodecheck", "MARK_OFFLINE=0",
                       "INCDIR=" + include, "HELPERDIR=" + os.path.join(source, "helpers"),
                       "CONFFILE=" + machine.folder + "/nhc.conf", "LOGFILE=-", "NHC_RM=none",
                       "NVNODECHECK=" + machine.program])
    status, text = nhc()
    assert status == 0, text
    machine.become("driver unloaded")
    status, text = nhc()
    assert status == 1 and re.search(r"check_nvnodecheck:\s+driver/loaded: ", text), text
    for edit, rule in DEAD:
        machine.become(edit)
        status, text = nhc()
        assert status == 1 and re.search(r"check_nvnodecheck:\s+%s" % rule, text), text


UNITS = ("systemd/nvnodecheck.service", "prometheus/nvnodecheck-textfile.service",
         "prometheus/nvnodecheck-textfile.timer")


@pytest.mark.parametrize("unit", UNITS)
def test_units(unit, machine):
    need("systemd-analyze")
    for name in UNITS:
        machine.contrib(name)
    text = output(["systemd-analyze", "verify", "--man=no",
                   os.path.join(machine.folder, os.path.basename(unit))])[1]
    text = "\n".join(line for line in text.splitlines() if "nvnodecheck" in line)
    assert not text, text


def test_ansible(machine):
    need("ansible-playbook")
    play = machine.contrib("ansible/playbook.yml")
    command = ["ansible-playbook", "-i", "localhost,", "-c", "local", play, "-e",
               "nvnodecheck_become=false"]
    env = dict(os.environ, ANSIBLE_LOCALHOST_WARNING="false", HOME=machine.folder,
               ANSIBLE_NOCOLOR="1", LC_ALL="C.UTF-8")
    status, text = output(command + ["--check"], env=env)
    assert status == 0 and "changed=" in text, text
    with open(machine.folder + "/facts/localhost.json") as file:
        assert json.load(file)["format"] == "nvnodecheck-facts"
    machine.become("driver unloaded")
    status, text = output(command, env=env)
    assert status != 0 and "driver/loaded" in text, text
    fact = machine.contrib("ansible/nvnodecheck.fact")
    status, text = output(["sh", fact])
    assert status == 0 and json.loads(text)["summary"]["verdict"] == "fail"
