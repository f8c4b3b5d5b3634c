# SPDX-License-Identifier: GPL-2.0-or-later
"""preflight: says of a node what doctor says, from fewer facts; is silent, quick to give up, and never
takes what it could not read for well."""
import ctypes
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import threading
import time

import pytest

from lib import node, program, textform

SEVERE = ("err", "crit")


def severe(report):
    return {(f["rule"], f["subject"], f["verdict"]) for f in report["findings"]
            if f["severity"] in SEVERE and f["verdict"] in ("fail", "pending") and not f.get("off")}


def preflight(directory, *args, **more):
    result = program.run("preflight", "--root", directory, *args, **more)
    assert result.status in (0, 1, 3), str(result)
    assert (result.out == "") == (result.status == 0), str(result)
    return result


@pytest.mark.parametrize("name, profile, reason", [
    ("old-nv-peer-mem", "deepep", "driver/version-floor: driver 418.226.00"),
    ("broken-everything", "deepep", "driver/peer-mapping-override: RegistryDwords \"RMNvLinkEnable=0x0\" "
                                    "lacks PeerMappingOverride=1."),
])
def test_a_reason_says_what_is_wanted(name, profile, reason, node_tree):
    """It is all that whoever finds the node drained is shown."""
    lines = preflight(node_tree(name), "--profile", profile).out.splitlines()
    assert any(line.startswith(reason) for line in lines), lines


@pytest.mark.parametrize("name", node.names())
def test_says_nothing_that_doctor_does_not(name, node_tree):
    directory = node_tree(name)
    for profile in ("base", "p2p", "gpudirect-rdma", "deepep"):
        result = program.run("preflight", "--root", directory, "--profile", profile, "--json")
        assert result.status in (0, 1, 3), str(result)
        found = severe(result.json())
        assert found <= severe(program.report(directory, "--profile", profile)), profile


@pytest.mark.parametrize("name", ("hgx-h100-ib", "hgx-h200-roce", "b200-hgx", "no-gpu-server",
                                  "rtx4090-p2p", "vm-h200-passthrough", "grace-gh200-cx8"))
def test_silent_when_well(name, node_tree):
    result = preflight(node_tree(name))
    assert result.status == 0, str(result)
    assert result.err == ""


# ---- never hung ----

DEADLINE_S = 2.0	# PROBE_DEADLINE_MS
# A busy machine. Two deadlines, or the probe's in place of that of --timeout, are later still.
LATE_S = 1.4


def in_time(once, deadline=DEADLINE_S):
    """ONCE() ends in time at one of six tries: it is not the program that keeps a busy machine."""
    took = []
    for _ in range(6):
        start = time.monotonic()
        once()
        took.append(time.monotonic() - start)
        if took[-1] < deadline + LATE_S:
            return
    assert False, took


class Mute:
    """A FUSE file mounted over PATH: it can be opened and never answers a read until release()."""

    def __init__(self, path):
        self.path = path
        self.fd = os.open("/dev/fuse", os.O_RDWR)
        libc = ctypes.CDLL(None, use_errno=True)
        options = "fd=%d,rootmode=100444,user_id=0,group_id=0,allow_other" % self.fd
        if libc.mount(b"mute", path.encode(), b"fuse", 0, options.encode()):
            os.close(self.fd)
            pytest.skip("cannot mount FUSE: %s" % os.strerror(ctypes.get_errno()))
        self.reading = threading.Event()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _reply(self, unique, body=b"", error=0):
        os.write(self.fd, struct.pack("<IiQ", 16 + len(body), -error, unique) + body)

    def _serve(self):
        attributes = struct.pack("<QQQQQQIIIIIIIIII", 1, 4096, 8, 0, 0, 0, 0, 0, 0, 0o100444, 1, 0,
                                 0, 0, 4096, 0)
        while True:
            try:
                request = os.read(self.fd, 1 << 20)
            except OSError:
                return
            if not request:
                return
            _, opcode, unique = struct.unpack_from("<IIQ", request)
            if opcode == 26:	# INIT
                self._reply(unique, struct.pack("<IIIIHHIIHHI28x", 7, 31, 4096, 0, 1, 1, 4096, 0, 0,
                                                0, 0))
            elif opcode == 3:	# GETATTR
                self._reply(unique, struct.pack("<QII", 0, 0, 0) + attributes)
            elif opcode == 14:	# OPEN: past the page cache
                self._reply(unique, struct.pack("<QII", 0, 1, 0))
            elif opcode == 15:	# READ
                self.asked = unique
                self.reading.set()
            elif opcode == 36:	# INTERRUPT: what a wedged driver ignores too
                pass
            elif opcode not in (2, 18):	# FORGET has no answer
                self._reply(unique, error=38)

    def fail(self):
        """Answers the read after all."""
        self._reply(self.asked, error=5)

    def release(self):
        # By force: the read that was never answered fails, and who waits for it can end.
        subprocess.run(["umount", "--force", "--lazy", self.path], check=True)
        os.close(self.fd)


@pytest.fixture
def wedged(scratch):
    """wedged(NODE, PATH): a tree of that node in which reading PATH never ends, and the file."""
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        pytest.skip("needs root and /dev/fuse")
    files = []

    def make(name, path):
        scratch.put(node.copy_of(node.tree_of(name)))
        files.append(Mute(scratch.directory + path))
        return scratch.directory, files[-1]
    yield make
    for file in files:
        file.release()


@pytest.mark.parametrize("path", ("/proc/driver/nvidia/version", "/sys/class/infiniband/mlx5_0/ports/1/state",
                                  "/proc/modules", "/proc/sys/kernel/hostname"))
def test_mute_file_costs_one_deadline(path, wedged):
    directory, _ = wedged("hgx-h100-ib", path)
    def once():
        result = program.run("preflight", "--root", directory)
        assert result.status == 1, str(result)
        assert "node/probe-timed-out" in result.out and path in result.out, str(result)
    in_time(once)


def test_mute_configuration_costs_one_deadline(wedged, scratch):
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    tree.file("/etc/nvnodecheck.conf", "[report]\n")
    scratch.put(tree)
    file = Mute(scratch.directory + "/etc/nvnodecheck.conf")

    def once():
        result = program.run("preflight", "--root", scratch.directory)
        assert result.status == 1 and "/etc/nvnodecheck.conf" in result.out, str(result)
    try:
        in_time(once)
    finally:
        file.release()


@pytest.mark.parametrize("args, status, said", [
    (["capture", "-o", "-"], 0, '{"read":"/proc/sys/kernel/osrelease"'),
    (["fix"], 4, "no repair without the configuration: /etc/nvnodecheck.conf: no answer"),
], ids=["capture", "fix"])
def test_mute_configuration(args, status, said, wedged, scratch):
    """It may say what fix is to leave alone. A capture has the rest, and its pipe comes to an end although the child
    that has it open does not."""
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    tree.file("/etc/nvnodecheck.conf", "[check]\n")
    scratch.put(tree)
    file = Mute(scratch.directory + "/etc/nvnodecheck.conf")
    try:
        result = program.run(*args, "--root", scratch.directory)
    finally:
        file.release()
    assert result.status == status and said in result.out + result.err, str(result)


def test_timeout_bounds_the_whole_run(wedged):
    directory, _ = wedged("hgx-h100-ib", "/proc/driver/nvidia/version")

    def once():
        result = program.run("preflight", "--timeout", "0.3", "--root", directory)
        assert result.status == 1, str(result)
    in_time(once, 0.3)


def test_doctor_too(wedged):
    directory, _ = wedged("hgx-h100-ib", "/proc/driver/nvidia/version")

    def once():
        result = program.run("doctor", "--timeout", "0.5", "--json", "--root", directory)
        assert result.status == 1, str(result)
    in_time(once, 0.5)


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(word) for word in file.read().split()]


def test_stopped_child_costs_one_deadline(wedged):
    directory, file = wedged("hgx-h100-ib", "/proc/driver/nvidia/version")

    def once():
        file.reading.clear()
        process = subprocess.Popen([program.binary(), "preflight", "--root", directory],
                                   stdout=subprocess.PIPE, env=program.environment())
        assert file.reading.wait(30)
        os.kill(children(process.pid)[0], signal.SIGSTOP)
        output = process.communicate(timeout=60)[0].decode()
        assert process.returncode == 1 and "/proc/driver/nvidia/version" in output, output
    in_time(once)


def test_crash_costs_one_section(wedged):
    directory, file = wedged("hgx-h100-ib", "/proc/driver/nvidia/version")
    process = subprocess.Popen([program.binary(), "preflight", "--root", directory],
                               stdout=subprocess.PIPE, env=program.environment())
    # The first crash may be that of a thread which reads for a later probe: the step runs again without one.
    for _ in range(2):
        assert file.reading.wait(30)
        file.reading.clear()
        os.kill(children(process.pid)[0], signal.SIGSEGV)
        file.fail()
    output = process.communicate(timeout=60)[0].decode()
    assert process.returncode == 1, output
    assert "node/probe-timed-out driver: the program that reads it ended early" in output, output
    assert "rdma" not in output, output


def test_fifo_is_not_waited_for(scratch):
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    scratch.put(tree)
    path = scratch.directory + "/proc/driver/nvidia/version"
    os.unlink(path)
    os.mkfifo(path)
    result = program.run("preflight", "--root", scratch.directory)
    os.unlink(path)
    assert result.status == 3 and result.out.startswith("unknown: "), str(result)
    assert "not a regular file" in result.out, str(result)


# ---- what starts this process ----

LAUNCHER = r"""
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct rlimit limit = { 65536, 65536 };
	int status;
	setrlimit(RLIMIT_MEMLOCK, &limit);
	prctl(PR_SET_NAME, "slurmd");
	if (fork() == 0)
		execv(argv[1], argv + 1);
	wait(&status);
	return WEXITSTATUS(status);
}
"""


def test_limit_of_the_launcher_above(node_tree, tmp_path):
    """In a prolog, slurmd is above; a shell's own limit says nothing of jobs."""
    source, slurmd = str(tmp_path / "slurmd.c"), str(tmp_path / "launcher")
    with open(source, "w") as file:
        file.write(LAUNCHER)
    subprocess.run(["cc", "-o", slurmd, source], check=True)
    script = ("mount --bind %s/sys /sys && exec \"$@\"" % node_tree("hgx-h100-ib"))
    enter = ["unshare", "--mount", "--", "sh", "-c", script, "sh"]
    if os.geteuid() or subprocess.run(enter + ["true"], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("needs a mount namespace of its own")
    options = ["--profile", "gpudirect-rdma", "--only", "limits/memlock"]
    own = program.run("preflight", *options, wrap=enter)
    assert own.status == 0, str(own)
    below = program.run("preflight", *options, wrap=enter + [slurmd])
    assert below.status == 1 and below.out.startswith("limits/memlock process slurmd: 64 KiB"), str(below)


# ---- cheap ----

def test_starts_nothing_and_opens_no_device(node_tree, tmp_path):
    if not shutil.which("strace") or program.is_sanitized():
        pytest.skip("strace is not installed")
    log = str(tmp_path / "trace")
    directory = node_tree("hgx-h200-roce")
    result = program.run("preflight", "--root", directory, wrap=["strace", "-f", "-o", log, "-e",
                         "trace=execve,open,openat,openat2,connect,init_module,finit_module"])
    assert result.status == 0, str(result)
    with open(log) as file:
        lines = file.read().splitlines()
    calls = [line for line in lines if " = -1 " not in line]
    assert len([c for c in calls if "execve(" in c]) == 1
    assert not [c for c in calls if "connect(" in c or "init_module(" in c]
    for call in calls:
        if "O_WRONLY" in call or "O_RDWR" in call or "O_CREAT" in call:
            assert '"/dev/null"' in call, call
        assert "O_PATH" in call or '"/dev/nvidia' not in call and '"/dev/inf' not in call, call
        assert not re.search(r"lib(pci|kmod|systemd|ibverbs|archive|crypto|z)\.so", call), call
        assert "pci.ids" not in call, call


def test_memory(node_tree):
    """The peak of the program, 5 MiB; its child has no more."""
    if program.is_sanitized():
        pytest.skip("a sanitizer takes more")
    result, peak, _ = program.run_measured("preflight", "--root", node_tree("hgx-h200-roce"))
    assert result.status == 0 and peak < 5 << 10, (peak, str(result))


def test_leaves_no_process(node_tree):
    """Its child goes while it evaluates; init would have to collect one that it left."""
    libc = ctypes.CDLL(None, use_errno=True)
    directory = node_tree("hgx-h200-roce")
    before = children(os.getpid())	# other files' tests in this process may have some
    assert libc.prctl(36, 1, 0, 0, 0) == 0	# PR_SET_CHILD_SUBREAPER: what it leaves comes here
    try:
        for _ in range(5):
            pid = os.posix_spawn(program.binary(), ["nvnodecheck", "preflight", "--root", directory],
                                 program.environment())
            assert os.waitpid(pid, 0)[1] == 0
            assert children(os.getpid()) == before
    finally:
        libc.prctl(36, 0, 0, 0, 0)


def test_asks_what_the_configuration_makes_grave(stages):
    """Rules that can say nothing grave are not asked, unless somebody says that they are grave."""
    stage = stages("grave")
    disabled = textform.Statement("edit", 1, "env NCCL_P2P_DISABLE=1")
    stage.put(node.tree_of("hgx-h200-roce", [disabled]))
    assert preflight(stage.directory, "--profile", "deepep").out == ""
    tree = node.tree_of("hgx-h200-roce", [disabled])
    tree.file("/etc/nvnodecheck.conf", "[rule env/p2p-disabled]\nseverity = err\nreason = here\n")
    stage.put(tree)
    result = preflight(stage.directory, "--profile", "deepep")
    stage.clear()
    assert result.status == 1 and result.out.startswith("env/p2p-disabled"), str(result)


@pytest.mark.parametrize("line", ("memory-gib = 4000", "cpus = 3", "numa-nodes = 3", "nic-firmware = 1.2.3",
                                  "product = Other", "port-rate-gbps = 1", "kernel = 1.2",
                                  "hugepages.2M = 7", "sysctl.kernel.numa_balancing = 7",
                                  "mount./scratch = lustre rw"))
def test_reads_what_is_expected(line, stages):
    """What no rule of preflight needs is read where the configuration expects something of it."""
    stage = stages("expected")
    tree = node.copy_of(node.tree_of("hgx-h200-roce"))
    tree.file("/etc/nvnodecheck.conf", "[expect]\n%s\n" % line)
    stage.put(tree)
    result = preflight(stage.directory)
    stage.clear()
    assert result.status == 1 and result.out.startswith("node/expectation"), str(result)


@pytest.mark.parametrize("edit, reason", (
    ("userspace 999.1", "driver/library-mismatch: libcuda is 999.1, the kernel module that runs is 550.90.07"),
    ("process nv-fabricmanager remove", "services/fabricmanager-down: nvidia-fabricmanager is inactive"),
    ("pci 0000:19:00.0 master=off", "pci/bus-master-off GPU0 (0000:19:00.0): bus mastering is off"),
))
def test_looks_further_where_something_is_missing(edit, reason, stages):
    """Libraries and fabric manager are only asked whether they are where they mostly are, until they are not."""
    stage = stages("further")
    stage.put(node.tree_of("hgx-h100-ib", [textform.Statement("edit", 1, edit)]))
    result = preflight(stage.directory)
    stage.clear()
    assert result.status == 1 and reason in result.out, str(result)


MISMATCH = ("log NVRM: API mismatch: the client 'nvidia-smi' (pid 4242) has the version 535.104.05, but this kernel module has the "
            "version 550.90.07.  Please make sure that this kernel module and all NVIDIA driver components have the same version.")


@pytest.mark.parametrize("edits, status", (([MISMATCH], 0), ([MISMATCH, "userspace 999.1"], 1)))
def test_one_refused_program_does_not_drain_the_node(edits, status, stages):
    """A container with other libraries is no fault of the node. The libraries of the node are."""
    stage = stages("refused")
    stage.put(node.tree_of("hgx-h100-ib", [textform.Statement("edit", i, edit) for i, edit in enumerate(edits, 1)]))
    result = preflight(stage.directory)
    stage.clear()
    assert result.status == status and result.out.startswith("driver/library-mismatch") == bool(status), str(result)


# Of them 0.2 million take the facts out of memory that the child can write, and 0.3 million are for threads: more
# instructions in less time.
INSTRUCTIONS_MAX = 5620000


def test_instructions_do_not_creep(node_tree):
    """Of both processes. valgrind knows no openat2, so this counts the slower way of resolving, too. Its
    callgrind counts the child no more, which may not write a file."""
    if not shutil.which("valgrind") or program.is_sanitized():
        pytest.skip("valgrind is not installed")
    result = program.run("preflight", "--root", node_tree("hgx-h200-roce"),
                         wrap=["valgrind", "--tool=lackey", "--basic-counts=yes", "--fnname=none"])
    counts = [int(n.replace(",", "")) for n in re.findall(r"guest instrs: +([0-9,]+)", result.err)]
    assert len(counts) == 2 and sum(counts) < INSTRUCTIONS_MAX, str(result)


# ---- the kernel's log ----

# preflight looks at this machine: what the system call says is what strace makes of it.
LOG_DEADLINE_S = 2


def with_log(inject, *more, user=False):
    if not shutil.which("strace"):
        pytest.skip("no strace")
    started = time.monotonic()
    result = program.run("preflight", "--json", *more, user=user,
                         wrap=["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=syslog",
                               "-e", "inject=syslog:" + inject])
    if "ptrace" in result.err or "PTRACE" in result.err:
        pytest.skip(result.err)
    return result, time.monotonic() - started


def timed_out(result):
    return [f["subject"] for f in result.json()["findings"]
            if f["rule"] == "node/probe-timed-out" and f["verdict"] == "fail"]


@pytest.mark.parametrize("user", (False, True), ids=("root", "user"))
def test_log_that_may_not_be_read(user):
    """dmesg_restrict, without CAP_SYSLOG: check_syslog_permissions() of the kernel says EPERM."""
    result, spent = with_log("error=EPERM", user=user)
    assert result.status in (0, 1, 3), str(result)
    assert spent < LOG_DEADLINE_S
    result.json()


@pytest.mark.parametrize("user", (False, True), ids=("root", "user"))
def test_log_that_does_not_come(user):
    """It is given up, and costs no other fact. strace ends with the last of its processes."""
    result, spent = with_log("delay_enter=%d" % (4 * 10 ** 6), user=user)
    assert result.status in (0, 1, 3), str(result)
    assert LOG_DEADLINE_S <= spent < 3 * LOG_DEADLINE_S, spent
    assert timed_out(result) == ["log"], str(result)


def test_log_that_comes_late():
    """Than all else is read. It is waited for as long as a probe may take."""
    result, spent = with_log("delay_enter=%d" % (3 * 10 ** 5))
    assert spent < LOG_DEADLINE_S
    assert not timed_out(result)


def test_a_thread_fetches_it(tmp_path):
    """Of the child that reads, which has the rights of that one: a second process costs more than a small log."""
    if not shutil.which("strace") or program.is_sanitized():
        pytest.skip("no strace")
    trace = str(tmp_path / "trace")
    result = program.run("preflight", wrap=["strace", "-f", "-qq", "-o", trace, "-e",
                                            "trace=clone,clone3,fork,vfork,seccomp,syslog"])
    if "ptrace" in result.err or "PTRACE" in result.err:
        pytest.skip(result.err)
    with open(trace) as file:
        calls = [re.sub(r"^\d+ +", "", line) for line in file]
    made = [c for c in calls if re.match(r"(clone3?|v?fork)\(", c) and "ENOSYS" not in c]
    # The others read the PCI functions and the GPUs.
    assert ["CLONE_THREAD" in c for c in made] == [False, True, True, True], calls
    order = [c.partition("(")[0] for c in calls if c.startswith(("seccomp", "syslog"))]
    assert order[0] == "seccomp" and "syslog" in order, calls


def test_without_rights():
    result = program.run("preflight", "--json", user=True)
    assert result.status in (0, 1, 3), str(result)
    assert not timed_out(result)
