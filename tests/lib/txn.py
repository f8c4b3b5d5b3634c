# SPDX-License-Identifier: GPL-2.0-or-later
"""Transactions: small roots, the driver, and what a root looks like before and after."""
import json
import os
import shutil
import signal
import stat
import subprocess

import pytest

from . import cpio, journal, program, waiting

KERNEL = "6.1.0-test"
IMAGE = "/boot/initrd.img-" + KERNEL
MENU = "/boot/grub/grub.cfg"
CONF = "/etc/modprobe.d/zz-nvnodecheck.conf"
MENU2 = "/boot/grub2/grub.cfg"
ENTRY, GRUBENV = "/boot/loader/entries/a.conf", "/boot/grub2/grubenv"
UNIT, WANTS = "/usr/lib/systemd/system/x.service", "/etc/systemd/system/multi-user.target.wants"
STATE = "/var/lib/nvnodecheck/fix"
PROGRAMS = ("mkinitramfs", "grub-mkconfig", "grub2-mkconfig")
OPTIONS = 'options nvidia NVreg_RegistryDwords="PeerMappingOverride=1;"\n'


def build(name):
    folder = os.path.dirname(os.path.abspath(program.binary()))
    return os.path.join(folder, "tests", name)


needs = [
    pytest.mark.skipif(os.geteuid() != 0, reason="owners and chroot need root"),
    pytest.mark.skipif(not os.path.exists(build("txn-driver")),
                       reason="make unit builds the driver"),
]
needs_standin = pytest.mark.skipif(not os.path.exists(build("generator-standin")),
                                   reason="no static C library to link the stand-in with")
needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")


@pytest.fixture
def root(place):
    return make(os.path.join(place, "txn"))


def driver():
    return build("txn-driver")


def standin():
    return build("generator-standin")


def put(root, path, content, mode=0o644):
    place = root + path
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    os.chmod(place, mode)


def read(root, path):
    with open(root + path, "rb") as file:
        return file.read()


def image(*conf, marker="scripts/functions"):
    """An image as initramfs-tools makes them, with modprobe.d files CONF (name, text)."""
    entries = [(marker, "file", ""),
               ("lib/modules/%s/kernel/fs/ext4.ko" % KERNEL, "file", ""),
               ("lib/modules/%s/kernel/nvme-core.ko.xz" % KERNEL, "file", "")]
    return cpio.archive(entries + [("etc/modprobe.d/" + n, "file", t) for n, t in conf], 0)


def make(root, programs=True):
    """A root with something of everything that transactions change."""
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("etc/modprobe.d", "etc/default", "boot/grub", "boot/grub2", "var/lib", "run",
                   "usr/sbin", "usr/bin", "etc/systemd/system/multi-user.target.wants"):
        os.makedirs(os.path.join(root, folder))
    put(root, "/etc/default/grub", "quiet\n", 0o640)
    put(root, "/etc/stale.conf", "options nvidia NVreg_Old=1\n", 0o600)
    put(root, IMAGE, image(), 0o600)
    for menu in (MENU, MENU2):
        put(root, menu, "menuentry 'Test' {\n\tlinux /vmlinuz root=/dev/vda1 quiet\n}\n", 0o400)
    put(root, UNIT, "[Service]\n[Install]\nWantedBy=multi-user.target\n")
    put(root, ENTRY, "options quiet\n")
    put(root, GRUBENV, "kernelopts=quiet\n")
    put(root, "/lib/modules/%s/modules.dep" % KERNEL, "")
    os.setxattr(root + "/etc/default/grub", "trusted.nvnodecheck", b"\x00label\xff")
    os.chown(root + "/etc/stale.conf", 3, 4)
    for path in ("/etc/default/grub", "/etc/stale.conf", IMAGE, MENU):
        os.utime(root + path, ns=(1, 1_600_000_000_123_456_789))
    if programs:
        for name in PROGRAMS:
            os.link(standin(), root + "/usr/sbin/" + name) if same_device(root) else shutil.copy(
                standin(), root + "/usr/sbin/" + name)
        shutil.copy(root + "/usr/sbin/mkinitramfs", root + "/usr/bin/systemctl")
    return root


def same_device(root):
    return os.stat(root).st_dev == os.stat(standin()).st_dev


def file(path, after, **more):
    return dict({"path": path}, **({} if after is None else {"after": after}), **more)


FILES = [file(CONF, OPTIONS), file("/etc/default/grub", "quiet iommu=pt\n"),
         file("/etc/stale.conf", None), file("/etc/systemd/system/x.service.d/n.conf", "[Service]\n")]
IMAGE_STEP = {"kind": "initramfs", "subject": KERNEL, "path": IMAGE, "tool": "initramfs-tools",
              "must_hold": ["nvidia NVreg_RegistryDwords=PeerMappingOverride=1;"]}
MENU_STEP = {"kind": "boot-loader", "tool": "grub-mkconfig", "path": MENU, "must_hold": ["iommu=pt"]}
# That of RHEL also edits grubenv and entries in their place.
GRUB2_STEP = {"kind": "boot-loader", "tool": "grub2-mkconfig", "path": MENU2}
UNIT_STEP = {"kind": "unit-enable", "subject": "x.service"}
STEPS = [IMAGE_STEP, MENU_STEP, GRUB2_STEP, UNIT_STEP]


def plan(root, files=FILES, steps=(), **more):
    path = root + ".plan"
    with open(path, "w", encoding="utf-8") as out:
        json.dump(dict({"files": list(files), "steps": list(steps)}, **more), out)
    return path


class Ran:
    def __init__(self, process):
        self.killed = process.returncode == -signal.SIGKILL
        self.status = process.returncode
        self.err = process.stderr.decode("utf-8", "replace")
        self.out = process.stdout.decode("utf-8", "replace")
        self.outcome = json.loads(self.out) if self.out.strip() and not self.killed else None

    @property
    def result(self):
        return self.outcome["result"] if self.outcome else None

    def item(self, part):
        return next(i for i in self.outcome["items"] if part in i["subject"])

    def __str__(self):
        return "status %s\n%s\n%s" % (self.status, self.out, self.err)


def run(root, *args, wrap=(), crash=0, at=None, env=None, timeout=180):
    """Killed at the CRASHth point, of those that are called AT."""
    environment = program.environment(**(env or {}))
    if crash:
        environment["NVNODECHECK_TEST_CRASH_AT"] = str(crash)
    if at:
        environment["NVNODECHECK_TEST_POINT"] = at
    return Ran(subprocess.run([*wrap, driver(), root, *args], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
                              timeout=timeout, check=False))


class Stopped:
    """A run that stands still at the COUNTth point, of those that are called AT."""

    def __init__(self, root, *args, count=1, at=None, wrap=()):
        more = {"NVNODECHECK_TEST_STOP_AT": str(count)}
        if at:
            more["NVNODECHECK_TEST_POINT"] = at
        self.process = subprocess.Popen(
            [*wrap, driver(), root, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=program.environment(**more))
        self.pid = self.process.pid
        waiting.until(self.stands, "the run to stop")

    def stands(self):
        assert self.process.poll() is None, "ended before it came to that point"
        with open("/proc/%d/stat" % self.pid, encoding="ascii") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "T"

    def go_on(self):
        """To its end."""
        os.kill(self.pid, signal.SIGCONT)
        out, err = self.process.communicate()
        return Ran(subprocess.CompletedProcess((), self.process.returncode, out, err))

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.process.communicate()


def points(root, *args):
    """At how many points a run that ends well could be killed."""
    ran = run(root, *args, env={"NVNODECHECK_TEST_COUNT": "1"})
    return int(ran.err.split("points ")[1].split()[0])


def attributes(path):
    return {n: os.getxattr(path, n, follow_symlinks=False)
            for n in os.listxattr(path, follow_symlinks=False)}


OURS = ("/var/lib/nvnodecheck", "/run/nvnodecheck")


def look(root):
    """{path: what is there}, without what the transaction keeps for itself."""
    seen = {}
    for folder, folders, files in os.walk(root):
        inside = folder[len(root):]
        folders[:] = sorted(f for f in folders if inside + "/" + f not in OURS)
        for name in folders + files:
            place, path = folder + "/" + name, inside + "/" + name
            st = os.lstat(place)
            what = [oct(st.st_mode), st.st_uid, st.st_gid, attributes(place)]
            if stat.S_ISREG(st.st_mode) and not path.startswith(("/standin", "/usr/")):
                what += [read(root, path), st.st_mtime_ns]
            elif stat.S_ISLNK(st.st_mode):
                what.append(os.readlink(place))
            if not path.startswith("/standin"):
                seen[path] = what
    return seen


def content(seen):
    """The same without times: what was just written has the time of its writing."""
    return {p: w[:5] if len(w) > 5 else w for p, w in seen.items()}


def difference(a, b):
    return {p: (a.get(p), b.get(p)) for p in sorted(set(a) | set(b)) if a.get(p) != b.get(p)}


def check(ran, result):
    assert ran.result == result, str(ran)
    return ran


def applied(root, files=FILES, steps=(), *args):
    return check(run(root, "apply", plan(root, files, steps), *args), "applied")


def refused(root, files=FILES, steps=(), **more):
    before = look(root)
    ran = check(run(root, "apply", plan(root, files, steps, **more)), "refused")
    assert not difference(look(root), before)
    assert os.listdir(root + STATE) == [] if os.path.isdir(root + STATE) else True
    return ran.outcome["text"]


def folder(root, ran):
    """Where a transaction keeps what it keeps."""
    return "%s%s/%s" % (root, STATE, ran.outcome["id"])


def forge(place, edit=lambda record: record, events=lambda events: events):
    """Another record in the folder PLACE, and a journal that fits it: what a stranger would write who made
    the tree. EDIT takes and gives the record, EVENTS the lines after the first."""
    ident = os.path.basename(place)
    said = journal.events(read(place, "/journal").decode())[1:]
    text = json.dumps(edit(json.loads(read(place, "/plan.json"))))
    put(place, "/plan.json", text, 0o600)
    put(place, "/journal", journal.begun(ident, text, *events(said)), 0o600)


def in_namespace(script, *args):
    """Runs SCRIPT with mounts of its own."""
    own = program.with_own_mounts("--propagation", "private")
    return subprocess.run([*own, "sh", "-ec", script, "sh", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, env=program.environment())


def outcome(process):
    assert process.stdout, process.stderr
    return json.loads(process.stdout)


def copy(root, to):
    shutil.rmtree(to, ignore_errors=True)
    subprocess.run(["cp", "-a", root, to], check=True)
