# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/slurm: a process that a user left on a GPU is found whatever it does to its names."""
import ctypes
import mmap
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import threading

import pytest

from lib import program, waiting

CONTRIB = os.path.join(program.TOP, "contrib", "slurm")
# Of this run alone: another one on this machine has its own.
UID = 1000000 + os.getpid()
SUB = 500000000 + 16 * os.getpid()
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
LIFE_S = 120	# of a process that a test starts
# A line's end, and what looks like the fields behind the name.
NAME = b"x) S 1\n2 3) R 4"
# A number of this run alone, in place of 195: processes of other users count, too.
MAJOR, MINOR = 0x200 + os.getpid() % 0xd00, 7

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="processes of another user need root")


class Slurm:
    """The scripts with commands that write down how they were called, and with paths below FOLDER."""

    services = ""	# that have a GPU open on purpose

    def __init__(self, folder):
        self.folder = str(folder)
        for name in ("scontrol", "sinfo", "nvnodecheck", "logger"):
            said = {"sinfo": "echo 'idle|none'", "scontrol": "[ \"$1\" != listpids ]"}.get(name, ":")
            self.write(name, "#!/bin/sh\necho %s \"$@\" >> %s/calls\n%s\n" % (name, self.folder, said), 0o755)
        self.write("calls", "")
        self.write("devices", "Character devices:\n  1 mem\n")

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
        for theirs, ours in (("/run/nvnodecheck-left-over", "left-over"), ("/etc/subuid", "subuid"),
                             ("/run/nvnodecheck-epilog", "work"), ("/etc/nsswitch.conf", "nsswitch.conf"),
                             ("/run/nvnodecheck-prolog-failed", "prolog-failed"), ("/usr/sbin/nvnodecheck", "nvnodecheck"),
                             ("/etc/slurm/epilog.d/nvnodecheck", "epilog"), ("/etc/slurm/nvnodecheck-health", "none"),
                             ("/proc/devices", "devices"), ("/sys/class/drm", "drm")):
            text = text.replace(theirs, self.path(ours))
        text = re.sub("services='.*'", "services='%s'" % self.services, text)
        text = text.replace("major=c3", "major=%x" % MAJOR)
        self.write(name, text.replace("wait_s=10", "wait_s=1"), 0o755)
        ran = subprocess.run(["sh", self.path(name)], check=False, timeout=program.TIMEOUT_S, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, env=dict(
                                 os.environ, PATH=self.folder + ":" + os.environ["PATH"], **variables))
        assert ran.returncode == status and bool(ran.stdout) == bool(status), (ran.returncode, ran.stdout)
        return self


@pytest.fixture
def slurm(tmp_path):
    return Slurm(tmp_path)


class Process:
    """Of user UID, called NAME, which holds the device PATH; none where PATH is None."""

    def __init__(self, path, uid=UID, hold=None, stay=signal.pause):
        ready, done = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                # However this test ends, the process does too.
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.alarm(LIFE_S)
                (hold or self.hold)(path)
                os.setgid(uid)
                os.setuid(uid)
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
                ctypes.CDLL(None).prctl(PR_SET_NAME, NAME, 0, 0, 0)
                os.write(done, b".")
                while True:
                    stay()
            finally:
                os._exit(1)
        os.close(done)
        assert os.read(ready, 1) == b"."
        os.close(ready)

    @staticmethod
    def hold(path):
        if path:
            os.open(path, os.O_PATH)

    def start(self):
        with open("/proc/%d/stat" % self.pid, "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def device(slurm, minor, major=MAJOR):
    """A GPU's device under a name of the user's: what a bind mount makes."""
    path = slurm.path("innocent-%x-%x" % (major, minor))
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
    return path


def test_a_gpu_under_another_name(slurm):
    with Process(device(slurm, MINOR)) as process:
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        fields = slurm.read("left-over").splitlines()
        assert fields == ["%d %s 17 xS123R4" % (process.pid, process.start())], fields


def test_subordinate_users(slurm):
    """Processes in a container of the user's; those of other users are not the job's, and have a GPU, too."""
    slurm.write("subuid", "someone:%d:8\n%d:%d:8\n" % (SUB + 8, UID, SUB))
    with Process(device(slurm, MINOR), uid=SUB + 7) as own, Process(device(slurm, MINOR + 1), uid=SUB + 8) as other:
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        first, second = slurm.read("left-over").splitlines()
        assert first.split()[0] == str(own.pid) and second == lent(other, SUB + 8), (first, second)


def lent(process, uid):
    return "? %d 17 xS123R4 (PID %d, user %d) has one open; end or restart it" % (UID, process.pid, uid)


SYSTEM = 999 - os.getpid() % 100	# a user of a daemon


@pytest.mark.parametrize("uid, services, found", [("system", "", True), ("system", "NAME", False), ("another", "NAME", True),
                                                  ("root", "", False)])
def test_daemons_with_a_gpu(uid, services, found, slurm):
    """What a user gave to a daemon, as dbus-daemon has it. Those of the list have one on purpose, and root's."""
    name = os.path.basename(os.readlink("/proc/self/exe"))
    uid = {"system": SYSTEM, "another": SUB + 9, "root": 0}[uid]
    slurm.services = services.replace("NAME", name)
    with Process(device(slurm, MINOR), uid=uid) as process:
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        assert slurm.read("left-over") == (lent(process, uid) + "\n" if found else "")
        slurm.run("health", SLURMD_NODENAME="n1")
        assert ("DRAIN" in slurm.read("calls")) == found
    slurm.write("calls", "")
    slurm.run("health", SLURMD_NODENAME="n1")
    assert "DRAIN" not in slurm.read("calls") and not slurm.read("left-over")


@pytest.mark.parametrize("kept, upgraded, found", [("NAME", True, False), ("OTHER", True, True), ("NAME", False, False)])
def test_a_daemon_whose_package_was_upgraded(kept, upgraded, found, slurm):
    """Its program is "NAME (deleted)" then. Another deleted program is in no list."""
    name = slurm.path("persistenced-%d" % os.getpid())
    shutil.copyfile("/bin/sleep", name)
    os.chmod(name, 0o755)
    slurm.services = kept.replace("NAME", os.path.basename(name))
    fds = [os.open(device(slurm, MINOR), os.O_PATH), os.open(name, os.O_PATH)]
    # By its descriptor: the folder is closed to that user.
    with subprocess.Popen(["/proc/self/fd/%d" % fds[1], str(LIFE_S)], pass_fds=fds, user=SYSTEM) as process:
        for fd in fds:
            os.close(fd)
        try:
            waiting.until(lambda: os.readlink("/proc/%d/exe" % process.pid) == name, "the program")
            if upgraded:
                os.unlink(name)
            slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
            assert ("(PID %d, " % process.pid in slurm.read("left-over")) == found, slurm.read("left-over")
        finally:
            process.kill()


def end_of_a_thread():
    """Of the caller alone; the process has others."""
    ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)


def with_a_thread(hold):
    def held(path):
        hold(path)
        threading.Thread(target=threading.Event().wait, args=(LIFE_S,), daemon=True).start()
    return held


@pytest.mark.parametrize("uid", [UID, SUB + 9, SYSTEM], ids=["user", "subordinate", "system"])
def test_a_process_without_a_first_thread(uid, slurm):
    """/proc/PID/fd is empty then, and the other threads have what was open."""
    with Process(device(slurm, MINOR), uid=uid, hold=with_a_thread(Process.hold), stay=end_of_a_thread) as process:
        waiting.until(lambda: has_state(process, "Z"), "the end of the first thread")
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        first = slurm.read("left-over").splitlines()[0]
        assert first.split()[0] == str(process.pid) if uid == UID else first == lent(process, uid), first


def test_a_queue_without_a_first_thread(slurm):
    hold = with_a_thread(in_flight)
    with Process(device(slurm, MINOR), uid=SYSTEM, hold=hold, stay=end_of_a_thread) as process:
        waiting.until(lambda: has_state(process, "Z"), "the end of the first thread")
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        assert lent(process, SYSTEM) in slurm.read("left-over").splitlines()


def test_no_gpu_without_a_first_thread(slurm):
    """Its list is as long as that of others, and it has no GPU."""
    with Process("/dev/null", uid=SUB + 9, hold=with_a_thread(Process.hold), stay=end_of_a_thread) as process:
        waiting.until(lambda: has_state(process, "Z"), "the end of the first thread")
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        assert not slurm.read("left-over")


def has_state(process, state):
    with open("/proc/%d/status" % process.pid, encoding="utf-8") as file:
        return "\nState:\t" + state in file.read()


def test_a_queue_of_a_daemon(slurm):
    """A socket in whose queue a GPU waits, given to a daemon."""
    with Process(device(slurm, MINOR), uid=SYSTEM, hold=in_flight) as process:
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        assert lent(process, SYSTEM) in slurm.read("left-over").splitlines()


def test_a_set_uid_program_of_a_user(slurm):
    """sudo runs as root, and has the descriptors of the user who started it."""
    program_file = slurm.path("asks-for-a-password")
    shutil.copyfile("/bin/sleep", program_file)
    os.chmod(program_file, 0o4755)
    fd = os.open(device(slurm, MINOR), os.O_PATH)
    with subprocess.Popen([program_file, str(LIFE_S)], pass_fds=[fd]) as process:
        os.close(fd)
        try:
            waiting.until(lambda: os.readlink("/proc/%d/exe" % process.pid) == program_file, "the program")
            slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
            assert "(PID %d, user 0)" % process.pid in slurm.read("left-over"), slurm.read("left-over")
        finally:
            process.kill()


@pytest.mark.parametrize("name, other, found", [
    ("nvidia-uvm", False, True), ("gdrdrv", False, True), ("nvidia-fs", False, True), ("nvidia-caps", False, False),
    ("infiniband_verbs", False, True), ("nvidia-uvm", True, True), ("infiniband_verbs", True, False),
    ("nvidia", False, True), ("ast", False, False), ("nvidia", True, True)])
def test_devices_that_keep_memory(name, other, found, slurm):
    """Of the driver's modules, with numbers that change at each boot; of DRM's nodes only those of the driver."""
    major = 0xf00 + os.getpid() % 0xff
    if name in ("nvidia", "ast"):
        os.makedirs(slurm.path("drm/card1/device"))
        os.symlink("../../../bus/pci/drivers/" + name, slurm.path("drm/card1/device/driver"))
        slurm.write("drm/card1/dev", "%d:%d\n" % (major, MINOR))
    else:
        slurm.write("devices", "Character devices:\n  1 mem\n%d %s\n\nBlock devices:\n  8 sd\n" % (major, name))
    with Process(device(slurm, MINOR, major), uid=SYSTEM if other else UID) as process:
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        assert ((" %d," if other else "%d ") % process.pid in slurm.read("left-over")) == found, slurm.read("left-over")


NAMED = "#!/bin/sh\n[ \"$2\" ] && echo someone || echo 0\n"	# id(1)
KILLED = "#!/bin/sh\ncase $* in %s) kill -9 $$ ;; esac\nexec /usr/bin/%s \"$@\"\n"


@pytest.mark.parametrize("command, args", [("stat", "*"), ("grep", "*scm_fds*"), ("grep", "*io_uring*"), ("xargs", "*stat*")])
def test_what_cannot_be_looked_at_counts(command, args, slurm):
    """A command that was killed has not seen the end."""
    slurm.write(command, KILLED % (args, command), 0o755)
    with Process(None) as process:
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        assert slurm.read("left-over").startswith("%d " % process.pid), slurm.read("left-over")


@pytest.mark.parametrize("command, args, said", [
    ("grep", "*Uid*", "/proc/PID/status"), ("xargs", "*job_17*", "/proc/PID/cgroup"), ("grep", "*UID*+*", "/proc/PID/uid_map"),
    ("awk", "*own=*", "processes of the user"), ("sort", "*", "processes of the user"), ("scontrol", "listpids", "scontrol"),
    ("getsubids", "*", "subordinate ids")])
def test_what_is_not_known_is_no_free_gpu(command, args, said, slurm):
    """The node drains, and is looked at again."""
    slurm.write("nsswitch.conf", "subid: sss\n")
    slurm.write("getsubids", "#!/bin/sh\nexit 1\n", 0o755)
    slurm.write("id", NAMED, 0o755)
    before = slurm.read(command)
    after = before.partition("\n")[2] or 'exec /usr/bin/%s "$@"\n' % command
    slurm.write(command, "#!/bin/sh\ncase $* in %s) kill -9 $$ ;; esac\n%s" % (args.replace("UID*+", "%d*+" % UID), after), 0o755)
    with Process(device(slurm, MINOR) if command == "scontrol" else None):
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        lines = slurm.read("left-over").splitlines()
        assert lines and all(line.startswith("? %d 17 " % UID) for line in lines) and said in lines[0], lines
        slurm.run("health", SLURMD_NODENAME="n1")
        assert "State=DRAIN Reason=nvnodecheck: job 17: a process may have been left on a GPU: " in slurm.read("calls")
        assert slurm.read("left-over")
    slurm.write("calls", "")
    os.unlink(slurm.path(command))
    if before:
        slurm.write(command, before, 0o755)
    slurm.run("health", SLURMD_NODENAME="n1")
    assert "DRAIN" not in slurm.read("calls") and not slurm.read("left-over")


def found_by_epilog(slurm, process):
    slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID=str(UID))
    return [line.split()[0] for line in slurm.read("left-over").splitlines()] == [str(process.pid)]


KEPT = []	# what would be closed with its variable


def in_flight(path):
    """Sent to itself and closed: it is in no table of descriptors, and the GPU is still open."""
    pair, fd = socket.socketpair(), os.open(path, os.O_PATH)
    socket.send_fds(pair[0], [b"x"], [fd])
    os.close(fd)
    KEPT.append(pair)


def of_a_thread(path):
    """A thread takes a copy of the table, and the first one closes its own."""
    fd, ready = os.open(path, os.O_PATH), threading.Event()

    def hold():
        assert ctypes.CDLL(None).unshare(0x400) == 0	# CLONE_FILES
        ready.set()
        threading.Event().wait(LIFE_S)
    threading.Thread(target=hold, daemon=True).start()
    assert ready.wait(LIFE_S)
    os.close(fd)


def ring():
    ring = ctypes.CDLL(None).syscall(425, 4, ctypes.byref(ctypes.create_string_buffer(120)))
    os.set_inheritable(ring, True)
    return ring


def registered(_):
    """With an io_uring. It takes no descriptor of O_PATH, so another file stands for the GPU."""
    files = (ctypes.c_int * 1)(os.open("/dev/null", os.O_RDONLY))
    fd = ring()
    assert ctypes.CDLL(None).syscall(427, fd, 2, ctypes.byref(files), 1) == 0	# IORING_REGISTER_FILES
    os.close(files[0])


def mapped(_):
    fd = ring()
    KEPT.append(mmap.mmap(fd, 4096))
    os.close(fd)


def has_rings():
    try:
        os.close(ring())
    except OSError:
        return False
    return True


@pytest.mark.parametrize("hold", [in_flight, of_a_thread, registered, mapped])
def test_descriptors_in_no_table(hold, slurm):
    if hold in (registered, mapped) and not has_rings():
        pytest.skip("this kernel offers no io_uring")
    with Process(device(slurm, MINOR), hold=hold) as process:
        assert found_by_epilog(slurm, process), slurm.read("left-over")


def test_a_mapping_of_a_user_namespace(slurm):
    """Its user is not the job's, and no subordinate one; the first of its namespace is the job's."""
    with Process(device(slurm, MINOR + 1), uid=0) as other:
        assert not found_by_epilog(slurm, other)

    def into_a_namespace(path):
        os.open(path, os.O_PATH)
        here, there = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:	# who may write the map
            os.read(here[0], 1)
            with open("/proc/%d/uid_map" % os.getppid(), "w", encoding="ascii") as file:
                file.write("0 %d 1\n%d %d 1\n" % (UID, UID, SUB))
            os.write(there[1], b".")
            os._exit(0)
        if ctypes.CDLL(None).unshare(0x10000000):	# CLONE_NEWUSER
            os._exit(1)
        os.write(here[1], b".")
        os.read(there[0], 1)
        os.waitpid(pid, 0)
        os.setgid = lambda gid: None	# no group has a mapping
    with Process(device(slurm, MINOR), hold=into_a_namespace) as process:
        with open("/proc/%d/status" % process.pid, encoding="utf-8") as file:
            assert "\nUid:\t%d\t" % SUB in file.read()
        assert found_by_epilog(slurm, process), slurm.read("left-over")


def control_group(name):
    """A new one, of version 2 or of a hierarchy of version 1."""
    for above in ("", "/unified", "/systemd", "/freezer"):
        group = "/sys/fs/cgroup%s/%s" % (above, name)
        try:
            os.mkdir(group)
        except OSError:
            continue
        if os.path.exists(group + "/cgroup.procs"):
            return group
        os.rmdir(group)	# of a tmpfs
    return pytest.skip("no control group can be made")


@pytest.mark.parametrize("name", ["job_UID", "user-UID.slice", "uid_UID"])
def test_processes_of_a_control_group(name, slurm):
    """Another user's, by a set-uid program."""
    group = control_group(name.replace("UID", str(UID)))
    try:
        with Process(device(slurm, MINOR), uid=SUB + 9) as process:
            with open(group + "/cgroup.procs", "w", encoding="ascii") as file:
                file.write("%d\n" % process.pid)
            assert found_by_epilog(slurm, process), slurm.read("left-over")
    finally:
        waiting.until(lambda: not open(group + "/cgroup.procs", encoding="ascii").read(), "the group to be empty")
        os.rmdir(group)


@pytest.mark.parametrize("nsswitch, found", [("subid: sss\n", True), ("passwd: files\n", False)])
def test_subordinate_users_of_a_directory(nsswitch, found, slurm):
    """getsubids(1) prints "0: NAME START COUNT"."""
    slurm.write("nsswitch.conf", nsswitch)
    slurm.write("id", NAMED, 0o755)
    slurm.write("getsubids", "#!/bin/sh\n[ \"$1\" = someone ] && echo '0: someone %d 8'\n" % SUB, 0o755)
    with Process(device(slurm, MINOR), uid=SUB + 7) as process:
        assert found_by_epilog(slurm, process) == found, slurm.read("left-over")


@pytest.mark.parametrize("name, listed, found", [("CORP\\alice", "CORP\\alice", True), ("CORP\\alice", "CORPalice", False),
                                                 ("1e3", "1000", False)])
def test_names_that_awk_would_read(name, listed, found, slurm):
    """A directory's names have a backslash; a name that looks like a number is a text."""
    slurm.write("id", "#!/bin/sh\n[ \"$2\" ] && printf '%%s\\n' '%s' || echo 0\n" % name, 0o755)
    slurm.write("subuid", "%s:%d:8\n" % (listed, SUB))
    with Process(device(slurm, MINOR), uid=SUB + 3) as process:
        assert found_by_epilog(slurm, process) == found, slurm.read("left-over")


@pytest.mark.parametrize("minor", [0, 0xfe, 0xff])
def test_each_device_of_the_driver(minor, slurm):
    """GPU memory belongs to the descriptor of nvidiactl, which is minor ff: /dev/nvidia0 may be closed."""
    with Process(device(slurm, minor)) as process:
        assert found_by_epilog(slurm, process), slurm.read("left-over")


@pytest.mark.parametrize("held", [None, "/dev/null"])
def test_what_is_no_gpu(held, slurm):
    with Process(held):
        slurm.run("epilog", SLURM_JOB_UID=str(UID), SLURM_JOB_ID="17")
        assert not slurm.read("left-over") and "scontrol" not in slurm.read("calls")


def test_processes_of_a_job_that_runs(slurm):
    with Process(device(slurm, MINOR)) as process:
        slurm.write("scontrol", "#!/bin/sh\necho PID JOBID\necho %d 18\n" % process.pid, 0o755)
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


@pytest.mark.parametrize("doctor,resumes", [(0, True), (1, False), (3, False)], ids=["passes", "fails", "unknown"])
def test_a_node_is_resumed_only_if_its_rule_was_answered(doctor, resumes, slurm):
    """preflight can no longer see the message; doctor asks the journal too."""
    slurm.write("sinfo", "#!/bin/sh\necho 'drained|2026-11-01T00:00:00|nvnodecheck: log/xid GPU0 (0000:19:00.0): Xid 48'\n", 0o755)
    slurm.write("nvnodecheck", "#!/bin/sh\necho nvnodecheck \"$@\" >> %s/calls\n[ \"$1\" = preflight ] || exit %d\n" % (
        slurm.folder, doctor), 0o755)
    slurm.run("health")
    calls = slurm.read("calls")
    assert "nvnodecheck doctor --quiet --strict --only log/xid\n" in calls
    assert ("State=RESUME" in calls) == resumes and "State=DRAIN" not in calls, calls
