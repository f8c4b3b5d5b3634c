# SPDX-License-Identifier: GPL-2.0-or-later
"""No report gives advice that contradicts itself. tests/lib/cases.py asks this of every case and incident as well."""
import json

import pytest

from lib import advice, node, program


@pytest.mark.parametrize("profile", ["base", "p2p", "gpudirect-rdma", "deepep,p2p"])
@pytest.mark.parametrize("name", node.names())
def test_nodes(name, profile, node_facts):
    facts = node_facts(name).encode()
    report = program.run("doctor", "--json", "--profile", profile, "--from", "-", input=facts).json()
    assert advice.contradictions(report) == []


@pytest.mark.parametrize("command, wanted", [
    ("sudo modprobe -r nvidia_peermem", [("module nvidia_peermem", "not loaded")]),
    ("modprobe nvidia-uvm uvm_disable_hmm=1", [("module nvidia_uvm", "loaded"), ("option uvm_disable_hmm", "1")]),
    ("sudo systemctl enable --now nvidia-fabricmanager", [("unit nvidia-fabricmanager.service", "active")]),
    ("systemctl mask x.socket && rmmod gdrdrv", [("unit x.socket", "not active"), ("module gdrdrv", "not loaded")]),
    ("sudo sysctl -w kernel.numa_balancing=0", [("sysctl kernel.numa_balancing", "0")]),
    ("unset NCCL_NET", [("variable NCCL_NET", "not set")]),
    ("grubby --update-kernel=ALL --args='iommu=pt'",
     [("argument iommu=pt", "there"), ("value of the argument iommu", "pt")]),
    ("echo 'options nvidia NVreg_EnableResizableBar=1' | sudo tee /etc/modprobe.d/zz.conf",
     [("option NVreg_EnableResizableBar", "1")]),
    ("sudo apt-get install -y nvidia-open=595.45.04", [("package nvidia-open", "installed")]),
    ("dnf remove nvidia-peermem", [("package nvidia-peermem", "not installed")]),
    ("# modprobe nothing\nlspci -k", []),
])
def test_commands_are_understood(command, wanted):
    assert list(advice.of_command(command)) == wanted


@pytest.mark.parametrize("text, wanted", [
    ("Switch on Above 4G Decoding and Resizable BAR in the firmware setup, then reboot.",
     [("firmware setting Above 4G Decoding", "on"), ("firmware setting Resizable BAR", "on")]),
    ("Disable ACS in the firmware setup. Then reboot.", [("firmware setting ACS", "off")]),
    ("If no virtual machine needs it, switch off SR-IOV in the firmware setup.", []),
    ("Blacklist nouveau and rebuild the initramfs.", [("module nouveau", "not loaded")]),
    ("Read about the IOMMU in the firmware setup.", []),
])
def test_sentences_are_understood(text, wanted):
    assert list(advice.of_prose(text)) == wanted


def finding(rule, fix=None, command=None, **more):
    return dict({"rule": rule, "verdict": "fail", "subject": None, "command": command,
                 "fix": fix and {"id": fix[0], "arguments": list(fix[1:])}}, **more)


@pytest.mark.parametrize("first, second, wrong", [
    (finding("a/a", ("set-option", "nvidia", "NVreg_X", "1")), finding("b/b", ("set-option", "nvidia", "NVreg_X", "0")),
     True),
    (finding("a/a", ("load-module", "nvidia_drm")), finding("b/b", ("block-nvidia-drm",)), True),
    (finding("a/a", ("load-module", "gdrdrv")), finding("b/b", command="modprobe -r gdrdrv"), True),
    (finding("a/a", command="apt install x"), finding("b/b", command="sudo apt-get purge x"), True),
    (finding("a/a", remedy="Switch on ACS in the firmware setup."),
     finding("b/b", remedy="In the firmware setup switch off ACS."), True),
    (finding("a/a", command="grubby --args=iommu=pt"), finding("b/b", command="grubby --args=iommu=off"), True),
    (finding("a/a", command="systemctl enable --now x"), finding("b/b", command="systemctl disable x"), True),
    (finding("a/a", command="modprobe gdrdrv"), finding("b/b", ("load-module", "gdrdrv")), False),
    # Its cause is repaired first, and it gives no advice then.
    (finding("a/a", ("load-module", "nvidia")), finding("b/b", command="rmmod nvidia", follows_from={"rule": "a/a"}),
     False),
])
def test_contradictions_are_found(first, second, wrong):
    assert bool(advice.contradictions({"findings": [first, second]})) is wrong


def test_every_kind_of_repair_is_known():
    rules = json.loads(program.run("rules", "--json").out)["rules"]
    kinds = {rule["fix"] for rule in rules if rule["fix"]}
    assert kinds <= set(advice.FIXES) | advice.OTHER
