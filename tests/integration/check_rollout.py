# SPDX-License-Identifier: GPL-2.0-or-later
"""Repairs of a fleet with contrib/ansible/repair.yml: Ansible's serial, Slurm's drain and reboot, preflight as the gate.
Each node is a root of its own and a slurmd; a boot is what the test makes of it."""
import json
import os
import signal
import subprocess
import threading
import time

import pytest

from conftest import Machine, need
from lib import waiting
from slurm_cluster import Cluster

NODES = ["n1", "n2", "n3", "n4"]
OWN = "/etc/modprobe.d/zz-nvnodecheck.conf"
PARAMS = "/proc/driver/nvidia/params"
RULE = "driver/peer-mapping-override"
# What slurmd runs to reboot its node.
REBOOT = """#!/bin/sh
echo "$CHECK_NODE" >> {folder}/boots
touch {folder}/reboot-$CHECK_NODE
"""


class Fleet:
    def __init__(self, folder):
        self.folder = str(folder)
        self.machines = {}
        for name in NODES:
            os.mkdir(os.path.join(self.folder, name))
            self.machines[name] = Machine(os.path.join(self.folder, name), "h20-roce-deepep")
        program = os.path.join(self.folder, "reboot")
        with open(program, "w") as file:
            file.write(REBOOT.format(folder=self.folder))
        os.chmod(program, 0o755)
        self.cluster = Cluster(self.folder, NODES, "RebootProgram=%s\nResumeTimeout=120" % program)
        self.dead = set()   # nodes whose repair does not come live
        self.running = True
        self.keeper = threading.Thread(target=self.keep, daemon=True)

    def keep(self):
        """Where a node was rebooted, it ends and begins again."""
        while self.running:
            for name in NODES:
                request = os.path.join(self.folder, "reboot-" + name)
                if os.path.exists(request):
                    os.unlink(request)
                    self.boot(name)
            time.sleep(0.1)

    def boot(self, name):
        daemon = self.cluster.daemons[name]
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(30)
        root = self.machines[name].stage.directory
        if os.path.exists(root + OWN) and name not in self.dead:
            with open(root + PARAMS) as file:
                text = file.read()
            with open(root + PARAMS, "w") as file:
                file.write(text.replace('RegistryDwords: ""', 'RegistryDwords: "PeerMappingOverride=1;"'))
        self.cluster.start_node(name, "-b")

    def is_repaired(self, name):
        return os.path.exists(self.machines[name].stage.directory + OWN)

    def boots(self):
        path = os.path.join(self.folder, "boots")
        return open(path).read().split() if os.path.exists(path) else []

    def play(self, *options):
        inventory = os.path.join(self.folder, "inventory")
        with open(inventory, "w") as file:
            for name, machine in self.machines.items():
                file.write("%s ansible_connection=local ansible_python_interpreter=/usr/bin/python3 nvnodecheck=%s\n" % (
                    name, machine.program))
        values = {"nvnodecheck_become": False, "nvnodecheck_slurm": True, "nvnodecheck_profile": "deepep",
                  "nvnodecheck_pause": 1, "nvnodecheck_boot_seconds": 120, "nvnodecheck_drain_seconds": 120,
                  "nvnodecheck_batches": [1, 2, "100%"], "nvnodecheck_fix_options": ["--allow-writable-parents"]}
        env = dict(self.cluster.env, HOME=self.folder, ANSIBLE_NOCOLOR="1", LC_ALL="C.UTF-8",
                   ANSIBLE_LOCALHOST_WARNING="false")
        result = subprocess.run(["ansible-playbook", "-i", inventory, self.machines["n1"].contrib("ansible/repair.yml"),
                                 "-e", json.dumps(values), *options],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, timeout=600)
        return result.returncode, result.stdout.decode()


@pytest.fixture
def fleet(tmp_path):
    need("ansible-playbook")
    os.chmod(str(tmp_path), 0o755)
    fleet = Fleet(tmp_path)
    try:
        fleet.cluster.begin()
        fleet.keeper.start()
        yield fleet
    finally:
        fleet.running = False
        if fleet.keeper.is_alive():
            fleet.keeper.join(60)
        fleet.cluster.end()


def test_canary_then_batches(fleet):
    status, text = fleet.play("--check")
    assert status == 0 and "PeerMappingOverride=1" in text, text
    assert not any(fleet.is_repaired(n) for n in NODES) and not fleet.boots()
    # One that an administrator drained is not touched.
    fleet.cluster.run("scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=fan broken")
    status, text = fleet.play()
    assert status == 0, text
    assert [fleet.is_repaired(n) for n in NODES] == [True, True, False, True], text
    boots = fleet.boots()
    assert boots[0] == "n1" and sorted(boots[1:]) == ["n2", "n4"], boots
    for node in ("n1", "n2", "n4"):
        waiting.until(lambda: fleet.cluster.state(node)[0] == "idle", lambda: "%s: %s" % (node, fleet.cluster.state(node)))
    assert fleet.cluster.state("n3") == ("drained", "fan broken")
    # Nothing is left to be done.
    status, text = fleet.play()
    assert status == 0 and fleet.boots() == boots, text


def test_a_canary_that_fails_ends_the_rollout(fleet):
    fleet.dead.add("n1")
    status, text = fleet.play()
    assert status != 0 and RULE in text, text
    assert fleet.boots() == ["n1"]
    assert [fleet.is_repaired(n) for n in NODES] == [True, False, False, False], text
    state, reason = fleet.cluster.state("n1")
    assert state in ("drained", "down") and RULE in reason, (state, reason)
    assert all(fleet.cluster.state(n)[0] == "idle" for n in NODES[1:])
