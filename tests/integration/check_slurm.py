# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld, slurmd and munge on loopback: a well node runs a job, one that is not drains with its reason
before the job starts, and comes back when it is well."""
import os
import signal
import socket
import subprocess
import time

import pytest

from conftest import DEAD, free_ports, need, output
from lib import waiting

CONFIGURATION = """
ClusterName=check
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmdPort={port1}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=1
ReturnToService=2
MpiDefault=none
Prolog={prolog}
PrologFlags=Alloc
HealthCheckProgram={health}
HealthCheckInterval=2
HealthCheckNodeState=ANY
NodeName={host} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES State=UP
"""


class Cluster:
    def __init__(self, machine):
        self.folder = machine.folder
        self.host = socket.gethostname().split(".")[0]
        self.env = dict(os.environ, SLURM_CONF=self.folder + "/slurm.conf")
        self.processes = []
        for name in ("state", "spool"):
            os.mkdir(os.path.join(self.folder, name))
        wrapped = {}
        for name in ("prolog", "health"):
            wrapped[name] = machine.contrib("slurm/" + name)
            # slurmd gives neither of them our slurm.conf.
            with open(wrapped[name]) as file:
                text = file.read()
            with open(wrapped[name], "w") as file:
                file.write(text.replace("#!/bin/sh\n", "#!/bin/sh\nexport SLURM_CONF=%s PATH=%s\n" % (
                    self.env["SLURM_CONF"], os.environ["PATH"]), 1))
        port, port1 = free_ports(2)
        with open(self.env["SLURM_CONF"], "w") as file:
            file.write(CONFIGURATION.format(host=self.host, folder=self.folder, port=port,
                                            port1=port1, **wrapped))

    def start(self, *command):
        log = open(os.path.join(self.folder, os.path.basename(command[0]) + ".out"), "w")
        self.processes.append(subprocess.Popen(command, env=self.env, stdout=log, stderr=log))

    def run(self, *command):
        return subprocess.run(command, env=self.env, stdout=subprocess.PIPE, check=False,
                              stderr=subprocess.STDOUT, timeout=120).stdout.decode().strip()

    def state(self):
        state, _, reason = self.run("sinfo", "-h", "-N", "-o", "%T|%E").partition("|")
        return state, reason

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
        self.start("slurmd", "-D", "-N", self.host)
        waiting.until(lambda: self.state()[0].startswith("idle"), "an idle node: %s" %
                   open(self.folder + "/slurmctld.out").read())

    def end(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def cluster(machine):
    need("slurmctld", "slurmd", "munged", "sbatch")
    if os.geteuid():
        pytest.skip("needs root")
    cluster = Cluster(machine)
    try:
        cluster.begin()
        yield cluster
    finally:
        cluster.end()


@pytest.mark.parametrize("sinfo, said", [
    ("echo 'drained|disk is broken'", []), ("exit 1", []), ("exit 124", []),
    ("echo 'idle|none'", ["update", "NodeName=n1", "State=DRAIN"])])
def test_reason_of_others_stays(machine, sinfo, said):
    """Also where slurmctld did not say in time whether there is one."""
    for name, text in (("sinfo", sinfo), ("scontrol", 'echo "$@" >> %s/said' % machine.folder)):
        path = os.path.join(machine.folder, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n%s\n" % text)
        os.chmod(path, 0o755)
    machine.become("driver unloaded")
    env = dict(os.environ, PATH=machine.folder + ":" + os.environ["PATH"], SLURMD_NODENAME="n1")
    subprocess.run(["/bin/sh", machine.contrib("slurm/health")], env=env, check=True)
    path = machine.folder + "/said"
    words = open(path).read().split() if os.path.exists(path) else []
    assert words[:len(said)] == said and bool(words) == bool(said), words


def submit(cluster, file):
    out = cluster.run("sbatch", "--parsable", "-D", cluster.folder, "-o", "/dev/null",
                      "--wrap=touch " + file)
    assert out.isdigit(), out
    return out


def test_xid_drains_until_it_is_acknowledged(cluster, machine):
    """What a person has seen does not drain the node again: no fight with the administrator."""
    machine.become(DEAD[0][0])
    waiting.until(lambda: "log/xid" in cluster.state()[1], "a node that is drained for the Xid")
    assert cluster.run(machine.program, "ack", "log/xid", "--reason", "seen").startswith("Acknowledged")
    waiting.until(lambda: cluster.state()[0].startswith("idle"), "the node to come back")


def test_job_drain_and_return(cluster, machine):
    done = machine.folder + "/done"
    submit(cluster, done)
    waiting.until(lambda: os.path.exists(done), "the first job")

    machine.become("driver unloaded")
    waiting.until(lambda: cluster.state()[0].startswith("drain"), "a drained node")
    reason = waiting.until(lambda: cluster.state()[1].startswith("nvnodecheck: ") and cluster.state()[1])
    assert "driver/loaded" in reason, reason
    second = machine.folder + "/second"
    submit(cluster, second)
    time.sleep(4)
    assert not os.path.exists(second), "a job ran on a drained node"

    machine.become()
    waiting.until(lambda: os.path.exists(second), "the node to come back: %s" % (cluster.state(),))
    assert not cluster.state()[0].startswith("drain")


def test_reason_of_somebody_else_stays(cluster, machine):
    cluster.run("scontrol", "update", "NodeName=" + cluster.host, "State=DRAIN", "Reason=disk broken")
    time.sleep(6)
    assert cluster.state() == ("drained", "disk broken")
    machine.become("driver unloaded")
    time.sleep(6)
    assert cluster.state() == ("drained", "disk broken")


@pytest.mark.parametrize("edit, rule", DEAD)
def test_prolog_refuses_a_dead_gpu(edit, rule, machine):
    machine.become(edit)
    status, text = output(["sh", machine.contrib("slurm/prolog")])
    assert status == 1 and rule in text, text


def test_prolog_statuses(machine):
    need("sh")
    prolog = machine.contrib("slurm/prolog")
    status = lambda: subprocess.run(["sh", prolog], stderr=subprocess.DEVNULL).returncode
    assert status() == 0
    machine.become("driver unloaded")
    assert status() == 1
    machine.become('file /etc/nvnodecheck.conf text="[report]\\nnonsense = 1\\n"')
    assert status() == 0, "a slip in our own configuration must not drain the fleet"
