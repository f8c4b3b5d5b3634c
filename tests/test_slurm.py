# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/slurm: a process that a user left on a GPU is found whatever it does to its names."""
import ctypes
import os
import re
import signal
import stat
import subprocess

import pytest

from lib import program

CONTRIB = os.path.join(program.TOP, "contrib", "slurm")
UID = 4711
PR_SET_NAME = 15
# A line's end, and what looks like the fields behind the name.
NAME = b"x) S 1\n2 3) R 4"
MAJOR, MINOR = 0xc3, 7

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="processes of another user need root")


class Slurm:
    """The scripts with commands that write down how they were called, and with paths below FOLDER."""

    def __init__(self, folder):
        self.folder = str(folder)
        for name in ("scontrol", "sinfo", "nvnodecheck", "logger"):
            said = "echo 'idle|none'" if name == "sinfo" else ":"
            self.write(name, "#!/bin/sh\necho %s \"$@\" >> %s/calls\n%s\n" % (name, self.folder, said), 0o755)
        self.write("calls", "")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)

    def read(self, name):
        if not os.path.exists(self.path(name)):
            return ""
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run(self, name, status=0, **variables):
        with open(os.path.join(CONTRIB, name), encoding="utf-8") as file:
            text = file.read()
        text = text.replace("/run/nvnodecheck-left-over", self.path("left-over"))
        text = text.replace("/etc/subuid", self.path("subuid"))
        text = text.replace("/run/nvnodecheck-prolog-failed", self.path("prolog-failed"))
        text = text.replace("/usr/sbin/nvnodecheck", self.path("nvnodecheck")).replace("wait_s=10", "wait_s=1")
        self.write("script", text.replace("/etc/slurm/nvnodecheck-health", self.path("none")), 0o755)
        ran = subprocess.run(["sh", self.path("script")], check=False, timeout=program.TIMEOUT_S, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, env=dict(
                                 os.environ, PATH=self.folder + ":" + os.environ["PATH"], **variables))
        assert ran.returncode == status and bool(ran.stdout) == bool(status), (ran.returncode, ran.stdout)
        return self


@pytest.fixture
def slurm(tmp_path):
    return Slurm(tmp_path)


class Process:
    """Of user UID, called NAME, which holds the device PATH; none where PATH is None."""

    def __init__(self, path, uid=UID):
        ready, done = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                if path:
                    os.open(path, os.O_PATH)
                os.setgid(uid)
                os.setuid(uid)
                ctypes.CDLL(None).prctl(PR_SET_NAME, NAME, 0, 0, 0)
                os.write(done, b".")
                while True:
                    signal.pause()
            finally:
                os._exit(1)
        os.close(done)
        assert os.read(ready, 1) == b"."
        os.close(ready)

    def start(self):
        with open("/proc/%d/stat" % self.pid, "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def device(slurm, minor):
    """A GPU's device under a name of the user's: what a bind mount makes."""
    path = slurm.path("innocent-%x" % minor)
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(MAJOR, minor))
    return path


def test_a_gpu_under_another_name(slurm):
    with Process(device(slurm, MINOR)) as process:
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        fields = slurm.read("left-over").splitlines()
        assert fields == ["%d %s 17 xS123R4" % (process.pid, process.start())], fields


def test_subordinate_users(slurm):
    """Processes in a container of the user's; those of other users are not the job's."""
    slurm.write("subuid", "someone:100000:65536\n%d:200000:65536\n" % UID)
    with Process(device(slurm, MINOR), uid=200033) as own, Process(device(slurm, MINOR + 1), uid=100033):
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        assert [line.split()[0] for line in slurm.read("left-over").splitlines()] == [str(own.pid)]


def test_what_cannot_be_looked_at_counts(slurm):
    """A find that was killed has not seen the end."""
    slurm.write("find", "#!/bin/sh\ncase $* in *status*|*cgroup*|*uid_map*) exec /usr/bin/find \"$@\" ;; esac\nkill -9 $$\n", 0o755)
    with Process(None) as process:
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        assert slurm.read("left-over").startswith("%d " % process.pid), slurm.read("left-over")


@pytest.mark.parametrize("held", ["nothing", "nvidiactl", "another device"])
def test_what_is_no_gpu(held, slurm):
    with Process({"nothing": None, "another device": "/dev/null"}.get(held, device(slurm, 0xff))):
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        assert not slurm.read("left-over")


def test_health_finds_it_again(slurm):
    """Its name has a line's end and fields in it, and the time of its start is still found behind it."""
    with Process(None) as process:
        slurm.write("left-over", "%d %s 17 x\n" % (process.pid, process.start()))
        slurm.run("health", SLURMD_NODENAME="n1")
        assert re.search("scontrol update NodeName=n1 State=DRAIN Reason=nvnodecheck: job 17 left x \\(PID %d\\) on a GPU"
                         % process.pid, slurm.read("calls")), slurm.read("calls")
    slurm.write("calls", "")
    slurm.run("health", SLURMD_NODENAME="n1")
    assert "DRAIN" not in slurm.read("calls") and not slurm.read("left-over")


@pytest.mark.parametrize("ended, failed", [(0, 0), (1, 1), (2, 0), (3, 1), (4, 0), (5, 1), (126, 1), (127, 1), (134, 1),
                                           (137, 1), (139, 1), (143, 1)])
def test_prolog_fails_without_a_check(ended, failed, slurm):
    """A check that was killed, that crashed or that is not there found nothing, and says nothing."""
    slurm.write("nvnodecheck", "#!/bin/sh\nexit %d\n" % ended, 0o755)
    slurm.run("prolog", status=failed, SLURM_JOB_ID="17")
    assert bool(slurm.read("prolog-failed")) == bool(failed)
    if ended > 3 and failed:
        assert "status %d" % ended in slurm.read("prolog-failed")
