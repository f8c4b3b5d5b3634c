# SPDX-License-Identifier: GPL-2.0-or-later
"""Transactions: what they do, what they refuse, and how they are taken back."""
import fcntl
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

import pytest

from lib import program, txn, waiting
from lib.txn import Stopped, applied, check, in_namespace, outcome, refused, root  # noqa: F401

pytestmark = txn.needs


# ---- all goes well ----

@txn.needs_standin
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
        assert file["after"] is None or len(file["after"]["sha256"]) == 64
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
    assert "modprobe.d on its path" in refused(root, [txn.file(txn.CONF, "x\n")])


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


@txn.needs_standin
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
        told, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            fd = os.open(root + path, os.O_RDWR)
            fcntl.fcntl(fd, fcntl.F_SETLK,
                        struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
            os.write(tell, b"held")
            signal.pause()
        started.append(pid)
        os.close(tell)
        assert os.read(told, 4) == b"held"
        os.close(told)
    yield hold
    for pid in started:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.parametrize("path", ["/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock",
                                  "/var/lib/rpm/.rpm.lock", "/usr/lib/sysimage/rpm/.rpm.lock",
                                  "/run/dnf/rpmtransaction.lock"])
def test_package_manager(root, holder, path):
    holder(path)
    assert "package manager" in refused(root)


@pytest.mark.parametrize("path", ["/run/zypp.pid", "/var/lib/dnf/rpmdb_lock.pid"])
def test_package_manager_with_a_number(root, path):
    txn.put(root, path, "%d\n" % os.getpid())
    assert "process %d" % os.getpid() in refused(root)
    # Left behind by one that has ended, or that never wrote it.
    for text in ("4194305\n", "", "zypper\n", "0\n", "-1\n", "4294967295\n"):
        txn.put(root, path, text)
        assert check(txn.run(root, "apply", txn.plan(root, [txn.file(txn.CONF, text or "x")])),
                     "applied")


def test_pacman(root):
    txn.put(root, "/var/lib/pacman/db.lck", "")
    assert "pacman is running" in refused(root)


def test_interrupted_dpkg(root):
    txn.put(root, "/var/lib/dpkg/updates/0001", "")
    assert "dpkg --configure -a" in refused(root)


def test_two_at_once(root):
    before = txn.look(root)
    plan = txn.plan(root)
    first = Stopped(root, "apply", plan, count=40)
    for verb in (["apply", plan], ["undo"], ["recover"]):
        ran = txn.run(root, *verb)
        assert ran.result == "refused" and "process %d" % first.pid in ran.outcome["text"]
    elsewhere = program.with_own_mounts("--propagation", "private") + [
        "sh", "-ec", 'mount -t tmpfs -o mode=755 none "$0"; exec "$@"', root + "/run"]
    ran = txn.run(root, "apply", plan, wrap=elsewhere)
    assert ran.result == "refused" and "another mount" in ran.outcome["text"], str(ran)
    waiting = subprocess.Popen([txn.driver(), root, "undo", "--wait", "20"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    assert first.go_on().result == "applied"
    waiting.communicate()
    assert txn.run(root, "undo").result in ("undone", "nothing")
    assert not txn.difference(txn.look(root), before)


def test_signal_rolls_back(root):
    before = txn.look(root)
    first = Stopped(root, "apply", txn.plan(root), count=50)
    os.kill(first.pid, signal.SIGTERM)
    ran = check(first.go_on(), "rolled-back")
    assert "signal" in ran.outcome["text"]
    assert not txn.difference(txn.look(root), before)


@pytest.mark.parametrize("args", [["recover"], ["undo"]])
def test_signal_while_recovering_stops_what_comes_after(root, args):
    txn.applied(root, [txn.file("/etc/later.conf", "1\n")])
    before = txn.look(root)
    plan = txn.plan(root)
    assert txn.run(root, "apply", plan, crash=50).killed
    first = Stopped(root, *args, count=3)
    os.kill(first.pid, signal.SIGTERM)
    ran = check(first.go_on(), "refused")
    assert "signal" in ran.outcome["text"] and "rolled back" in ran.outcome["recovered"][0]
    assert not txn.difference(txn.look(root), before)


def test_what_cannot_be_put_back_is_no_hindrance(root):
    """Nobody can put a file back whose folder is gone, and the next fix goes on."""
    txn.put(root, "/etc/old.d/old.conf", "old\n")
    txn.applied(root, [txn.file("/etc/old.d/old.conf", None)])
    os.rmdir(root + "/etc/old.d")
    ran = check(txn.run(root, "undo"), "partly")
    assert ran.item("old.conf")["state"] == "kept" and "No such file" in ran.item("old.conf")["text"]
    txn.applied(root)


def test_ignored_signal_is_none(root):
    """nohup: who started it wants it to go on when the terminal is gone."""
    first = Stopped(root, "apply", txn.plan(root), count=50, wrap=["nohup"])
    os.kill(first.pid, signal.SIGHUP)
    check(first.go_on(), "applied")


@pytest.mark.parametrize("how", ["in place", "renamed"])
def test_edit_while_applying(root, how):
    """Somebody writes at any moment of it: what they wrote is there at the end."""
    for count in range(1, txn.points(txn.make(root), "apply", txn.plan(root)), 2):
        txn.make(root)
        first = Stopped(root, "apply", txn.plan(root), count=count)
        path = "/etc/default/grub" if how == "in place" else "/etc/default/other"
        txn.put(root, path, "edited by an admin\n", 0o640)
        os.rename(root + path, root + "/etc/default/grub")
        result = first.go_on().result
        assert txn.read(root, "/etc/default/grub") == b"edited by an admin\n", count
        assert result in ("applied", "rolled-back", "refused", "partly"), result
        assert os.path.exists(root + txn.CONF) == (result == "applied"), (count, result)
        assert os.listdir(root + "/etc/default") == ["grub"]


# ---- undo, and who changed what since ----

def test_undo_keeps_what_somebody_changed(root):
    applied(root)
    txn.put(root, txn.CONF, "# mine now\n")
    ran = txn.run(root, "undo")
    assert check(ran, "partly").item(txn.CONF)["state"] == "kept"
    assert ran.item(txn.CONF)["text"].startswith("it was changed after the repair")
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
    ran = check(txn.run(root, "undo"), "refused")
    assert "/etc/default/grub: " in ran.outcome["text"] and "is damaged" in ran.outcome["text"]
    assert txn.read(root, "/etc/default/grub") == b"quiet iommu=pt\n"


@txn.needs_standin
def test_undo_of_an_image_that_changed_since(root):
    """A kernel package built it anew meanwhile: the old one is not put back over it."""
    applied(root, txn.FILES, [txn.IMAGE_STEP])
    txn.put(root, txn.IMAGE, txn.image(("other.conf", txn.OPTIONS)), 0o600)
    ran = check(txn.run(root, "undo"), "undone")
    assert ran.item("initramfs")["state"] == "rebuilt"
    assert b"NVreg_" not in txn.read(root, txn.IMAGE)


@txn.needs_standin
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

@txn.needs_standin
@pytest.mark.parametrize("name, mode, said", [
    ("mkinitramfs", "fail", "status 1"), ("mkinitramfs", "silent", "did not create"),
    ("mkinitramfs", "empty", "empty"), ("mkinitramfs", "torn", "cannot be read back"),
    ("mkinitramfs", "forgets", "does not hold"), ("mkinitramfs", "loses", "nvme_core"),
    ("grub-mkconfig", "fail", "status 1"), ("grub-mkconfig", "silent", "did not create"),
    ("grub-mkconfig", "empty", "empty"), ("grub2-mkconfig", "fail", "status 1"),
])
def test_generator(root, name, mode, said):
    txn.put(root, "/standin." + name, mode)
    before = txn.look(root)
    ran = txn.run(root, "apply", txn.plan(root, steps=txn.STEPS))
    assert said in check(ran, "rolled-back").outcome["text"]
    assert not txn.difference(txn.look(root), before)


@txn.needs_standin
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
    expected = words.replace("VER", txn.KERNEL).replace("SIDE", "/boot/.nvnodecheck.new.initrd.img-" +
                                                        txn.KERNEL)
    assert "run %s %s\n" % (program_[program_.index("/") + 1:], expected) in txn.read(
        root, "/standin.log").decode()
    check(txn.run(root, "undo"), "undone")
    assert not txn.difference(txn.look(root), before)


@txn.needs_standin
def test_masked_unit(root):
    os.symlink("/dev/null", root + "/etc/systemd/system/x.service")
    assert "masked" in refused(root, steps=[txn.UNIT_STEP])


@txn.needs_standin
def test_generator_that_hangs_is_stopped_by_a_signal(root):
    txn.put(root, "/standin.mkinitramfs", "hang")
    before = txn.look(root)
    process = subprocess.Popen([txn.driver(), root, "apply", txn.plan(root, steps=txn.STEPS)],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    waiting.until(lambda: os.path.exists(root + "/standin.log"))
    # It has the lock as well, and this process is no more.
    assert "is running" in txn.run(root, "recover").outcome["text"]
    os.kill(process.pid, signal.SIGINT)
    assert json.loads(process.communicate()[0])["result"] == "rolled-back"
    assert not txn.difference(txn.look(root), before)


@txn.needs_standin
def test_program_whose_end_is_not_told_has_failed(root):
    """Where children are ignored, the kernel keeps nothing of how they ended."""
    txn.put(root, "/standin.grub2-mkconfig", "fail")
    before = txn.look(root)
    ran = txn.run(root, "apply", txn.plan(root, [], [txn.GRUB2_STEP]),
                  wrap=["env", "--ignore-signal=CHLD"])
    assert ran.result == "rolled-back" and "is not known" in ran.outcome["text"], str(ran)
    assert not txn.difference(txn.look(root), before)


@txn.needs_standin
def test_environment_of_programs(root):
    env = {"PATH": "/tmp/evil", "LC_ALL": "tr_TR.UTF-8", "DPKG_MAINTSCRIPT_PACKAGE": "x", "IFS": "/",
           "LD_PRELOAD": "", "LD_LIBRARY_PATH": "/tmp/evil", "MODPROBE_OPTIONS": "-C /tmp", "BASH_ENV": "/tmp/evil", "TMPDIR": "/nowhere"}
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


@txn.needs_standin
@pytest.mark.parametrize("tool", ["sh", "../bin/sh", "grubby", "/usr/sbin/grub-mkconfig", "", None])
def test_only_programs_of_the_table(root, tool):
    refused(root, steps=[dict(txn.MENU_STEP, tool=tool)])


@txn.needs_standin
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
    assert "users other than root" in text or "can be written to by" in text or "belong to root" in text
    assert not os.path.exists(root + "/standin.log")


@txn.needs_standin
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
    for step in txn.STEPS[:3]:
        assert "not installed" in refused(root, steps=[step])
    assert txn.run(root, "apply", txn.plan(root, steps=txn.STEPS),
                   "--no-regenerate").result == "applied"


@pytest.mark.parametrize("edit, said", [
    ({"subject": "6.9-absent"}, "no image can be built"), ({"subject": "../../etc"}, "the subject does not fit"),
    ({"subject": "-v"}, "the subject does not fit"), ({"path": "/boot/other"}, "no such image"),
    ({"path": "/boot/../x"}, "the path does not fit"), ({"path": None}, "the path does not fit"),
    ({"tool": "dracut"}, "not installed"), ({"tool": "sh"}, "the tool does not fit"),
])
@txn.needs_standin
def test_images_that_are_not_built(root, edit, said):
    assert said in refused(root, steps=[dict(txn.IMAGE_STEP, **edit)])


@txn.needs_standin
def test_image_of_another_generator(root):
    shutil.copy(txn.standin(), root + "/usr/bin/dracut")
    assert "was made by initramfs-tools" in refused(root, steps=[dict(txn.IMAGE_STEP,
                                                                       tool="dracut")])
