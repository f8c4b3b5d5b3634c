# SPDX-License-Identifier: GPL-2.0-or-later
"""What the process that looks cannot do, tried by a library that it opens."""
import contextlib
import ctypes
import os
import platform
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
from pathlib import Path

import pytest

from lib import node, program
from lib.program import run
from test_rdma import live, root, verbs_root  # noqa: F401 (fixtures)

HERE = Path(__file__).resolve().parent
SYSCALL_LANDLOCK = 444

pytestmark = pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"),
                                reason="no filter of system calls on this architecture")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="owners and capabilities need root")

REFUSED = ("execve execveat fork clone open-write open-both open-append open-truncate open-create open-unnamed unlink "
           "rename link symlink mkdir mknod truncate chmod fchmod chown utimes setxattr flags mount unshare setns "
           "chroot kill tgkill pidfd own ptrace peek limits priority inet inet6 packet vsock module bpf perf uring "
           "keys hostname clock reboot log setuid gain uevent generic iscsi scsi").split()
# What stands here is refused with another word where the kernel would have a newer way.
NEW = {"pidfd": "ENOSYS", "uring": "ENOSYS"}
CAPABILITIES = {"CAP_DAC_READ_SEARCH": 2, "CAP_SYS_PTRACE": 19, "CAP_SYS_ADMIN": 21, "CAP_SYSLOG": 34}


def has_landlock():
    return ctypes.CDLL(None, use_errno=True).syscall(SYSCALL_LANDLOCK, None, 0, 1) > 0


@pytest.fixture(scope="module")
def build(place):
    folder = Path(place) / "hostile"
    folder.mkdir()

    def library(name):
        where = folder / name.partition(".")[0]
        if not where.exists():
            where.mkdir()
            subprocess.run(["cc", "-D_GNU_SOURCE", "-Wall", "-Werror", "-shared", "-fPIC", "-o", where / name,
                            HERE / "programs" / "hostile-library.c"], check=True)
        return where
    return library


@contextlib.contextmanager
def targets(place):
    """What is attacked, and in which environment; in the end none of it has changed."""
    folder = Path(tempfile.mkdtemp(dir=place))
    folder.chmod(0o755)
    file, outside = folder / "file", folder / "outside"
    file.write_text("whole\n")
    outside.write_text("secret\n")
    before = file.stat()
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "socket"))
    listening.listen()
    victim = subprocess.Popen(["sleep", "60"])
    read, write = os.pipe()
    said = []
    preload = Path(place) / "say-library.so"
    if not preload.exists():
        subprocess.run(["cc", "-Wall", "-Werror", "-shared", "-fPIC", "-o", preload, HERE / "programs" / "say-library.c"], check=True)
    try:
        yield {"AT": str(file), "SOCKET": str(folder / "socket"), "VICTIM": str(victim.pid),
               "OUTSIDE": str(outside), "SAY": str(write), "LD_PRELOAD": str(preload)}, write, said
        os.close(write)
        with os.fdopen(read) as pipe:
            said.extend(pipe.read().splitlines())
        assert victim.poll() is None
        after = file.stat()
        assert file.read_text() == "whole\n" and not list(folder.glob("*.new"))
        assert (after.st_mode, after.st_uid, after.st_ino) == (before.st_mode, before.st_uid, before.st_ino)
    finally:
        listening.close()
        victim.send_signal(signal.SIGKILL)
        victim.wait()


def answers(said):
    """Of the first process that opened the library."""
    assert said and said[-1] == "end done", said
    return dict(line.split(" ", 1) for line in said[:said.index("end done") + 1])


def check_refused(said, but=(), netlink="done"):
    found = answers(said)
    assert {what: found[what] for what in REFUSED if what not in but
            and found[what] not in ("EPERM", NEW.get(what))} == {}
    assert found["map-write"] in ("EACCES", "EBADF") and found["netlink"] == netlink
    assert found["inherited"] == "EBADF"
    assert found["datagram"] == found["connect"] != netlink
    return found


def test_live(build, verbs_root, place):  # noqa: F811
    """All that may be read is read; nothing is changed, started or reached."""
    device = verbs_root / "sys/bus/pci/devices/0000:01:00.0"
    device.mkdir(parents=True)
    for name, text in (("vendor", "0x10de"), ("device", "0x2330"), ("class", "0x030200"), ("config", "\0" * 64)):
        (device / name).write_text(text)
    with targets(place) as (env, write, said):
        done = live(verbs_root, build("libpci.so.3"), "facts", env=env, pass_fds=[write])
    assert done.returncode == 0, done.stderr
    found = check_refused(said)
    assert found["connect"] == found["netlink-rdma"] == "EPERM" and found["outside"] == "done"
    assert found["openat2-write"] == "ENOSYS" and found["openat2-create"] == "ENOSYS"
    check_capabilities(found, ["CAP_DAC_READ_SEARCH", "CAP_SYS_ADMIN"])


def check_capabilities(found, names, user=False):
    """Those, of the ones that the caller has."""
    allowed = sum(1 << CAPABILITIES[name] for name in names)
    assert int(found["capabilities"], 16) == (0 if user or os.geteuid() != 0 else allowed)


@pytest.mark.parametrize("user", [False, True], ids=["root", "user"])
def test_tree(build, scratch, place, user):
    """Of this machine only libraries can be read, and openat2 is safe or not there."""
    scratch.put(node.tree_of("hgx-h100-ib"))
    library = build("libpci.so.3")
    with targets(place) as (env, write, said):
        result = run("facts", "--root", scratch.directory, user=user,
                     env=dict(env, LD_LIBRARY_PATH=str(library)), pass_fds=[write])
    assert result.status == 0, str(result)
    found = check_refused(said)
    if has_landlock():
        assert found["outside"] == found["list-outside"] == found["read"] == "EACCES"
        assert found["openat2-write"] == found["openat2-create"] == found["openat2-truncate"] == "EACCES"
    else:
        assert found["openat2-write"] == "ENOSYS"
    assert found["connect"] == "EPERM"
    check_capabilities(found, ["CAP_DAC_READ_SEARCH"], user)


@pytest.mark.skipif(not has_landlock(), reason="this kernel has no Landlock")
@pytest.mark.parametrize("version", [1, 2, 3])
def test_old_landlock(version, build, scratch, place):
    """Before version 3 it does not refuse to empty a file, so openat2, whose flags no filter sees, is not there."""
    scratch.put(node.tree_of("hgx-h100-ib"))
    older = Path(place) / "landlock-version.so"
    if not older.exists():
        subprocess.run(["cc", "-Wall", "-Werror", "-shared", "-fPIC", "-o", older,
                        HERE / "programs" / "landlock-version.c", "-ldl"], check=True)
    with targets(place) as (env, write, said):
        env["LD_PRELOAD"] += ":%s" % older
        result = run("facts", "--root", scratch.directory, pass_fds=[write],
                     env=dict(env, LANDLOCK=str(version), LD_LIBRARY_PATH=str(build("libpci.so.3"))))
    assert result.status == 0, str(result)
    found = check_refused(said)
    assert {found[what] for what in ("openat2-write", "openat2-create", "openat2-truncate")} == {
        "ENOSYS" if version < 3 else "EACCES"}


def test_what_asks_devices(build, verbs_root, place):  # noqa: F811
    """It may open RDMA devices for writing, and no more than that: no socket of another program."""
    library = build("libibverbs.so.1")
    with targets(place) as (env, write, said):
        done = live(verbs_root, library, "facts", env=env, pass_fds=[write])
    assert done.returncode == 0
    but = ["open-write", "open-both", "open-append"]
    found = check_refused(said, but)
    assert found["connect"] == "EPERM" and found["netlink-rdma"] in ("done", "EPROTONOSUPPORT")
    assert {found[what] for what in but} == ({"EACCES"} if has_landlock() else {"done"})
    check_capabilities(found, ["CAP_DAC_READ_SEARCH"])


def test_what_asks_systemd(build, verbs_root, place):  # noqa: F811
    """It may connect, and opens nothing for writing, no device and no other socket."""
    (verbs_root / "run/systemd/system").mkdir(parents=True)
    with targets(place) as (env, write, said):
        done = live(verbs_root, build("libsystemd.so.0"), "facts", env=env, pass_fds=[write])
    assert done.returncode == 0
    connecting = []
    while said:
        end = said.index("end done") + 1
        connecting += [said[:end]] if "connect done" in said[:end] else []
        said[:end] = []
    assert connecting
    for one in connecting:
        assert check_refused(one, netlink="EPERM")["netlink-rdma"] == "EPERM"
        check_capabilities(answers(one), ["CAP_DAC_READ_SEARCH", "CAP_SYS_PTRACE"])


# ---- what it leaves to its parent ----

SCRIBBLES = "ones letters code stack self kept grow".split()


@contextlib.contextmanager
def scribbling(place, name, how, stays=False):
    """The environment, and what the library says of the memory that it wrote over."""
    folder = Path(place) / "scribble" / name
    folder.mkdir(parents=True, exist_ok=True)
    preload = Path(place) / "say-library.so"
    for source, to in (("scribble-library.c", folder / name), ("say-library.c", preload)):
        if not to.exists():
            subprocess.run(["cc", "-Wall", "-Werror", "-shared", "-fPIC", "-o", to,
                            HERE / "programs" / source],
                           check=True)
    read, write = os.pipe()
    said = []
    yield dict({"SAY": str(write), "LD_PRELOAD": str(preload), "SCRIBBLE": how, "LD_LIBRARY_PATH": str(folder)},
               **{"SCRIBBLE_STAYS": "1"} if stays else {}), write, said
    os.close(write)
    with os.fdopen(read) as pipe:
        said.extend(pipe.read().splitlines())


no_sanitizer = pytest.mark.skipif(program.is_sanitized(), reason="a sanitizer wants to be the first library")


@no_sanitizer
@pytest.mark.parametrize("how", SCRIBBLES)
@pytest.mark.parametrize("args", [["doctor", "--json"], ["why", "LOG"]],
                         ids=["doctor", "why"])
def test_memory_that_is_written_over(args, how, place, scratch):
    """The parent trusts nothing of it: its own memory stays as it was, and it says what it could not find out."""
    scratch.put(node.tree_of("hgx-h100-ib"))
    args = list(args) + ["--root", scratch.directory]
    library = "libpci.so.3"
    if "LOG" in args:
        library = "libzstd.so.1"
        log = Path(place) / "job.log.zst"
        log.write_bytes(subprocess.run(["zstd", "-q"], input=b"NCCL WARN Timeout\n", capture_output=True,
                                       check=True).stdout)
        args = ["why", str(log)]
    with scribbling(place, library, how) as (env, write, said):
        result = run(*args, env=env, pass_fds=[write])
    assert result.status in (0, 1, 3, 4), str(result)
    assert len(result.err) < 1000
    assert "scribbled" in said
    if "doctor" in args and result.status != 4:	# 4: what it wrote takes more memory than a node may
        assert any(f["verdict"] == "unknown" for f in result.json()["findings"])


@no_sanitizer
@pytest.mark.parametrize("stays", [False, True], ids=["ends", "stays"])
def test_memory_that_is_written_over_on_a_live_host(stays, place):
    """Also while the parent reads it: it goes on for a second."""
    for how in ("kept", "self", "grow") if stays else SCRIBBLES:
        with scribbling(place, "libpci.so.3", how, stays) as (env, write, said):
            result = run("doctor", "--json", env=env, pass_fds=[write])
        assert result.status in (0, 1, 3, 4), how + str(result)
        assert len(result.err) < 1000, how


# ---- what it keeps is needed ----

def without(capability):
    return ["setpriv", "--bounding-set=-" + capability]


@pytest.fixture(scope="module")
def nobodys_process():
    process = subprocess.Popen(["setpriv", "--reuid=65534", "--clear-groups", "sleep", "60"])
    with open("/proc/%d/comm" % process.pid, encoding="utf-8") as file:
        while file.read() != "sleep\n":
            file.seek(0)
    yield process.pid
    process.kill()
    process.wait()


@needs_root
def test_processes_of_others(nobodys_process):
    args = ["facts", "gaps", "--pid", str(nobodys_process)]

    def lacks(*wrap):
        return "/proc/%d/root" % nobodys_process in [g["path"] for g in run(*args, wrap=wrap).json()]
    assert not lacks() and lacks(*without("sys_ptrace"))


@needs_root
@pytest.mark.parametrize("capabilities,reads", [
    ("", True), ("-dac_read_search", True), ("-dac_override", True), ("-dac_read_search,-dac_override", False)])
def test_files_of_others(capabilities, reads, scratch):
    """Also in a container whose root has only the capability that lets write too."""
    scratch.put(node.tree_of("hgx-h100-ib"))
    path = scratch.directory + "/etc/os-release"
    os.chown(path, 1, 1)
    os.chmod(path, 0o600)
    found = program.facts(scratch.directory, wrap=["setpriv", "--bounding-set=" + capabilities] if capabilities else [])
    os.chown(path, 0, 0)
    os.chmod(path, 0o644)
    assert ("id" in found["os"]) == reads


@needs_root
@pytest.mark.skipif(not os.path.exists("/dev/kmsg"), reason="no kernel log here")
def test_the_kernel_log():
    with open("/proc/sys/kernel/dmesg_restrict", encoding="utf-8") as file:
        if file.read() != "1\n":
            pytest.skip("the kernel log is everybody's here")

    def lacks(*wrap):
        return [g for g in run("facts", "gaps", wrap=wrap).json() if g["path"] == "/dev/kmsg"]
    assert not lacks() and lacks(*without("syslog"))


# ---- what it says of itself ----

@pytest.mark.parametrize("args", [[], ["--root", "/"]], ids=["live", "root"])
def test_what_this_process_may_is_still_told(args):
    """Not what is left of it in the child."""
    with open("/proc/self/status", encoding="utf-8") as file:
        status = dict(line.split(":", 1) for line in file)
    env = run("facts", "env", *args).json()
    assert int(env["capabilities"], 0) == int(status["CapEff"], 16)
    assert env["seccomp"] == ["disabled", "strict", "filter"][int(status["Seccomp"])]


# ---- a kernel that has less ----

@pytest.mark.parametrize("calls", ["seccomp", "landlock_create_ruleset", "landlock_restrict_self", "capset",
                                   "seccomp,prctl", "prlimit64"])
def test_older_kernels(calls, scratch, tmp_path):
    """What the kernel does not have is passed over: the facts are the same."""
    scratch.put(node.tree_of("hgx-h100-ib"))
    expected = program.steady(program.facts(scratch.directory))
    log = tmp_path / "log"
    wrap = ["strace", "-f", "-qq", "-o", log, "-e", "inject=%s:error=ENOSYS" % calls, "-e", "trace=" + calls]
    for _ in range(5):	# under strace, on a busy machine, the time of a probe can be over
        try:
            result = run("facts", "--root", scratch.directory, wrap=[str(w) for w in wrap])
        except FileNotFoundError:
            pytest.skip("strace is not installed")
        assert result.status == 0, str(result)
        if program.steady(result.json()) == expected:
            break
    assert program.steady(result.json()) == expected
    assert "INJECTED" in log.read_text()


# ---- memory ----

@pytest.mark.skipif(not shutil.which("zstd"), reason="zstd is not installed")
def test_a_small_file_that_unpacks_to_much(stages):
    """It costs its own answer: not the section of all modules, and not the memory of the node."""
    stage = stages("bomb")
    tree = node.copy_of(node.tree_of("hgx-h100-ib"))
    module = next(path for path in tree.entries if path.endswith("/nvidia-peermem.ko"))
    packed = subprocess.run(["zstd", "-q", "-1"], input=tree.read(module) + bytes(1 << 28), capture_output=True,
                            check=True).stdout
    assert len(packed) < 1 << 20
    # Modules share a second; on a busy machine the others would take it all.
    for path in [path for path in tree.entries if path.endswith(".ko") and path != module]:
        tree.remove(path)
    tree.file(module + ".zst", packed)
    stage.put(tree)
    for _ in range(20):	# on a busy machine its time can be over first
        found = program.facts(stage.directory)
        if "timed-out" not in [p["state"] for p in found["probes"]] + [
                "timed-out" for g in found["gaps"] if g["error"] == "ETIMEDOUT"]:
            break
    if "files" not in found["modules"]:
        pytest.skip("each of 20 reads took longer than its time")
    if any(g["path"] == module + ".zst" and g["error"] == "EOPNOTSUPP" for g in found["gaps"]):
        pytest.skip("libkmod was built without zstd")
    # Memory ends it, or on a slow machine time. libkmod 34 gives what has no room as damaged.
    assert [g["error"] for g in found["gaps"] if g["probe"] == "module-files"] in (["EFBIG"], ["EBADMSG"],
                                                                                  ["ETIMEDOUT"])
    files = {f["path"].rpartition("/")[2]: f for f in found["modules"]["files"]}
    assert "vermagic" in files["nvidia-peermem.ko"] and "vermagic" not in files["nvidia-peermem.ko.zst"]


# ---- a file system that never answers ----

@contextlib.contextmanager
def silent(folder):
    """FUSE without a server behind it."""
    library = ctypes.CDLL(None, use_errno=True)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = b"fd=%d,rootmode=40000,user_id=0,group_id=0" % device
    mounted = library.mount(b"silent", folder.encode(), b"fuse", 0, options) == 0
    try:
        if not mounted:
            pytest.skip("no mount of FUSE here: " + os.strerror(ctypes.get_errno()))
        yield
    finally:
        os.close(device)	# which ends whatever waits for it
        if mounted:
            library.umount2(folder.encode(), 2)


@needs_root
@pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="no FUSE here")
@pytest.mark.parametrize("part", ["etc", "proc", "sys", "sys/bus", "usr/lib/modules"])
def test_a_part_that_never_answers(part, stages):
    """Before there is a child, too, nothing waits for a part of a tree."""
    stage = stages("silent-" + part.replace("/", "-"))
    stage.put(node.tree_of("hgx-h100-ib"))
    with silent(os.path.join(stage.directory, part)):
        result = run("doctor", "--json", "--timeout", "3", "--root", stage.directory)
    assert result.status in (0, 1), str(result)
    assert "timed-out" in {probe["state"] for probe in result.json()["probes"]}


# ---- more rights than the caller ----

@needs_root
@pytest.mark.skipif(not shutil.which("setcap"), reason="setcap is not installed")
def test_a_program_with_capabilities(build, scratch, place):
    """Who has fewer rights than the program, by capabilities of its file, does not choose its libraries."""
    scratch.put(node.tree_of("hgx-h100-ib"))
    copy = os.path.join(place, "with-capabilities")
    shutil.copy(program.binary(), copy)
    subprocess.run(["setcap", "cap_sys_admin,cap_dac_read_search+ep", copy], check=True)
    with targets(place) as (env, write, said):
        result = run("facts", "--root", scratch.directory, user=True, program=copy, pass_fds=[write],
                     env=dict(env, LD_LIBRARY_PATH=str(build("libpci.so.3"))))
    assert result.status == 0 and said == []
    assert result.json()["pci"]["devices"]
    os.unlink(copy)


@needs_root
@no_sanitizer
@pytest.mark.skipif(not shutil.which("strace") or not shutil.which("setcap"), reason="needs strace and setcap")
def test_variables_of_libraries_with_capabilities(verbs_root, place):  # noqa: F811
    """libibverbs opens what RDMAV_DRIVERS names if the real and the effective user are the same."""
    uverbs = verbs_root / "sys/class/infiniband_verbs/uverbs0"
    parent = verbs_root / "sys/devices/pci0000:1a/0000:1b:00.0"
    for path, text in ((uverbs.parent / "abi_version", "6"), (uverbs / "dev", "231:192"), (uverbs / "abi_version", "1"),
                       (parent / "vendor", "0x15b3"), (parent / "device", "0x1021"),
                       (parent / "modalias", "pci:v000015B3d00001021sv0sd0bc02sc07i00")):
        path.write_text(text + "\n")
    (uverbs / "device").symlink_to("../../../devices/pci0000:1a/0000:1b:00.0")
    (verbs_root / "sys/kernel").mkdir(exist_ok=True)
    # The library looks at the device's node before it loads drivers.
    (verbs_root / "dev/infiniband").mkdir(parents=True)
    (verbs_root / "dev/shm").mkdir()
    for name, number in (("null", (1, 3)), ("zero", (1, 5)), ("urandom", (1, 9)), ("infiniband/uverbs0", (231, 192))):
        os.mknod(verbs_root / "dev" / name, stat.S_IFCHR | 0o666, os.makedev(*number))
        os.chmod(verbs_root / "dev" / name, 0o666)
    copy, log = os.path.join(place, "with-capabilities"), os.path.join(place, "opened")

    def names_opened(capabilities):
        shutil.copy(program.binary(), copy)
        if capabilities:
            subprocess.run(["setcap", capabilities, copy], check=True)
        subprocess.run([*program.with_own_mounts("--propagation", "private"), "sh", "-ec",
                        'mount --bind "$1/sys" /sys; mount --bind /dev/shm "$1/dev/shm"; mount --rbind "$1/dev" /dev; '
                        'shift; exec "$@"', "sh", verbs_root, "strace", "-f", "-qq", "-u", "nobody", "-o", log,
                        "-e", "trace=openat,open", copy, "facts"], check=True, stdout=subprocess.DEVNULL,
                       env=program.environment(RDMAV_DRIVERS="/nowhere/evil"))
        os.unlink(copy)
        with open(log, encoding="utf-8", errors="replace") as file:
            text = file.read()
        assert "libibverbs.so" in text
        return "/nowhere/evil" in text
    assert names_opened(None)
    assert not names_opened("cap_sys_admin,cap_dac_read_search+ep")
