# SPDX-License-Identifier: GPL-2.0-or-later
"""--root: nothing outside the tree is read, whatever links the tree holds."""
import os
import re
import shutil
import subprocess

import pytest

from lib import node, program, textform
from lib.program import run, steady

NODE = "rtx4090-p2p"
CANARY = "canary-of-the-test"


@pytest.fixture(params=["openat2", "walk"])
def wrap(request):
    """As this kernel does it, and as one without openat2."""
    if request.param == "openat2":
        return ()
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    return ("strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", "trace=openat2", "-e",
            "inject=openat2:error=ENOSYS")


@pytest.fixture
def outside(place):
    """Files beside the tree that nothing may come from."""
    folder = os.path.join(place, "outside")
    os.makedirs(folder, exist_ok=True)
    for name, text in (("hostname", CANARY), ("nvidia.conf", "options nvidia NVreg_%s=1" % CANARY),
                       ("params", '%s: 1' % CANARY), ("os-release", "PRETTY_NAME=%s" % CANARY),
                       ("config", CANARY * 500), ("class", "0x030000"), ("vendor", "0x10de")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text + "\n")
    yield folder
    shutil.rmtree(folder)


def put(scratch, *edits):
    scratch.put(node.tree_of(NODE, [textform.Statement("test", 1, e) for e in edits]))
    return scratch.directory


LINKED = ("/proc/sys/kernel/hostname", "/etc/os-release", "/proc/driver/nvidia/params",
          "/etc/modprobe.d/blacklist-nouveau.conf")
FILES = ("hostname", "os-release", "params", "nvidia.conf")


def check(directory, wrap):
    # A capture has all that was read in it; strace makes each run slow.
    runs = [["capture", "-o", "-"], ["facts"], ["doctor", "--json", "--profile", "deepep"]]
    for args in runs[:1] if wrap else runs:
        result = run(*args, "--root", directory, wrap=wrap)
        assert result.status in (0, 1), str(result)
        assert CANARY not in result.out, args
    return run("facts", "--root", directory, wrap=wrap).json()


def test_absolute_links(scratch, outside, wrap):
    """An absolute link starts at the tree's root, where its target is not."""
    directory = put(scratch, *["link %s %s/%s" % (path, outside, file)
                               for path, file in zip(LINKED, FILES)])
    facts = check(directory, wrap)
    assert facts["os"]["hostname"] is None


def test_links_upwards(scratch, outside, wrap):
    up = "../" * 20
    check(put(scratch, *["link %s %s%s/%s" % (path, up, outside.lstrip("/"), file)
                         for path, file in zip(LINKED, FILES)]), wrap)


def test_folder_that_is_a_link(scratch, outside, wrap):
    check(put(scratch, "remove /etc/modprobe.d", "link /etc/modprobe.d " + outside,
              "remove /proc/driver/nvidia", "link /proc/driver/nvidia " + outside), wrap)


def test_link_to_this_machine(scratch, wrap):
    """/etc inside the tree, not this host's: absolute links within it work."""
    directory = put(scratch, "link /etc/os-release /usr/lib/os-release",
                    "file /usr/lib/os-release text='ID=inside\\nPRETTY_NAME=\"Inside\"\\n'")
    facts = check(directory, wrap)
    assert facts["os"].get("id", "inside") == "inside"


def test_loops(scratch, wrap):
    directory = put(scratch, "link /etc/os-release os-release", "link /etc/a b", "link /etc/b a",
                    "remove /etc/modprobe.d", "link /etc/modprobe.d a",
                    "link /proc/sys/kernel/hostname ../../../etc/b")
    # What the node's name is has to be known, so that a capture is without it.
    capture = run("capture", "-o", "-", "--root", directory, wrap=wrap)
    assert capture.status == 4 and "Too many levels of symbolic links" in capture.err, str(capture)
    facts = run("facts", "--root", directory, wrap=wrap).json()
    assert "hostname" not in facts["os"]
    assert any(g["error"] == "ELOOP" for g in facts["gaps"])


def test_the_two_ways_agree(node_tree, wrap):
    for name in ("hgx-h100-ib", "debian-nvidia-current"):
        plain = steady(run("facts", "--root", node_tree(name)).json())
        assert steady(run("facts", "--root", node_tree(name), wrap=wrap).json()) == plain


def test_hostile_devices(scratch, outside, wrap):
    """A device's folder, or a file in it, that leads out of the tree costs what it hides, no more."""
    target = "/sys/bus/pci/devices/0000:01:00.0"
    for edits in (["link %s %s" % (target, outside)],
                  ["link %s/config %s/config" % (target, outside)],
                  ["link %s/class %s/class" % (target, outside)],
                  ["link %s/driver %s" % (target, outside)],
                  ["link %s/config ../../../../../../../../../../..%s/config" % (target, outside)],
                  ["remove %s/config" % target, "fifo %s/config" % target],
                  ["remove /sys/bus/pci/devices", "link /sys/bus/pci/devices " + outside],
                  ["link /sys/bus " + outside] if False else ["folder /sys/bus/pci/devices/x"]):
        facts = check(put(scratch, *edits), wrap)
        assert not [p for p in facts["probes"] if p["state"] in ("failed", "timed-out")], edits


def test_devices_with_odd_names(scratch):
    """libpci ends the process at a name that is no address; that must not end the program."""
    directory = put(scratch, "file /sys/bus/pci/devices/nonsense/config text=x",
                    "file /sys/bus/pci/devices/0000:zz:00.0/config text=x",
                    "file /sys/bus/pci/devices/fffff:00:00.0/config text=x")
    report = program.report(directory)
    assert report["findings"]


def opened_outside(directory, *args):
    """The files that the program opened, seen by strace, which are neither in the tree nor of the
    system that runs the program. libkmod always reads this machine's command line, and from 34 on how this
    machine's modules are compressed; nothing that is taken from it then depends on that. Whether a tree has
    the running kernel's own files is a question for the list of mounts."""
    log = os.path.join(program.BUILD, "opened.txt")
    run(*args, "--root", directory, wrap=(
        "strace", "-f", "--seccomp-bpf", "-qq", "-o", log, "-e",
        "trace=open,openat,openat2,stat,readlink,execve,connect,socket"))
    allowed = re.compile(r"^(/etc/ld\.so\.|/lib|/usr/lib|/proc/self/(fd|fdinfo|mountinfo|maps|exe)|/dev/null|"
                         r"/proc/cmdline$|/sys/module/compression$|/usr/share/zoneinfo|/etc/localtime|%s|%s|%s)" % (
                             re.escape(directory), re.escape(program.binary()),
                             re.escape(os.path.dirname(program.binary()))))
    with open(log, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    os.unlink(log)
    bad = []
    for line in lines:
        match = re.search(r'(?:AT_FDCWD, |open\(|stat\(|readlink\(|execve\()"(/[^"]*)"', line)
        # Folders of libraries are named to Landlock, and not read.
        if "O_PATH" in line and match and match.group(1) in ("/usr", "/nix/store", "/gnu/store"):
            continue
        # Finding out where the tree lies looks at the folders above it.
        if match and not allowed.match(match.group(1)) and not directory.startswith(match.group(1)):
            bad.append(line)
        if re.search(r"\b(connect|socket)\(", line) or re.search(r"O_(WRONLY|RDWR|CREAT)", line):
            if "/dev/null" not in line:
                bad.append(line)
    return bad


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
@pytest.mark.parametrize("name", ["hgx-h100-ib", "rhel9-proprietary-dracut", "h200-x1"])
def test_looking_changes_nothing_and_stays_inside(name, node_tree):
    """Of this machine only libraries are opened; nothing is opened for writing; no socket, no
    program."""
    directory = node_tree(name)
    for args in (["doctor"], ["facts"], ["doctor", "--profile", "deepep,p2p"]):
        assert not opened_outside(directory, *args)[:5]


def test_tree_is_unchanged(node_tree):
    directory = node_tree("hgx-h100-ib")

    def listing():
        return subprocess.run(["find", directory, "-printf", "%p %s %T@ %m %l\\n"],
                              stdout=subprocess.PIPE, check=True).stdout
    before = listing()
    run("doctor", "--root", directory)
    assert listing() == before


def without(*folders):
    """In front of a command: nothing is mounted there, as in the chroot of a rescue system."""
    script = "".join("mount -t tmpfs none %s; " % folder for folder in folders) + 'exec "$@"'
    return (*program.with_own_mounts(), "sh", "-ec", script, "sh")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_tree_is_read_without_proc(node_tree):
    """What this machine lacks is not missing on the node."""
    with_proc = steady(program.facts(node_tree("h20-roce-deepep")))
    facts = steady(program.facts(node_tree("h20-roce-deepep"), wrap=without("/proc")))
    for part in ("os", "pci", "driver", "rdma", "modprobe", "cmdline", "iommu"):
        assert facts[part] == with_proc[part], part


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
def test_host_without_proc_and_sys_is_unknown():
    result = run("preflight", wrap=without("/proc", "/sys"))
    assert result.status == 3, str(result)
    assert "/sys: not mounted" in result.out and "/proc: not mounted" in result.out, str(result)
