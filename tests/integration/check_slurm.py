# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld, slurmd and munge on loopback: a well node runs a job, one that is not drains with its reason
before the job starts, and comes back when it is well."""
import os
import shutil
import stat
import subprocess
import sys
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
Epilog={epilog}
"""
USER = "nobody"	# root's processes belong to the node


def with_our_slurm(machine, name):
    """A file of contrib/slurm; slurmd gives none of them our slurm.conf. This machine has no GPU."""
    path = machine.contrib("slurm/" + name)
    with open(path) as file:
        text = file.read()
    for theirs, ours in (("/run/nvnodecheck-left-over", "left-over"), ("=/dev/nvidia", "=%s/gpu" % machine.folder),
                         ("/run/nvnodecheck-prolog-failed", "prolog-failed"),
                         ("/etc/slurm/nvnodecheck-health", "health")):
        text = text.replace(theirs, ours if ours[0] == "=" else os.path.join(machine.folder, ours))
    with open(path, "w") as file:
        file.write(text.replace("#!/bin/sh\n", "#!/bin/sh\nexport SLURM_CONF=%s/slurm.conf PATH=%s\n" % (
            machine.folder, os.environ["PATH"]), 1))
    return path


@pytest.fixture
def cluster(machine):
    cluster = Cluster(machine.folder, [HOST], MORE.format(prolog=with_our_slurm(machine, "prolog"),
                                                          health=with_our_slurm(machine, "health"),
                                                          epilog=with_our_slurm(machine, "epilog")))
    try:
        cluster.begin()
        yield cluster
    finally:
        cluster.end()


@pytest.mark.parametrize("sinfo, said", [
    ("echo 'drained|2026-01-02T03:04:05|disk is broken'", []), ("exit 1", []), ("exit 124", []),
    ("echo 'idle|Unknown|none'", ["update", "NodeName=n1", "State=DRAIN"])])
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


# ---- what a job leaves ----

@pytest.fixture
def gpu(machine):
    """By its number a device of NVIDIA's, which no driver opens here."""
    path = machine.folder + "/gpu0"
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(0xc3, 7))
    os.chmod(path, 0o666)
    return path


def submit_as_user(cluster, command):
    out = cluster.run("sbatch", "--parsable", "--uid=" + USER, "-D", "/tmp", "-o", "/dev/null", "--wrap=" + command)
    assert out.isdigit(), out
    return out


def hold(path, **more):
    """A process that has the GPU open, as far as that is possible without a driver."""
    code = "import os; os.set_inheritable(os.open(%r, os.O_PATH), True); os.execvp('sleep', ['sleep', '1000'])" % path
    return subprocess.Popen([sys.executable, "-c", code], **more)


def test_process_left_on_a_gpu_drains_until_it_ends(cluster, machine, gpu):
    """One of the job's user that Slurm does not know, as after a step that got out of its container."""
    left = hold(gpu, user=USER)
    try:
        job = submit_as_user(cluster, "true")
        reason = "nvnodecheck: job %s left sleep (PID %d) on a GPU" % (job, left.pid)
        waiting.until(lambda: cluster.state()[1] == reason, "a node that is drained for the process: %s" %
                      (cluster.state(),))
        time.sleep(5)
        assert cluster.state() == ("drained", reason)
    finally:
        left.kill()
        left.wait()
    waiting.until(lambda: cluster.state()[0] == "idle", "the node to come back")


def test_what_is_not_left_over(cluster, machine, gpu):
    """Processes of root, of a job that still runs, and without a GPU."""
    done = machine.folder + "/done"
    others = [hold(gpu), hold("/dev/null", user=USER)]
    try:
        submit_as_user(cluster, "sleep 8 <%s" % gpu)
        waiting.until(lambda: "R" in cluster.run("squeue", "-h", "-o", "%t"), "the first job to run")
        env = dict(cluster.env, SLURM_JOB_ID="1", SLURM_JOB_UID="65534")
        subprocess.run([machine.folder + "/epilog"], env=env, check=True)
        assert not os.path.exists(machine.folder + "/left-over")
        submit(cluster, done)
        waiting.until(lambda: os.path.exists(done), "a second job")
        assert cluster.state()[0] in ("idle", "mixed", "allocated", "completing"), cluster.state()
    finally:
        for process in others:
            process.kill()
            process.wait()


def test_epilog_drains_for_what_a_job_broke(machine):
    """With the reason, and without waiting for the next interval; an epilog itself never fails."""
    for name, text in (("sinfo", "echo 'completing|Unknown|none'"), ("scontrol", 'echo "$@" >> %s/said' % machine.folder)):
        path = os.path.join(machine.folder, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n%s\n" % text)
        os.chmod(path, 0o755)
    os.environ["PATH"], path = machine.folder + ":" + os.environ["PATH"], os.environ["PATH"]
    try:
        with_our_slurm(machine, "health")
        epilog = with_our_slurm(machine, "epilog")
    finally:
        os.environ["PATH"] = path
    run = lambda: subprocess.run([epilog], env={"SLURM_JOB_UID": "65534", "SLURMD_NODENAME": "n1"}, check=True)
    run()
    assert not os.path.exists(machine.folder + "/said")
    machine.become(DEAD[0][0])
    run()
    with open(machine.folder + "/said") as file:
        said = file.read()
    assert said.startswith("update NodeName=n1 State=DRAIN Reason=nvnodecheck: log/xid"), said


def test_epilog_leaves_an_administrators_reason(cluster, machine, gpu):
    left = hold(gpu, user=USER)
    try:
        submit_as_user(cluster, "sleep 3")
        waiting.until(lambda: "R" in cluster.run("squeue", "-h", "-o", "%t"), "the job to run")
        cluster.run("scontrol", "update", "NodeName=" + HOST, "State=DRAIN", "Reason=disk broken")
        waiting.until(lambda: os.path.exists(machine.folder + "/left-over"), "the epilog")
        time.sleep(4)
        assert cluster.state() == ("drained", "disk broken")
    finally:
        left.kill()
        left.wait()
    time.sleep(4)
    assert cluster.state() == ("drained", "disk broken")


# ---- what a prolog leaves ----

def test_prolog_error_is_explained_and_resumed(cluster, machine):
    """Where the node is healthy again before slurm/health looks at it: first the reason, then the node."""
    seen = machine.folder + "/seen"
    # The prolog finds something, once. While the test looks, slurm/health does not run.
    machine.program_does("[ ! -e %s.hold ] || exec sleep 3\n[ -z \"$SLURM_JOB_ID\" ] || [ -e %s ] || "
                         "{ touch %s %s.hold; echo 'driver/loaded: for a moment'; exit 1; }\n%s" % (
                             seen, seen, seen, seen, machine.look))
    job = submit(cluster, machine.folder + "/done")
    waiting.until(lambda: cluster.state()[1] == "Prolog error", "Slurm's own reason")
    assert "held" in cluster.run("squeue", "-h", "-j", job, "-o", "%r")
    os.unlink(seen + ".hold")
    waiting.until(lambda: cluster.state()[1] == "nvnodecheck: driver/loaded: for a moment",
                  "the reason of the prolog: %s" % (cluster.state(),))
    waiting.until(lambda: cluster.state()[0] == "idle", "the node to come back: %s" % (cluster.state(),))
    assert not os.path.exists(machine.folder + "/prolog-failed")


def test_prolog_error_of_another_prolog_stays(cluster, machine):
    """Also where ours failed long before."""
    with open(machine.folder + "/prolog-failed", "w") as file:
        file.write("%d driver/loaded: long ago\n" % (time.time() - 3600))
    prolog = machine.folder + "/prolog"
    with open(prolog, "w") as file:
        file.write("#!/bin/sh\nexit 1\n")
    submit(cluster, machine.folder + "/done")
    waiting.until(lambda: cluster.state()[1] == "Prolog error", "Slurm's own reason")
    time.sleep(6)
    assert cluster.state() == ("drained", "Prolog error")


def test_commands_beside_slurmd(machine):
    """Slurm that is not of the distribution, and gives its programs no PATH."""
    for folder in ("sbin", "bin"):
        os.mkdir(os.path.join(machine.folder, folder))
    slurmd = machine.folder + "/sbin/slurmd"
    shutil.copy("/bin/sh", slurmd)
    said = machine.folder + "/said"
    for name, text in (("sinfo", "echo 'idle|Unknown|none'"), ("scontrol", 'echo "$@" >> %s' % said)):
        path = os.path.join(machine.folder, "bin", name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n%s\n" % text)
        os.chmod(path, 0o755)
    health = machine.contrib("slurm/health")
    machine.become("driver unloaded")
    subprocess.run([slurmd, "-c", health + "; exit $?"], env={"SLURMD_NODENAME": "n1"}, check=True)
    with open(said) as file:
        assert file.read().startswith("update NodeName=n1 State=DRAIN Reason=nvnodecheck: ")


def test_prolog_statuses(machine):
    need("sh")
    prolog = with_our_slurm(machine, "prolog")
    status = lambda: subprocess.run(["sh", prolog], stderr=subprocess.DEVNULL).returncode
    assert status() == 0
    machine.become("driver unloaded")
    assert status() == 1
    machine.become('file /etc/nvnodecheck.conf text="[report]\\nnonsense = 1\\n"')
    assert status() == 0, "a slip in our own configuration must not drain the fleet"
