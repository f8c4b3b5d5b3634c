# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld, munge, and as many slurmd as there are nodes, on loopback. All nodes are this host."""
import os
import signal
import socket
import subprocess

import pytest

from conftest import free_ports, need
from lib import waiting

HOST = socket.gethostname().split(".")[0]

CONFIGURATION = """
ClusterName=check
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=1
ReturnToService=2
MpiDefault=none
{more}
PartitionName=main Nodes={nodes} Default=YES State=UP
"""


class Cluster:
    """MORE: lines of slurm.conf."""

    def __init__(self, folder, nodes, more):
        need("slurmctld", "slurmd", "munged", "sbatch")
        if os.geteuid():
            pytest.skip("needs root")
        self.folder, self.nodes = folder, nodes
        self.env = dict(os.environ, SLURM_CONF=folder + "/slurm.conf")
        self.processes, self.daemons = [], {}
        os.mkdir(os.path.join(folder, "state"))
        port, *ports = free_ports(1 + len(nodes))
        more += "".join("\nNodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1 State=UNKNOWN" % (
            name, HOST, its) for name, its in zip(nodes, ports))
        with open(self.env["SLURM_CONF"], "w") as file:
            file.write(CONFIGURATION.format(host=HOST, folder=folder, port=port, more=more, nodes=",".join(nodes)))

    def start(self, *command, **more):
        with open(os.path.join(self.folder, os.path.basename(command[0]) + ".out"), "a") as log:
            self.processes.append(subprocess.Popen(command, env=dict(self.env, **more), stdout=log, stderr=log))
        return self.processes[-1]

    def run(self, *command):
        return subprocess.run(command, env=self.env, stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT, timeout=120).stdout.decode().strip()

    def state(self, node=None):
        state, _, reason = self.run("sinfo", "-h", "-N", "-n", node or self.nodes[0], "-o", "%T|%E").partition("|")
        return state, reason

    def start_node(self, node, *options):
        """CHECK_NODE: for the RebootProgram, which is told no name."""
        self.daemons[node] = self.start("slurmd", "-D", "-N", node, *options, CHECK_NODE=node)

    def begin(self):
        key = os.path.join(self.folder, "munge.key")
        with open(key, "wb") as file:
            file.write(os.urandom(128))
        os.chmod(key, 0o600)
        self.start("munged", "--foreground", "--force", "--key-file=" + key,
                   "--socket=%s/munge.socket" % self.folder, "--pid-file=%s/munged.pid" % self.folder,
                   "--log-file=%s/munged.log" % self.folder, "--seed-file=%s/munged.seed" % self.folder)
        waiting.until(lambda: os.path.exists(self.folder + "/munge.socket"), what="munged")
        self.start("slurmctld", "-D", "-c")
        for node in self.nodes:
            self.start_node(node)
        waiting.until(lambda: all(self.state(n)[0].startswith("idle") for n in self.nodes), "idle nodes: %s" %
                      open(self.folder + "/slurmctld.out").read())

    def end(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
