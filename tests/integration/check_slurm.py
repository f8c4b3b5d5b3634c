# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld, slurmd and munge on loopback: a well node runs a job, one that is not drains with its reason
before the job starts, and comes back when it is well."""
import os
import subprocess
import time

import pytest

from conftest import DEAD, need
from lib import waiting
from slurm_cluster import HOST, Cluster

MORE = """
Prolog={prolog}
PrologFlags=Alloc
HealthCheckProgram={health}
HealthCheckInterval=2
HealthCheckNodeState=ANY
"""


def with_our_slurm(machine, name):
    """A file of contrib/slurm; slurmd gives neither of them our slurm.conf."""
    path = machine.contrib("slurm/" + name)
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace("#!/bin/sh\n", "#!/bin/sh\nexport SLURM_CONF=%s/slurm.conf PATH=%s\n" % (
            machine.folder, os.environ["PATH"]), 1))
    return path


@pytest.fixture
def cluster(machine):
    cluster = Cluster(machine.folder, [HOST], MORE.format(prolog=with_our_slurm(machine, "prolog"),
                                                          health=with_our_slurm(machine, "health")))
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
    cluster.run("scontrol", "update", "NodeName=" + HOST, "State=DRAIN", "Reason=disk broken")
    time.sleep(6)
    assert cluster.state() == ("drained", "disk broken")
    machine.become("driver unloaded")
    time.sleep(6)
    assert cluster.state() == ("drained", "disk broken")


def test_prolog_statuses(machine):
    need("sh")
    prolog = machine.contrib("slurm/prolog")
    status = lambda: subprocess.run(["sh", prolog], stderr=subprocess.DEVNULL).returncode
    assert status() == 0
    machine.become("driver unloaded")
    assert status() == 1
    machine.become('file /etc/nvnodecheck.conf text="[report]\\nnonsense = 1\\n"')
    assert status() == 0, "a slip in our own configuration must not drain the fleet"
