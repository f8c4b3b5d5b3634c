# SPDX-License-Identifier: GPL-2.0-or-later
"""Transactions: whatever happens in between, a root is as the plan wants it or as it was."""
import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time
from random import Random

import pytest

from lib import program, txn

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="owners and chroot need root"),
    pytest.mark.skipif(not os.path.exists(txn.driver()), reason="make unit builds the driver"),
]
needs_standin = pytest.mark.skipif(not os.path.exists(txn.standin()),
                                   reason="no static C library to link the stand-in with")
needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")


@pytest.fixture
def root(place):
    return txn.make(os.path.join(place, "txn"))


def check(ran, result):
    assert ran.result == result, str(ran)
    return ran


def applied(root, files=txn.FILES, steps=(), *args):
    return check(txn.run(root, "apply", txn.plan(root, files, steps), *args), "applied")


# ---- all goes well ----

@needs_standin
def test_apply_and_undo(root):
    before = txn.look(root)
    ran = applied(root, txn.FILES, txn.STEPS)
    assert {i["state"] for i in ran.outcome["items"]} == {"done"}
    assert txn.read(root, txn.CONF).decode() == txn.OPTIONS
    assert not os.path.exists(root + "/etc/stale.conf")
    assert b"NVreg_RegistryDwords" in txn.read(root, txn.IMAGE)
    assert b"iommu=pt" in txn.read(root, txn.MENU)
    assert b"more" in txn.read(root, txn.ENTRY)
    # Owner, mode and attributes of what was replaced stay.
    after = txn.look(root)
    for path in ("/etc/default/grub", txn.IMAGE, txn.MENU, txn.ENTRY):
        assert after[path][:4] == before[path][:4], path
    folder = root + txn.STATE + "/" + ran.outcome["id"]
    assert "before.1" in os.listdir(folder)
    check(txn.run(root, "undo"), "undone")
    assert not txn.difference(txn.look(root), before)
    # What was done stays on record, without the images.
    assert sorted(os.listdir(folder)) == ["journal", "plan.json"]
    assert check(txn.run(root, "undo"), "nothing")


def test_acl_and_owner_stay(root):
    path = root + "/etc/default/grub"
    os.chown(path, 7, 8)
    if not shutil.which("setfacl"):
        pytest.skip("setfacl is not installed")
    subprocess.run(["setfacl", "-m", "u:9:r", path], check=True)
    subprocess.run(["setfacl", "-d", "-m", "u:10:rw", root + "/etc/default"], check=True)
    before = txn.look(root)
    applied(root)
    assert txn.look(root)["/etc/default/grub"][:4] == before["/etc/default/grub"][:4]
    check(txn.run(root, "undo"), "undone")
    assert not txn.difference(txn.look(root), before)


def test_list(root):
    first = applied(root).outcome["id"]
    assert [e["status"] for e in json.loads(txn.run(root, "list").out)] == ["applied"]
    txn.run(root, "undo", first)
    entry, = json.loads(txn.run(root, "list").out)
    assert entry["status"] == "undone" and txn.CONF in entry["files"]
    assert entry["who"].startswith("uid 0")


def test_record_has_hashes_and_who(root):
    ran = txn.run(root, "apply", txn.plan(root), env={"SUDO_UID": "1000"})
    folder = root + txn.STATE + "/" + ran.outcome["id"]
    record = json.loads(txn.read(folder, "/plan.json"))
    assert "through sudo by uid 1000" in record["who"]
    for file in record["files"]:
        assert file["before"] is None or len(file["before"]["sha256"]) == 64
        assert file["after"] is None or len(file["after"]) == 64
    assert oct(os.stat(folder).st_mode & 0o777) == "0o700"


def test_no_regenerate(root):
    before = txn.look(root)
    ran = applied(root, txn.FILES, txn.STEPS, "--no-regenerate")
    assert ran.item("initramfs")["state"] == "left"
    assert txn.look(root)[txn.IMAGE] == before[txn.IMAGE]
    check(txn.run(root, "undo"), "undone")
    assert not txn.difference(txn.look(root), before)


def test_nothing_to_do(root):
    assert txn.run(root, "apply", txn.plan(root, [])).result == "nothing"


# ---- refused, and nothing changed ----

def refused(root, files=txn.FILES, steps=(), **more):
    before = txn.look(root)
    ran = check(txn.run(root, "apply", txn.plan(root, files, steps, **more)), "refused")
    assert not txn.difference(txn.look(root), before)
    assert os.listdir(root + txn.STATE) == [] if os.path.isdir(root + txn.STATE) else True
    return ran.outcome["text"]


def test_refused_by_the_plan(root):
    assert "sealed" in refused(root, refused="the host is sealed")


@pytest.mark.parametrize("was, now", [("other\n", "quiet\n"), (None, "quiet\n"), ("x\n", None)])
def test_edit_between_plan_and_apply(root, was, now):
    path = "/etc/default/grub" if now else "/etc/new"
    text = refused(root, [txn.file(txn.CONF, "x\n"), txn.file(path, "y\n", before=was)])
    assert path in text and "changed since the plan was made" in text


def test_links_are_refused(root):
    os.symlink("/etc/alternatives/x", root + "/etc/modprobe.d/nvidia.conf")
    assert "symbolic link" in refused(root, [txn.file("/etc/modprobe.d/nvidia.conf", "x\n",
                                                      before="")])
    os.symlink("/dev/null", root + txn.CONF)
    assert "/dev/null" in refused(root, [txn.file(txn.CONF, "x\n")])


def test_folder_that_is_a_link(root, place):
    outside = os.path.join(place, "outside-txn")
    os.makedirs(outside, exist_ok=True)
    shutil.rmtree(root + "/etc/modprobe.d")
    for target in (outside, "/tmp", "../../..", "systemd"):
        os.symlink(target, root + "/etc/modprobe.d")
        assert "symbolic link" in refused(root, [txn.file(txn.CONF, "x\n")])
        os.unlink(root + "/etc/modprobe.d")
    assert not os.listdir(outside)


@pytest.mark.parametrize("mode, uid, gid", [(0o777, 0, 0), (0o1777, 0, 0), (0o775, 0, 5),
                                            (0o755, 5, 0)])
def test_folder_of_others(root, mode, uid, gid):
    os.chown(root + "/etc/modprobe.d", uid, gid)
    os.chmod(root + "/etc/modprobe.d", mode)
    assert "modprobe.d on the way" in refused(root, [txn.file(txn.CONF, "x\n")])


def test_folder_of_others_through_an_acl(root):
    if not shutil.which("setfacl"):
        pytest.skip("setfacl is not installed")
    subprocess.run(["setfacl", "-m", "u:9:rwx", root + "/etc/modprobe.d"], check=True)
    assert "ACL" in refused(root, [txn.file(txn.CONF, "x\n")])


def test_hard_links_are_refused(root):
    os.link(root + "/etc/default/grub", root + "/etc/grub.backup")
    assert "hard links" in refused(root)


@pytest.mark.parametrize("path", ["/etc/../tmp/x", "etc/x", "/etc//x", "/etc/./x", "/", "/etc/"])
def test_paths_that_are_not_plain(root, path):
    assert "refused" in refused(root, [txn.file(path, "x\n", before=None)])


def test_no_regular_file(root):
    os.mkfifo(root + "/etc/fifo")
    assert "regular" in refused(root, [txn.file("/etc/fifo", "x\n", before=None)])
    os.mkdir(root + "/etc/folder")
    assert "folder" in refused(root, [txn.file("/etc/folder", "x\n", before=None)])


def test_the_same_file_twice(root):
    assert "twice" in refused(root, [txn.file(txn.CONF, "x\n"), txn.file(txn.CONF, "y\n")])


def in_namespace(script, *args):
    """Runs SCRIPT with mounts of its own."""
    return subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-ec", script,
                           "sh", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=program.environment())


def outcome(process):
    assert process.stdout, process.stderr
    return json.loads(process.stdout)


def test_mounted_file_is_refused(root):
    plan = txn.plan(root)
    before = txn.look(root)
    ran = in_namespace('mount --bind "$1/etc/stale.conf" "$1/etc/default/grub"; '
                       'sed -i s/XX/XX/ "$3" 2>/dev/null || :; "$2" "$1" apply "$3"',
                       root, txn.driver(), txn.plan(root, [txn.file("/etc/default/grub", "x\n",
                       before="options nvidia NVreg_Old=1\n")]))
    assert plan and outcome(ran)["result"] == "refused"
    assert "mount" in outcome(ran)["text"]
    assert not txn.difference(txn.look(root), before)


def test_read_only_root(root):
    before = txn.look(root)
    ran = in_namespace('mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"; "$2" "$1" apply "$3"',
                       root, txn.driver(), txn.plan(root))
    assert outcome(ran)["result"] == "refused"
    assert not txn.difference(txn.look(root), before)


def test_read_only_etc(root):
    before = txn.look(root)
    ran = in_namespace('mount --bind "$1/etc" "$1/etc"; mount -o remount,bind,ro "$1/etc"; '
                       '"$2" "$1" apply "$3"', root, txn.driver(), txn.plan(root))
    assert outcome(ran)["result"] == "rolled-back"
    assert "Read-only" in outcome(ran)["text"]
    assert not txn.difference(txn.look(root), before)


@needs_standin
@pytest.mark.parametrize("folder", ["etc", "boot", "var"])
def test_full_disk(root, folder):
    """A file system of 64 KiB there, which is full but for a few pages."""
    txn.put(root, "/etc/default/grub", "x" * 9000)
    txn.put(root, txn.IMAGE, txn.image(("big.conf", "#" * 9000)))
    before = txn.content(txn.look(root))
    plan = txn.plan(root, [txn.file(txn.CONF, "#" * 9000),
                           txn.file("/etc/default/grub", "y" * 9000)], [dict(txn.IMAGE_STEP,
                                                                              must_hold=[])])
    ran = in_namespace(
        'cp -a "$1/$4" "$1.copy"; mount -t tmpfs -o size=64k,mode=755 tmpfs "$1/$4"; '
        'cp -a "$1.copy/." "$1/$4"; dd if=/dev/zero of="$1/$4/ballast" bs=4k 2>/dev/null || :; '
        'truncate -s -8192 "$1/$4/ballast"; '
        '"$2" "$1" apply "$3" || :; rm "$1/$4/ballast"; rm -rf "$1.copy"/*; cp -a "$1/$4" "$1.copy/now"',
        root, txn.driver(), plan, folder)
    assert outcome(ran)["result"] in ("refused", "rolled-back"), ran.stdout
    shutil.rmtree(root + "/" + folder)
    shutil.move(root + ".copy/now", root + "/" + folder)
    shutil.rmtree(root + ".copy")
    assert not txn.difference(txn.content(txn.look(root)), before)


# ---- packages, and two at once ----

@pytest.fixture
def holder(root):
    """holder(path): keeps a lock on it as dpkg does."""
    started = []

    def hold(path):
        txn.put(root, path, "")
        pid = os.fork()
        if pid == 0:
            fd = os.open(root + path, os.O_RDWR)
            fcntl.fcntl(fd, fcntl.F_SETLK,
                        struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
            signal.pause()
        started.append(pid)
        time.sleep(0.2)
    yield hold
    for pid in started:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.parametrize("path", ["/var/lib/dpkg/lock-frontend", "/var/lib/rpm/.rpm.lock"])
def test_package_manager(root, holder, path):
    holder(path)
    assert "package manager" in refused(root)


def test_interrupted_dpkg(root):
    txn.put(root, "/var/lib/dpkg/updates/0001", "")
    assert "dpkg --configure -a" in refused(root)


def stopped(root, *args, at):
    """A run that stands still in the middle, until it gets SIGCONT."""
    process = subprocess.Popen([txn.driver(), root, *args], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL,
                               env=program.environment(NVNODECHECK_TEST_STOP_AT=str(at)))
    for _ in range(500):
        with open("/proc/%d/stat" % process.pid, encoding="ascii") as file:
            if file.read().rsplit(")", 1)[1].split()[0] == "T":
                return process
        time.sleep(0.01)
    raise AssertionError("did not stop")


def test_two_at_once(root):
    before = txn.look(root)
    plan = txn.plan(root)
    first = stopped(root, "apply", plan, at=40)
    for verb in (["apply", plan], ["undo"], ["recover"]):
        ran = txn.run(root, *verb)
        assert ran.result == "refused" and "process %d" % first.pid in ran.outcome["text"]
    waiting = subprocess.Popen([txn.driver(), root, "undo", "--wait", "20"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    os.kill(first.pid, signal.SIGCONT)
    assert json.loads(first.communicate()[0])["result"] == "applied"
    waiting.communicate()
    assert txn.run(root, "undo").result in ("undone", "nothing")
    assert not txn.difference(txn.look(root), before)


def test_signal_rolls_back(root):
    before = txn.look(root)
    first = stopped(root, "apply", txn.plan(root), at=50)
    os.kill(first.pid, signal.SIGTERM)
    os.kill(first.pid, signal.SIGCONT)
    result = json.loads(first.communicate()[0])
    assert result["result"] == "rolled-back" and "signal" in result["text"]
    assert not txn.difference(txn.look(root), before)


def test_edit_while_applying(root):
    """Somebody writes between the copy that is kept and the rename."""
    for at in range(1, txn.points(txn.make(root), "apply", txn.plan(root)), 2):
        txn.make(root)
        first = stopped(root, "apply", txn.plan(root), at=at)
        txn.put(root, "/etc/default/grub", "edited by an admin\n", 0o640)
        os.kill(first.pid, signal.SIGCONT)
        result = json.loads(first.communicate()[0])["result"]
        # At the instant of the rename itself an edit can be overtaken; never is it half kept.
        text = txn.read(root, "/etc/default/grub")
        if text == b"edited by an admin\n":
            assert os.path.exists(root + "/etc/stale.conf") or result == "applied"
        else:
            assert text == b"quiet iommu=pt\n" and result == "applied"
        if result != "applied":
            assert not os.path.exists(root + txn.CONF)


# ---- undo, and who changed what since ----

def test_undo_keeps_what_somebody_changed(root):
    applied(root)
    txn.put(root, txn.CONF, "# mine now\n")
    ran = txn.run(root, "undo")
    assert check(ran, "partly").item(txn.CONF)["state"] == "kept"
    assert "somebody changed it" in ran.item(txn.CONF)["text"]
    assert txn.read(root, txn.CONF) == b"# mine now\n"
    assert txn.read(root, "/etc/default/grub") == b"quiet\n"
    assert os.path.exists(root + "/etc/stale.conf")


def test_undo_of_removed_and_linked(root):
    applied(root)
    os.unlink(root + "/etc/default/grub")
    os.unlink(root + txn.CONF)
    os.symlink("/etc/passwd", root + txn.CONF)
    ran = check(txn.run(root, "undo"), "partly")
    assert ran.item("default/grub")["state"] == "kept"
    assert ran.item(txn.CONF)["state"] == "kept"
    assert os.readlink(root + txn.CONF) == "/etc/passwd"


def test_undo_what_the_user_took_back_already(root):
    before = txn.content(txn.look(root))
    applied(root)
    os.unlink(root + txn.CONF)
    check(txn.run(root, "undo"), "undone")
    assert not txn.difference(txn.content(txn.look(root)), before)


def test_undo_in_order(root):
    first = applied(root, txn.FILES).outcome["id"]
    second = applied(root, [txn.file(txn.CONF, "again\n")]).outcome["id"]
    text = check(txn.run(root, "undo", first), "refused").outcome["text"]
    assert second in text and txn.CONF in text
    check(txn.run(root, "undo"), "undone")
    assert txn.read(root, txn.CONF).decode() == txn.OPTIONS
    check(txn.run(root, "undo", first), "undone")
    assert check(txn.run(root, "undo", "20990101T000000Z-0000"), "refused")


def test_damaged_copy_is_not_used(root):
    ran = applied(root)
    folder = root + txn.STATE + "/" + ran.outcome["id"]
    txn.put(folder, "/before.1", "rotten\n")
    ran = check(txn.run(root, "undo"), "partly")
    assert "is damaged" in ran.item("default/grub")["text"]
    assert txn.read(root, "/etc/default/grub") == b"quiet iommu=pt\n"


@needs_standin
def test_undo_of_an_image_that_changed_since(root):
    """A kernel package built it anew meanwhile: the old one is not put back over it."""
    applied(root, txn.FILES, [txn.IMAGE_STEP])
    txn.put(root, txn.IMAGE, txn.image(("other.conf", txn.OPTIONS)), 0o600)
    ran = check(txn.run(root, "undo"), "undone")
    assert ran.item("initramfs")["state"] == "rebuilt"
    assert b"NVreg_" not in txn.read(root, txn.IMAGE)


@needs_standin
def test_undo_of_an_image_that_is_gone(root):
    applied(root, txn.FILES, [txn.IMAGE_STEP])
    os.unlink(root + txn.IMAGE)
    check(txn.run(root, "undo"), "undone")
    assert not os.path.exists(root + txn.IMAGE)


def test_failed_check_rolls_back(root):
    before = txn.look(root)
    ran = txn.run(root, "apply", txn.plan(root), "--fail-verify")
    assert check(ran, "rolled-back").outcome["text"] == "the test said so"
    assert {i["state"] for i in ran.outcome["items"]} == {"restored"}
    assert not txn.difference(txn.look(root), before)


# ---- programs that misbehave ----

@needs_standin
@pytest.mark.parametrize("name, mode, said", [
    ("mkinitramfs", "fail", "status 1"), ("mkinitramfs", "silent", "made no"),
    ("mkinitramfs", "empty", "empty"), ("mkinitramfs", "torn", "cannot be read back"),
    ("mkinitramfs", "forgets", "does not hold"), ("mkinitramfs", "loses", "nvme_core"),
    ("grub-mkconfig", "fail", "status 1"), ("grub-mkconfig", "silent", "made no"),
    ("grub-mkconfig", "empty", "empty"), ("grubby", "fail", "status 1"),
    ("systemctl", "fail", "status 1"),
])
def test_generator(root, name, mode, said):
    txn.put(root, "/standin." + name, mode)
    before = txn.look(root)
    ran = txn.run(root, "apply", txn.plan(root, steps=txn.STEPS))
    assert said in check(ran, "rolled-back").outcome["text"]
    assert not txn.difference(txn.look(root), before)


@needs_standin
@pytest.mark.parametrize("tool, program_, marker, words", [
    ("initramfs-tools", "sbin/mkinitramfs", "scripts/functions", "-o SIDE VER"),
    ("dracut", "bin/dracut", "usr/lib/dracut/dracut-059", "--force --kver VER SIDE"),
    ("mkinitcpio", "bin/mkinitcpio", "buildconfig", "-k VER -g SIDE"),
])
def test_each_generator(root, tool, program_, marker, words):
    txn.put(root, txn.IMAGE, txn.image(marker=marker), 0o600)
    shutil.copy(txn.standin(), root + "/usr/" + program_)
    before = txn.look(root)
    applied(root, txn.FILES, [dict(txn.IMAGE_STEP, tool=tool)])
    assert b"NVreg_RegistryDwords" in txn.read(root, txn.IMAGE)
    expected = words.replace("VER", txn.KERNEL).replace("SIDE", "/boot/.nvnodecheck.initrd.img-" +
                                                        txn.KERNEL)
    assert "run %s %s\n" % (program_[program_.index("/") + 1:], expected) in txn.read(
        root, "/standin.log").decode()
    check(txn.run(root, "undo"), "undone")
    assert not txn.difference(txn.look(root), before)


@needs_standin
def test_masked_unit(root):
    txn.put(root, "/standin.systemctl", "masked")
    assert "masked" in refused(root, steps=[txn.UNIT_STEP])


@needs_standin
def test_generator_that_hangs_is_stopped_by_a_signal(root):
    txn.put(root, "/standin.mkinitramfs", "hang")
    before = txn.look(root)
    process = subprocess.Popen([txn.driver(), root, "apply", txn.plan(root, steps=txn.STEPS)],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for _ in range(500):
        if os.path.exists(root + "/standin.log"):
            break
        time.sleep(0.01)
    # It has the lock as well, and this process is no more.
    assert "at work" in txn.run(root, "recover").outcome["text"]
    os.kill(process.pid, signal.SIGINT)
    assert json.loads(process.communicate()[0])["result"] == "rolled-back"
    assert not txn.difference(txn.look(root), before)


@needs_standin
def test_environment_of_programs(root):
    env = {"PATH": "/tmp/evil", "LC_ALL": "tr_TR.UTF-8", "DPKG_MAINTSCRIPT_PACKAGE": "x", "IFS": "/",
           "LD_PRELOAD": "", "BASH_ENV": "/tmp/evil", "TMPDIR": "/nowhere"}
    old = os.umask(0)
    fd = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(fd, True)
    try:
        process = subprocess.run([txn.driver(), root, "apply", txn.plan(root, steps=txn.STEPS)],
                                 env=env, stdin=subprocess.PIPE, close_fds=False, cwd="/tmp",
                                 stdout=subprocess.PIPE, check=False)
    finally:
        os.umask(old)
        os.close(fd)
    assert json.loads(process.stdout)["result"] == "applied"
    log = txn.read(root, "/standin.log").decode()
    assert set(re.findall(r"^env (.*)", log, re.M)) == {
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/root", "TERM=dumb",
        "SYSTEMD_COLORS=0", "SYSTEMD_PAGER="}
    assert set(re.findall(r"^cwd .*", log, re.M)) == {"cwd / umask 022 group own input empty"}
    # The lock alone.
    for run in log.split("run ")[1:]:
        assert len(re.findall(r"^fd ", run, re.M)) == 1, run
    assert oct(os.stat(root + txn.CONF).st_mode & 0o777) == "0o644"


@needs_standin
@pytest.mark.parametrize("argv", [["/bin/sh", "-c", "touch /evil"], ["/usr/sbin/../bin/sh"],
                                  ["grubby"], ["/tmp/grubby"]])
def test_only_programs_of_the_table(root, argv):
    refused(root, steps=[dict(txn.GRUBBY_STEP, argv=argv)])


@needs_standin
@pytest.mark.parametrize("edit", [
    lambda root: os.chown(root + "/usr/sbin/mkinitramfs", 5, 0),
    lambda root: os.chmod(root + "/usr/sbin/mkinitramfs", 0o757),
    lambda root: os.chmod(root + "/usr/sbin", 0o777),
    lambda root: os.chown(root + "/usr", 5, 5),
])
def test_programs_of_others(root, edit):
    """A tree that somebody else made is no reason to run what they put there."""
    os.unlink(root + "/usr/sbin/mkinitramfs")
    shutil.copy(txn.standin(), root + "/usr/sbin/mkinitramfs")
    edit(root)
    text = refused(root, steps=[txn.IMAGE_STEP])
    assert "others than root" in text or "on the way" in text
    assert not os.path.exists(root + "/standin.log")


@needs_standin
def test_program_through_a_link(root):
    """Merged /usr/sbin, alternatives: what counts is where they lead, inside the root."""
    os.rename(root + "/usr/sbin/mkinitramfs", root + "/usr/bin/real")
    os.symlink("/usr/bin/real", root + "/usr/sbin/mkinitramfs")
    ran = txn.run(root, "apply", txn.plan(root, steps=[txn.IMAGE_STEP]))
    # It is called by the name of the table.
    assert check(ran, "applied")
    os.unlink(root + "/usr/sbin/mkinitramfs")
    os.symlink("../../../../../../../../bin/true", root + "/usr/sbin/mkinitramfs")
    check(txn.run(root, "undo"), "undone")
    ran = txn.run(root, "apply", txn.plan(root, steps=[txn.IMAGE_STEP]))
    assert "not installed" in check(ran, "refused").outcome["text"]


def test_generator_that_is_not_there(root):
    txn.make(root, programs=False)
    for step in txn.STEPS:
        assert "not installed" in refused(root, steps=[step])
    assert txn.run(root, "apply", txn.plan(root, steps=txn.STEPS),
                   "--no-regenerate").result == "applied"


@pytest.mark.parametrize("edit, said", [
    ({"subject": "6.9-absent"}, "no image can be made"), ({"subject": "../../etc"}, "kernel release"),
    ({"subject": "-v"}, "kernel release"), ({"path": "/boot/other"}, "no such image"),
    ({"tool": "dracut"}, "not installed"), ({"tool": "sh"}, "builds no image"),
])
@needs_standin
def test_images_that_are_not_built(root, edit, said):
    assert said in refused(root, steps=[dict(txn.IMAGE_STEP, **edit)])


@needs_standin
def test_image_of_another_generator(root):
    shutil.copy(txn.standin(), root + "/usr/bin/dracut")
    assert "was made by initramfs-tools" in refused(root, steps=[dict(txn.IMAGE_STEP,
                                                                       tool="dracut")])


# ---- nothing outside the plan ----

CHANGING = ("open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,"
            "rmdir,link,linkat,symlink,symlinkat,chmod,fchmodat,chown,fchownat,lchown,truncate,"
            "mknod,mknodat,execve,setxattr,lsetxattr,mount,umount2")


@needs_strace
def test_nothing_outside_is_written(root, place):
    """Every name that the program itself opens for writing, renames or removes is one of the plan's, of
    the state folder or the lock; names are single ones, below folders that are open."""
    log = os.path.join(place, "trace")
    ran = txn.run(root, "apply", txn.plan(root), wrap=(
        "strace", "-y", "-qq", "-o", log, "-e", "trace=" + CHANGING))
    check(ran, "applied")
    allowed = re.compile(r"%s(/etc(/modprobe\.d|/default|/systemd/system(/x\.service\.d)?)?|/run"
                         r"(/nvnodecheck)?|/var/lib(/nvnodecheck(/fix(/[\w-]+)?)?)?)$"
                         % re.escape(root))
    with open(log, encoding="utf-8") as file:
        lines = [line for line in file if re.search(
            r"^(?!open|execve)|O_WRONLY|O_RDWR|O_CREAT", line) and not line.startswith(("+", "-"))]
    assert len(lines) > 10
    for line in lines:
        match = re.match(r'(\w+)\(\d+<([^>]*)>, "([^"/]+)"', line)
        assert match and allowed.match(match.group(2)), line


@needs_strace
@needs_standin
def test_no_shell(root, place):
    log = os.path.join(place, "trace")
    txn.run(root, "apply", txn.plan(root, steps=txn.STEPS), wrap=(
        "strace", "-f", "-qq", "-o", log, "-e", "trace=execve"))
    with open(log, encoding="utf-8") as file:
        run = set(re.findall(r'execve\("([^"]*)"', file.read()))
    assert run == {txn.driver(), "/usr/sbin/mkinitramfs", "/usr/sbin/grub-mkconfig",
                   "/usr/sbin/grubby", "/usr/bin/systemctl"}


def swap(folder, target):
    """Never returns."""
    while True:
        for step in (lambda: os.rename(folder, folder + ".away"), lambda: os.symlink(target, folder),
                     lambda: os.unlink(folder), lambda: os.rename(folder + ".away", folder)):
            try:
                step()
            except OSError:
                pass


def test_link_races(root, place):
    """Somebody who can write to a folder of the tree turns it into a link and back all the time: what
    lies outside stays as it is."""
    outside = os.path.join(place, "outside-race")
    shutil.rmtree(outside, ignore_errors=True)
    os.makedirs(outside + "/modprobe.d")
    txn.put(outside, "/modprobe.d/zz-nvnodecheck.conf", "canary\n")
    os.chmod(root + "/etc", 0o755)
    pid = os.fork()
    if pid == 0:
        swap(root + "/etc/modprobe.d", outside + "/modprobe.d")
    try:
        for _ in range(60):
            ran = txn.run(root, "apply", txn.plan(root, [txn.file(txn.CONF, "x\n", before=None)]))
            if ran.result == "applied":
                txn.run(root, "undo")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert os.listdir(outside) == ["modprobe.d"]
    assert os.listdir(outside + "/modprobe.d") == ["zz-nvnodecheck.conf"]
    assert txn.read(outside, "/modprobe.d/zz-nvnodecheck.conf") == b"canary\n"


def test_hostile_state_folder(root, place):
    """Records that point elsewhere, are links, or are no records."""
    outside = os.path.join(place, "outside-state")
    os.makedirs(outside, exist_ok=True)
    ran = applied(root)
    folder = root + txn.STATE + "/" + ran.outcome["id"]
    record = txn.read(folder, "/plan.json").decode()
    os.chmod(root + txn.STATE, 0o777)
    assert "can be written to by everyone" in txn.run(root, "undo").outcome["text"]
    os.chmod(root + txn.STATE, 0o700)
    txn.put(folder, "/plan.json", record.replace("/etc/default/grub", "/etc/../../x"))
    assert txn.run(root, "undo").item("x")["state"] == "kept"
    for text in ("", "{}", "[" * 100, record[:200], record.replace("initramfs", "\x00")):
        txn.put(folder, "/plan.json", text)
        assert txn.run(root, "undo").result in ("refused", "nothing", "partly", "undone")
    assert not os.listdir(outside)


# ---- what only a running host has ----

LIVE = r"""
for f in /var/lib /run /etc /boot /usr/sbin; do [ -d $f ] || continue
	[ -d "$1$f" ] && mount --bind "$1$f" $f || mount -t tmpfs -o mode=755 tmpfs $f; done
mount -t tmpfs -o mode=755 tmpfs /mnt; mkdir /mnt/dev; mknod /mnt/dev/null c 1 3
mount --bind /mnt/dev /dev
"""


def live(root, plan, script):
    """SCRIPT with $D the driver and $P the plan, where "/" has the folders of ROOT and a network, and
    thereby settings, of its own."""
    path = txn.plan(root, *plan)
    hidden = os.path.join(root, "usr", "sbin")
    os.makedirs(hidden, exist_ok=True)
    shutil.copy(txn.driver(), root + "/etc/txn-driver")
    shutil.copy(path, root + "/etc/plan")
    return subprocess.run(["unshare", "--mount", "--net", "--propagation", "private", "sh", "-ec",
                           LIVE + "D=/etc/txn-driver P=/etc/plan\n" + script, "sh", root],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=program.environment())


def test_settings_and_device_nodes(root):
    steps = [{"kind": "sysctl", "subject": "net.ipv4.ip_forward=1"},
             {"kind": "device-node", "subject": "/dev/gdrdrv c 240:0 0660"}]
    ran = live(root, ([], steps), """
cat /proc/sys/net/ipv4/ip_forward >&2
$D / apply $P > /etc/1 || :
cat /proc/sys/net/ipv4/ip_forward >&2; stat -c '%a %t:%T' /dev/gdrdrv >&2
$D / undo > /etc/2 || :
cat /proc/sys/net/ipv4/ip_forward >&2; ls /dev >&2
$D / apply $P > /dev/null; echo 2 > /proc/sys/net/ipv4/ip_forward
rm /dev/gdrdrv; mknod /dev/gdrdrv c 1 3
$D / undo > /etc/3 || :
cat /proc/sys/net/ipv4/ip_forward >&2; ls /dev >&2
""")
    said = [line for line in ran.stderr.decode().split("\n") if "net." not in line and "node" not in line]
    assert said[:6] == ["0", "1", "660 f0:0", "0", "null", "2"], said
    assert json.loads(txn.read(root, "/etc/1"))["result"] == "applied"
    assert json.loads(txn.read(root, "/etc/2"))["result"] == "undone"
    third = json.loads(txn.read(root, "/etc/3"))
    assert third["result"] == "partly"
    assert [i["state"] for i in third["items"]] == ["kept", "kept"]


def test_settings_after_a_boot(root):
    """Whatever the kernel was told is forgotten then, and what it has now comes from the files."""
    ran = live(root, ([], [{"kind": "sysctl", "subject": "net.ipv4.ip_forward=1"}]), """
$D / apply $P > /dev/null
sed -i 's/"boot_id":"[^"]*"/"boot_id":"00000000-0000-0000-0000-000000000000"/' /var/lib/nvnodecheck/fix/*/plan.json
grep -q 00000000-0000 /var/lib/nvnodecheck/fix/*/plan.json
$D / undo; cat /proc/sys/net/ipv4/ip_forward >&2
""")
    assert outcome(ran)["items"][0]["text"] == "the host has booted since"
    assert ran.stderr.decode().split("\n")[-2] == "1"


def test_crash_among_settings(root):
    steps = [{"kind": "sysctl", "subject": "net.ipv4.ip_forward=1"},
             {"kind": "device-node", "subject": "/dev/gdrdrv c 240:0 0660"}]
    ran = live(root, (txn.FILES, steps), """
for n in $(seq 1 200); do
	NVNODECHECK_TEST_CRASH_AT=$n $D / apply $P > /dev/null 2>&1 && break
	$D / recover > /dev/null 2>&1
	echo $(cat /proc/sys/net/ipv4/ip_forward) $(ls /dev) $(cat /etc/default/grub) >&2
	# Killed after the last line of the journal was written.
	[ ! -e /dev/gdrdrv ] || $D / undo > /dev/null
done
""")
    lines = {line for line in ran.stderr.decode().splitlines() if re.match("[01] ", line)}
    assert "0 null quiet" in lines and lines <= {"0 null quiet", "1 gdrdrv null quiet iommu=pt"}, \
        ran.stderr


@needs_standin
def test_boot_that_is_not_mounted(root):
    txn.put(root, "/etc/fstab", "# x\nUUID=1 / ext4 defaults 0 1\nUUID=2 /boot/grub ext4 defaults\n")
    ran = live(root, (txn.FILES, [txn.MENU_STEP]), "$D / apply $P")
    assert "/boot/grub is not mounted" in outcome(ran)["text"]
    txn.put(root, "/etc/fstab", "UUID=2 /boot/grub ext4 noauto,ro\n")
    ran = live(root, (txn.FILES, [txn.MENU_STEP]), "$D / apply $P --no-regenerate")
    assert outcome(ran)["result"] == "applied"


def test_units_where_systemd_does_not_run(root):
    ran = live(root, (txn.FILES, [{"kind": "daemon-reload"}]), "$D / apply $P; $D / undo > /dev/null")
    assert outcome(ran)["items"][-1]["text"] == "systemd does not run here"


def test_audit(root):
    """journald's protocol: one datagram, a field a line (systemd, JOURNAL_NATIVE_PROTOCOL)."""
    script = """
mkdir -p /run/systemd/journal
%s -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/run/systemd/journal/socket")
s.settimeout(10)
print("bound", flush=True)
for i in range(2):
    sys.stderr.write(s.recv(65536).decode() + "\\n--\\n")
' > /etc/bound & pid=$!
for i in $(seq 100); do grep -q bound /etc/bound && break; sleep 0.1; done
SUDO_UID=1000 $D / apply $P
wait $pid
""" % "/usr/bin/python3"
    ran = live(root, (txn.FILES, []), script)
    begin, end = ran.stderr.decode().split("\n--\n")[:2]
    if "NVNODECHECK" not in begin:
        pytest.skip("libsystemd is not installed")
    for text in (begin, end):
        assert "NVNODECHECK_PLAN=0123456789abcdef" in text
        assert "NVNODECHECK_TRANSACTION=" + outcome(ran)["id"] in text
        assert re.search(r"^NVNODECHECK_FILE=%s - [0-9a-f]{64}$" % txn.CONF, text, re.M)
        assert "\nSUDO_UID=1000\n" in text and "MESSAGE_ID=" in text
    assert "NVNODECHECK_RESULT=applied" in end


def test_damaged_records(root):
    """Records with bytes changed, cut and repeated: an answer each time, and no file that is not the
    plan's is touched."""
    random = Random(1)
    txn.make(root, False)
    ran = applied(root, txn.FILES, [])
    folder = root + txn.STATE + "/" + ran.outcome["id"]
    kept, names = root + ".damaged", ("/plan.json", "/journal")
    copy(root, kept)
    ours = set(f["path"] for f in txn.FILES)
    before = txn.content(txn.look(root))
    for _ in range(150):
        copy(kept, root)
        for name in names:
            data = bytearray(txn.read(folder, name))
            for _ in range(random.choice((0, 1, 1, 3))):
                at, n = random.randrange(len(data)), random.randrange(20)
                data[at:at + n] = random.choice((b"", bytes(random.randrange(256) for _ in range(n)),
                                                 data[at:at + n] * 2, b'"/', b"null", b"99999999999"))
            txn.put(folder, name, bytes(data), 0o600)
        for args in (["list"], ["recover"], ["undo"]):
            ran = txn.run(root, *args)
            assert ran.status in (0, 1), str(ran)
        now = txn.content(txn.look(root))
        assert all(p in ours or p.endswith("x.service.d") for p in txn.difference(now, before)), \
            txn.difference(now, before)
    shutil.rmtree(kept)


# ---- killed at every point ----

def is_whole(root, before, after):
    now = txn.look(root)
    return not txn.difference(now, before) or not txn.difference(txn.content(now), after)


TOTAL = [0, 0]


class Count:
    cases = mixed = 0

    def check(self, root, before, after, what):
        self.cases += 1
        if not is_whole(root, before, after):
            self.mixed += 1
            print("mixed:", what, txn.difference(txn.look(root), before))

    def tell(self, name):
        TOTAL[0] += self.cases
        TOTAL[1] += self.mixed
        print("%s: cases %d, mixed states %d" % (name, self.cases, self.mixed))
        assert self.mixed == 0


@pytest.fixture
def say(capsys):
    def tell(count, name):
        with capsys.disabled():
            print("\n", end="")
            count.tell(name)
    return tell


def ends(root, steps):
    """What the root looks like before and after."""
    txn.make(root, bool(steps))
    before = txn.look(root)
    applied(root, txn.FILES, steps)
    return before, txn.content(txn.look(root))


def recovered(root):
    ran = txn.run(root, "recover")
    assert ran.result in ("rolled-back", "nothing"), str(ran)
    return ran


def copy(root, to):
    shutil.rmtree(to, ignore_errors=True)
    subprocess.run(["cp", "-a", root, to], check=True)


def test_killed_anywhere(root, say):
    """At each point of an apply, and then at each point of the recovery."""
    before, after = ends(root, ())
    count, kept = Count(), root + ".killed"
    for n in range(1, txn.points(txn.make(root, False), "apply", txn.plan(root)) + 1):
        txn.make(root, False)
        os.utime(root)
        before = txn.look(root)
        assert txn.run(root, "apply", txn.plan(root), crash=n).killed
        copy(root, kept)
        m = 0
        while True:
            m += 1
            copy(kept, root)
            again = txn.run(root, "recover", crash=m)
            if not again.killed:
                count.check(root, before, after, n)
                break
            recovered(root)
            count.check(root, before, after, (n, m))
    shutil.rmtree(kept)
    say(count, "apply")


@needs_standin
def test_killed_anywhere_with_steps(root, say):
    before, after = ends(root, txn.STEPS)
    count = Count()
    for n in range(1, txn.points(txn.make(root), "apply", txn.plan(root, steps=txn.STEPS)) + 1):
        txn.make(root)
        before = txn.look(root)
        assert txn.run(root, "apply", txn.plan(root, steps=txn.STEPS), crash=n).killed
        if n % 3 == 0:
            txn.run(root, "recover", crash=n % 40 + 1)
        recovered(root)
        count.check(root, before, after, n)
    say(count, "apply with generators")


@needs_standin
def test_killed_anywhere_in_undo(root, say):
    before, after = ends(root, txn.STEPS)
    count, kept = Count(), root + ".applied"
    txn.make(root)
    before = txn.look(root)
    applied(root, txn.FILES, txn.STEPS)
    copy(root, kept)
    for n in range(1, txn.points(root, "undo") + 1):
        copy(kept, root)
        assert txn.run(root, "undo", crash=n).killed
        if n % 2:
            txn.run(root, "recover", crash=n % 30 + 1)
        recovered(root)
        count.check(root, before, after, n)
    shutil.rmtree(kept)
    say(count, "undo")


def test_torn_journal(root, say):
    """The last line of the journal written in part, at every length of it."""
    before, after = ends(root, ())
    count = Count()
    txn.make(root, False)
    before = txn.look(root)
    ran = applied(root)
    kept = root + ".torn"
    copy(root, kept)
    journal = "%s/%s/journal" % (txn.STATE, ran.outcome["id"])
    whole = txn.read(root, journal)
    for n in range(len(b"BEGIN\nINTENT 0\nDONE 0\nINTENT 1\nDONE 1\nINTENT 2\nDONE 2\nINTENT 3\n"),
                   len(whole)):
        copy(kept, root)
        txn.put(root, journal, whole[:n], 0o600)
        recovered(root)
        count.check(root, before, after, n)
    shutil.rmtree(kept)
    say(count, "torn journal")


# ---- calls that fail ----

FAILING = [("write", "ENOSPC"), ("write", "EIO"), ("fsync", "EIO"), ("fsync", "ENOSPC"),
           ("renameat", "EACCES"), ("renameat", "EIO"), ("renameat2", "ENOSPC"), ("fchmod", "EIO"),
           ("fchown", "EACCES"), ("mkdirat", "ENOSPC"), ("unlinkat", "EACCES"), ("fsetxattr", "EIO"),
           ("openat", "EACCES"), ("openat", "ENOSPC"), ("read", "EIO"), ("ftruncate", "EIO"),
           ("execve", "EACCES"), ("execve", "ENOMEM"), ("clone,clone3,fork,vfork", "EAGAIN")]


def calls(root, place, names, steps):
    """How often a whole apply makes them."""
    log = os.path.join(place, "calls")
    txn.make(root)
    txn.run(root, "apply", txn.plan(root, steps=steps),
            wrap=("strace", "-f", "-qq", "-o", log, "-e", "trace=" + names))
    with open(log, encoding="utf-8", errors="replace") as file:
        return sum(1 for line in file if "(" in line)


@needs_strace
@needs_standin
@pytest.mark.parametrize("names, error", FAILING)
def test_calls_that_fail(root, place, names, error, say):
    """Each call once, and from each on all of them; then a run in which all is well again."""
    steps = [txn.IMAGE_STEP, txn.UNIT_STEP] if "execve" in names or "clone" in names else ()
    before, after = ends(root, steps)
    count = Count()
    total = calls(root, place, names, steps)
    stride = max(1, total // 25)
    for when in range(1, total + 1, stride):
        for more in ("", "+"):
            txn.make(root, bool(steps))
            before = txn.look(root)
            ran = txn.run(root, "apply", txn.plan(root, steps=steps), wrap=(
                "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + names, "-e",
                "inject=%s:error=%s:when=%d%s" % (names, error, when, more)))
            if ran.outcome and ran.result in ("refused", "rolled-back", "applied"):
                count.check(root, before, after, (names, error, when, more, str(ran)))
            recovered(root)
            count.check(root, before, after, (names, error, when, more, "recovered", str(ran)))
    say(count, "%s %s" % (names, error))


def test_total(capsys):
    """The figure: in how many of all cases above something was left in between."""
    with capsys.disabled():
        print("\ncrash cases %d, mixed states %d" % tuple(TOTAL))
    assert TOTAL[1] == 0
