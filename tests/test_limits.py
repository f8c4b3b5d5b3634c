# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits, what sets them, /dev/shm, and the process that was asked about."""
import json
import os
import resource
import shutil
import subprocess
import sys

import pytest

from lib import program, waiting
from lib.rootfs_dict import BINARY, Link, by, document, gaps, make, observe, run

LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max stack size            unlimited            unlimited            bytes
Max open files            %s                %s               files
Max locked memory         %s              %s              bytes
Max locked memoryless     1                    1                    bytes
"""


def process(pid, comm, memlock, cgroup="0::/\n", hard=None):
    return {"/proc/%s/comm" % pid: comm + "\n", "/proc/%s/cgroup" % pid: cgroup,
            "/proc/%s/limits" % pid: LIMITS % (1024, 4096, memlock, hard or memlock)}


def tree(tmp_path, *processes, **files):
    made = process(1, "systemd", "8388608")
    for p in processes:
        made.update(p)
    made.update(files.get("files", {}))
    return make(tmp_path / files.get("name", "t"), made)


def test_launchers(tmp_path):
    facts = observe(tree(
        tmp_path,
        process(100, "slurmd", "unlimited", "0::/system.slice/slurmd.service\n"),
        process(200, "sshd", "unlimited", "0::/system.slice/ssh.service\n"),
        process(201, "sshd", "8388608", "0::/user.slice/user-0.slice/session-3.scope\n"),
        process(202, "sshd", "16777216", "0::/system.slice/ssh.service\n"),
        process(300, "containerd-shim", "65536", "0::/system.slice/containerd.service\n"),
        process(400, "flux-broker-0", "65536", "12:pids:/a.service\n1:name=systemd:/b.service/c\n"),
        process(500, "bash", "1"), process(501, "slurmd-not", "1"), process(502, "res", "unlimited"),
    ))
    launchers = by(facts["limits"]["launchers"], "name")
    assert list(launchers) == ["containerd-shim", "flux-broker", "res", "slurmd", "sshd"]
    assert launchers["slurmd"] == {
        "name": "slurmd", "pid": 100, "memlock_soft_bytes": "unlimited",
        "memlock_hard_bytes": "unlimited", "nofile_soft": 1024, "nofile_hard": 4096, "stack_soft_bytes": "unlimited", "unit": "slurmd.service"}
    assert launchers["sshd"]["pid"] == 201
    assert launchers["sshd"]["memlock_soft_bytes"] == 8388608
    assert launchers["sshd"]["unit"] == "session-3.scope"
    assert launchers["flux-broker"]["unit"] == "b.service"
    assert launchers["res"]["unit"] is None


def uids(pid, uid):
    return {"/proc/%d/status" % pid: "Name:\tx\nUid:\t%d\t%d\t%d\t%d\n" % ((uid,) * 4)}


@pytest.mark.parametrize("name", ["slurmd", "containerd-shim", "sshd"])
def test_a_user_can_call_a_process_so(tmp_path, name):
    """Its limits are its own: they neither are an error of the node nor hide one, however many there are."""
    files = {}
    for part in (process(1, "systemd", 10 ** 9), uids(1, 0), process(20000, name, 65536), uids(20000, 0)):
        files.update(part)
    for pid in range(10000, 14200):
        files.update(process(pid, name, 10 ** 9))
        files.update(uids(pid, 40123))
    files.update(process(900, name, 64))
    files.update(uids(900, 40123))
    root = make(tmp_path / "t", files)
    launchers = program.run("facts", "limits.launchers", "--root", root).json()
    assert [(p["pid"], p["memlock_soft_bytes"]) for p in launchers] == [(20000, 65536)]


def test_more_launchers_than_are_looked_at(tmp_path):
    """Any of the others may have the lowest limit."""
    files = {}
    for pid in range(1, 4200):
        files.update(process(pid, "slurmd", 10 ** 9))
    facts = program.run("facts", "--root", make(tmp_path / "t", files)).json()
    assert "launchers" not in facts.get("limits", {})
    assert any(gap["path"] == "/proc" for gap in facts["gaps"])


def test_kernel_threads_are_left_alone(tmp_path):
    facts = observe(tree(tmp_path, process(77, "slurmd", "1"), process(7, "slurmd", "2"),
                         files={"/proc/2/comm": "kthreadd\n",
                                             "/proc/2/task/2/children": "3 4 77 "}))
    assert [p["pid"] for p in facts["limits"]["launchers"]] == [7]


def test_no_processes(tmp_path):
    facts = observe(make(tmp_path / "t", {"/proc/uptime": "1\n"}))
    assert "launchers" not in facts.get("limits", {})
    assert gaps(facts)["/proc/1"] == "ENODATA"


def test_damaged_limits(tmp_path):
    facts = observe(tree(tmp_path, files={"/proc/9/comm": "slurmd\n", "/proc/9/limits": "Max locked\n",
                                          "/proc/self/limits": b"\0Max open files x y\n"}))
    assert facts["limits"]["launchers"] == [{"name": "slurmd", "pid": 9, "unit": None}]
    assert gaps(facts)["/proc/self/limits"] == "EBADMSG"


# ---- configuration ----

def settings(facts):
    return [(s["item"], s["scope"], s["kind"], s["value"], s["file"], s["line"])
            for s in facts["limits"]["settings"]]


def test_settings(tmp_path):
    facts = observe(make(tmp_path / "t", {
        "/etc/security/limits.conf": "# comment\n*  soft  memlock unlimited # all\n"
                                     "@hpc - nofile 65536\nroot hard core 0\n* soft memlock\n"
                                     "a b memlock c d\n"
                                     "a SOFT MemLock 64k more words\nb - memlock what\nc both nofile 1\n",
        "/etc/security/limits.d/20.conf": "*\thard\tmemlock\t64\n",
        "/etc/security/limits.d/10.conf": "* - memlock 32",
        "/etc/security/limits.d/README": "* - memlock 1\n",
        "/usr/lib/systemd/system/slurmd.service":
            "[Unit]\nLimitMEMLOCK=1\n[Service]\n# LimitMEMLOCK=2\nLimitMEMLOCK = 8M\n"
            "LimitNOFILE=1024:\\\n  4096\nLimitMEMLOCK=\n",
        "/etc/systemd/system/slurmd.service.d/20.conf": "[Service]\nLimitMEMLOCK=infinity\n",
        "/usr/lib/systemd/system/slurmd.service.d/20.conf": "[Service]\nLimitMEMLOCK=7\n",
        "/usr/lib/systemd/system/slurmd.service.d/10.conf": "[Service]\nLimitMEMLOCK=6\n",
        "/etc/systemd/system/slurmd.service.d/30.conf": Link("/dev/null"),
        "/usr/lib/systemd/system/slurmd.service.d/30.conf": "[Service]\nLimitMEMLOCK=5\n",
        "/etc/systemd/system/containerd.service": "[Service]\nLimitMEMLOCK=64K\n",
        "/usr/lib/systemd/system/containerd.service": "[Service]\nLimitMEMLOCK=1\n",
        "/etc/systemd/system/docker.service": Link("/dev/null"),
        "/usr/lib/systemd/system/docker.service": "[Service]\nLimitMEMLOCK=1\n",
        "/etc/systemd/system.conf": "[Manager]\nDefaultLimitMEMLOCK=8M\n[Other]\n"
                                    "DefaultLimitMEMLOCK=1\n",
        "/usr/lib/systemd/system.conf": "[Manager]\nDefaultLimitMEMLOCK=1\n",
        "/usr/lib/systemd/system.conf.d/a.conf": "[Manager]\nDefaultLimitNOFILE=1024:524288\n",
    }))
    unit = "/usr/lib/systemd/system/slurmd.service"
    assert settings(facts) == [
        ("memlock", "*", "soft", "unlimited", "/etc/security/limits.conf", 2),
        ("nofile", "@hpc", "-", "65536", "/etc/security/limits.conf", 3),
        ("memlock", "a", "soft", "64k", "/etc/security/limits.conf", 7),
        ("memlock", "*", "-", "32", "/etc/security/limits.d/10.conf", 1),
        ("memlock", "*", "hard", "64", "/etc/security/limits.d/20.conf", 1),
        ("memlock", "systemd", "-", "8M", "/etc/systemd/system.conf", 2),
        ("nofile", "systemd", "-", "1024:524288", "/usr/lib/systemd/system.conf.d/a.conf", 2),
        ("memlock", "slurmd.service", "-", "8M", unit, 5),
        ("nofile", "slurmd.service", "-", "1024: 4096", unit, 6),
        ("memlock", "slurmd.service", "-", "", unit, 8),
        ("memlock", "slurmd.service", "-", "6", unit + ".d/10.conf", 2),
        ("memlock", "slurmd.service", "-", "infinity",
         "/etc/systemd/system/slurmd.service.d/20.conf", 2),
        ("memlock", "containerd.service", "-", "64K", "/etc/systemd/system/containerd.service", 2),
    ]


def test_drop_ins_of_many_units(tmp_path):
    """As systemd.unit(5) orders them. Found by tests/oracles/limits.py"""
    folder, own = "/etc/systemd/system/", "/usr/lib/systemd/system/site-a-slurmd.service"
    facts = observe(tree(
        tmp_path, process(9, "slurmd", "65536", "0::/system.slice/site-a-slurmd.service\n"),
        files={own: "[Service]\n", folder + "service.d/a.conf": "[Service]\nLimitMEMLOCK=1\n",
               folder + "site-.service.d/b.conf": "[Service]\nLimitMEMLOCK=2\n",
               folder + "site-a-.service.d/a.conf": "[Service]\nLimitMEMLOCK=3\n",
               folder + "site-b-.service.d/a.conf": "[Service]\nLimitMEMLOCK=4\n",
               own + ".d/c.conf": "[Service]\nLimitMEMLOCK=8M \\\n# no\n x\n"}))
    assert [(s[3], s[4], s[5]) for s in settings(facts) if s[1].startswith("site")] == [
        ("3", folder + "site-a-.service.d/a.conf", 2), ("2", folder + "site-.service.d/b.conf", 2),
        ("8M x", own + ".d/c.conf", 2)]
    assert not [s for s in settings(facts) if s[1] == "slurmd.service"]


def test_launcher_in_an_unusual_unit(tmp_path):
    facts = observe(tree(
        tmp_path, process(9, "slurmd", "65536", "0::/system.slice/my-slurmd.service\n"),
        files={"/etc/systemd/system/my-slurmd.service": "[Service]\nLimitMEMLOCK=64K\n",
               "/usr/lib/systemd/system/": ""}))
    assert settings(facts) == [("memlock", "my-slurmd.service", "-", "64K",
                                "/etc/systemd/system/my-slurmd.service", 2)]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is the oracle")
def test_which_file_counts(tmp_path):
    """systemd-analyze cat-config prints the files of a .d folder in the order in which they count."""
    root = make(tmp_path / "t", {
        "/etc/systemd/system.conf": "[Manager]\nDefaultLimitMEMLOCK=1\n",
        "/usr/lib/systemd/system.conf.d/b.conf": "[Manager]\nDefaultLimitMEMLOCK=2\n",
        "/etc/systemd/system.conf.d/a.conf": "[Manager]\nDefaultLimitMEMLOCK=3\n",
        "/run/systemd/system.conf.d/b.conf": "[Manager]\nDefaultLimitMEMLOCK=4\n",
        "/usr/local/lib/systemd/system.conf.d/Z.conf": "[Manager]\nDefaultLimitMEMLOCK=5\n",
        "/usr/lib/x": "",
    })
    done = subprocess.run(["systemd-analyze", "--root=" + root, "--no-pager", "cat-config",
                           "systemd/system.conf"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(done.stderr)
    want = [line.split("=")[1] for line in done.stdout.splitlines() if line.startswith("DefaultL")]
    assert [s[3] for s in settings(observe(root))] == want


# ---- /dev/shm ----

@pytest.mark.parametrize("options,size", [
    ("rw,nosuid,size=65536k", 64 << 20), ("size=1g,nodev", 1 << 30), ("size=512M", 512 << 20),
    ("size=12345", 12345), ("size=0x10k", 16384), ("size=junk", None), ("size=", None),
    ("size=99999999999999999999g", None), ("size=50%", None), ("rw", None)])
def test_shm_of_a_tree(tmp_path, options, size):
    facts = observe(make(tmp_path / "t", {
        "/proc/mounts": "tmpfs /run tmpfs size=1k 0 0\ntmpfs /dev/shm tmpfs %s 0 0\n" % options}))
    assert facts.get("limits", {}).get("shm_bytes") == size
    if size is None:
        assert "/proc/mounts" in gaps(facts)


def test_shm_from_fstab(tmp_path):
    facts = observe(make(tmp_path / "t", {
        "/etc/fstab": "# tmpfs /dev/shm tmpfs size=1k 0 0\n/dev/sda / ext4 defaults 0 1\n"
                      "tmpfs\t/dev/shm\ttmpfs\tdefaults,size=64G\t0\t0\n"}))
    assert facts["limits"]["shm_bytes"] == 64 << 30


def test_shm_of_nothing(tmp_path):
    facts = observe(make(tmp_path / "t", {"/etc/fstab": "x\n"}))
    assert "shm_bytes" not in facts["limits"]
    assert gaps(facts)["/dev/shm"] == "ENODATA"


# ---- this machine, and a process of it ----

def test_own_limits():
    facts = document()
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    word = lambda n: "unlimited" if n == resource.RLIM_INFINITY else n  # noqa: E731
    own = facts["limits"]["self"]
    assert (own["memlock_soft_bytes"], own["memlock_hard_bytes"]) == (word(soft), word(hard))
    assert own["pid"] is None and own["nofile_soft"] == word(resource.getrlimit(
        resource.RLIMIT_NOFILE)[0])
    shm = os.statvfs("/dev/shm")
    assert facts["limits"]["shm_bytes"] == shm.f_blocks * shm.f_frsize


SLEEPER = "import resource, time; resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536));" \
          "print(1, flush=True); time.sleep(60)"


@pytest.fixture
def sleeper():
    env = {"NCCL_DEBUG": "INFO", "NVSHMEM_HCA_LIST": "mlx5_0:1", "TORCH_NCCL_BLOCKING_WAIT": "1",
           "LD_LIBRARY_PATH": "/a:/b", "EP_NIC_NAME": "mlx5_0", "PATH": os.environ["PATH"],
           "SECRET": "s3cret", "NVIDIA_API_KEY": "s3cret", "MC_TOKEN": "s3cret", "NCCL_EMPTY": "",
           "NCCL_IB_PKEY": "0x7fff", "XNCCL_A": "s3cret", "DB_PASSWORD": "s3cret"}
    process = subprocess.Popen([sys.executable, "-c", SLEEPER], env=env, stdout=subprocess.PIPE)
    process.stdout.readline()
    yield process
    process.kill()
    process.wait()


def test_of_a_process(sleeper, tmp_path):
    facts = document("--pid", str(sleeper.pid))
    assert facts["env"]["pid"] == facts["limits"]["self"]["pid"] == sleeper.pid
    assert facts["env"]["uid"] == os.geteuid()
    assert facts["limits"]["self"]["memlock_soft_bytes"] == 65536
    assert {v["name"]: v["value"] for v in facts["env"]["variables"]} == {
        "EP_NIC_NAME": "mlx5_0", "LD_LIBRARY_PATH": "/a:/b", "NCCL_DEBUG": "INFO", "NCCL_EMPTY": "",
        "NCCL_IB_PKEY": "0x7fff", "NVSHMEM_HCA_LIST": "mlx5_0:1", "TORCH_NCCL_BLOCKING_WAIT": "1"}


def test_secrets_stay_where_they_are(sleeper, tmp_path):
    for arguments in (["--no-redact"], []):
        capture = str(tmp_path / "c")
        done = run("capture", "--pid", str(sleeper.pid), "-o", capture, *arguments)
        assert done.returncode == 0
        with open(capture) as f:
            assert "s3cret" not in f.read()
        facts = document("--from", capture, "--pid", str(sleeper.pid))
        assert len(facts["env"]["variables"]) == 7


def test_no_such_process():
    done = run("facts", "--pid", "4194303")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "nvnodecheck: --pid 4194303: no such process\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become somebody else")
def test_somebody_elses_process(sleeper):
    copy = "/var/tmp/nvnodecheck-%d" % os.getpid()
    shutil.copy(BINARY, copy)
    try:
        done = subprocess.run([copy, "facts", "--pid", str(sleeper.pid)], capture_output=True,
                              text=True, user=65534, group=65534, extra_groups=[])
        facts = json.loads(done.stdout)
    finally:
        os.unlink(copy)
    assert "variables" not in facts["env"] and facts["env"]["uid"] == 0
    assert gaps(facts)["/proc/%d/environ" % sleeper.pid] == "EACCES"


def test_user_namespace():
    done = subprocess.run(["unshare", "-U", "-r", BINARY, "facts", "env.initial_user_namespace"],
                          capture_output=True, text=True)
    if done.returncode and "unshare" in done.stderr:
        pytest.skip("no user namespaces here")
    assert done.stdout.strip() == "false"
    assert run("facts", "env.initial_user_namespace").stdout.strip() in ("true", "false")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to mount")
@pytest.mark.parametrize("elsewhere", [False, True])
def test_paths_of_a_process_elsewhere(tmp_path, elsewhere):
    """Where the process is in another mount namespace, none of the paths that it names is opened here."""
    library = tmp_path / "libnccl.so.2.99.1"
    library.write_text("")
    conf = tmp_path / "nccl.conf"
    conf.write_text("NCCL_DEBUG=WARN\n")
    process = subprocess.Popen((["unshare", "-m"] if elsewhere else []) + ["sleep", "60"], env={
        "LD_LIBRARY_PATH": str(tmp_path), "NCCL_CONF_FILE": str(conf), "PATH": os.environ["PATH"]})
    try:
        waiting.until(lambda: open("/proc/%d/comm" % process.pid).read() == "sleep\n")
        facts = document("--pid", str(process.pid))
        capture = str(tmp_path / "capture")
        assert run("capture", "--no-redact", "--pid", str(process.pid), "-o", capture).returncode == 0
        again = document("--from", capture, "--pid", str(process.pid))
    finally:
        process.kill()
        process.wait()
    for seen in (facts, again):
        paths = [item["path"] for item in seen["software"]["items"]]
        assert (str(library) in paths) is not elsewhere
        assert ("nccl_conf" in seen["env"]) is not elsewhere
        assert seen["software"]["complete"] is not elsewhere
        assert {g["why"] for g in seen["gaps"] if g["path"] == "/proc/%d/root" % process.pid} == set([
            "the process is in another mount namespace or root: its paths can mean other files"][:elsewhere])


def test_process_of_a_tree(tmp_path):
    root = make(tmp_path / "t", {
        "/proc/42/environ": b"NCCL_DEBUG=INFO\0NOT=1\0=x\0NCCL_BAD\0UCX_TLS=\xff\0NCCL_LAST=1",
        "/proc/42/status": "Name:\tx\nUid:\t0\t1000\t0\t0\nCapEff:\t0000000000200000\n"
                           "CapBnd:\t000001ffffffffff\nSeccomp:\t2\n",
        "/proc/42/uid_map": "         0       1000          1\n",
        "/proc/42/limits": LIMITS % (1, 2, 3, 4), "/proc/42/comm": "python3\n",
        "/proc/42/cgroup": "0::/system.slice/slurmd.scope/job_1\n"})
    facts = observe(root, "--pid", "42")
    assert facts["env"] == {
        "pid": 42, "uid": 1000, "capabilities": "0x200000", "bounding": "0x1ffffffffff",
        "seccomp": "filter", "initial_user_namespace": False, "container": None,
        "variables": [{"name": name, "value": value, "file": None, "line": None} for name, value in (
            ("NCCL_DEBUG", "INFO"), ("NCCL_LAST", "1"), ("UCX_TLS", "\ufffd"))]}
    assert facts["limits"]["self"] == {
        "name": "python3", "pid": 42, "memlock_soft_bytes": 3, "memlock_hard_bytes": 4,
        "nofile_soft": 1, "nofile_hard": 2, "stack_soft_bytes": "unlimited", "unit": "slurmd.scope"}


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="a container needs root")
@pytest.mark.parametrize("kind", ["own", "contained", "set-uid"])
def test_a_launcher_that_is_not_the_nodes(kind, tmp_path):
    """Root's, with a low limit: in another PID namespace, or a set-uid program that a user started by that name."""
    program_file = tmp_path / "slurmd"
    shutil.copy("/bin/sleep", program_file)
    own = 4096 * (1 + os.getpid() % 1000)
    words = ["unshare", "-p", "-f", "-m", "--mount-proc", "--kill-child"] if kind == "contained" else []
    program_file.chmod(0o4755 if kind == "set-uid" else 0o755)
    with subprocess.Popen([*words, str(program_file), "60"], preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_MEMLOCK, (own, own))) as process:
        try:
            waiting.until(lambda: any(name_of(pid) == "slurmd" for pid in [process.pid, *children(process.pid)]), "the program")
            found = [p for p in document()["limits"]["launchers"] if p["memlock_soft_bytes"] == own]
        finally:
            process.kill()
    assert bool(found) == (kind == "own"), found


def name_of(pid):
    try:
        with open("/proc/%s/comm" % pid, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return file.read().split()
