# SPDX-License-Identifier: GPL-2.0-or-later
"""Transactions beside somebody who edits the same files, and records that are damaged: nobody's work is
lost, no only copy is removed, and where it is not known what is right nothing is said to be."""
import json
import os
import shutil
import signal
import subprocess
import time
from random import Random

import pytest

from lib import program, txn
from lib.txn import Stopped, applied, check, copy, in_namespace, root  # noqa: F401

pytestmark = txn.needs

GRUB, ADMIN = "/etc/default/grub", "edited by an admin\n"


def edit(root, path, text=ADMIN):
    """As an editor saves: another file takes the name."""
    txn.put(root, path + "~", text, 0o644)
    os.rename(root + path + "~", root + path)


def ours_in(folder):
    return [name for name in os.listdir(folder) if name.startswith(".nvnodecheck.")]


# ---- edits between a look and a rename ----

@pytest.mark.parametrize("path, at, count", [
    (txn.CONF, "rename", 1), (GRUB, "rename beside", 1), (GRUB, "rename", 2),
    (GRUB, "after a rename", 1), ("/etc/stale.conf", "rename", 3),
    ("/etc/stale.conf", "after a rename", 2)])
def test_edit_at_the_rename(root, path, at, count):
    """A new file, one that is replaced, one that is removed."""
    run = Stopped(root, "apply", txn.plan(root), count=count, at=at)
    edit(root, path)
    ran = run.go_on()
    assert txn.read(root, path).decode() == ADMIN, str(ran)
    assert not ours_in(os.path.dirname(root + path)), str(ran)
    if at != "after a rename":
        assert ran.result in ("rolled-back", "partly"), str(ran)
        assert "since it was read" in ran.outcome["text"]
        assert txn.read(root, GRUB) == b"quiet\n" or path == GRUB


@pytest.mark.parametrize("path", [txn.CONF, GRUB, "/etc/stale.conf"])
def test_edit_while_it_is_undone(root, path):
    """At every moment of an undo, as the last word on that file."""
    applied(root)
    copy(root, root + ".applied")
    for count in range(1, txn.points(root, "undo") + 1):
        copy(root + ".applied", root)
        run = Stopped(root, "undo", count=count)
        edit(root, path)
        ran = run.go_on()
        assert txn.read(root, path).decode() == ADMIN, (count, str(ran))
        assert not ours_in(os.path.dirname(root + path)), (count, str(ran))
    shutil.rmtree(root + ".applied")


def test_open_for_writing(root):
    """Who has it open writes after the exchange, into what was displaced."""
    with open(root + GRUB, "a", encoding="ascii") as file:
        ran = check(txn.run(root, "apply", txn.plan(root)), "rolled-back")
        assert "open for writing" in ran.outcome["text"]
        file.write("more\n")
    assert txn.read(root, GRUB) == b"quiet\nmore\n"
    with open(root + GRUB, encoding="ascii"):
        applied(root, [txn.file(GRUB, "x\n")])


def test_metadata_between_look_and_rename(root):
    run = Stopped(root, "apply", txn.plan(root), count=2, at="rename")
    os.chmod(root + GRUB, 0o600)
    check(run.go_on(), "rolled-back")
    assert os.stat(root + GRUB).st_mode & 0o777 == 0o600 and txn.read(root, GRUB) == b"quiet\n"


def test_edit_of_a_large_file(root):
    """Without any help: one edit at some moment of an apply that takes its time to read the file."""
    random, large, results = Random(2), "#" * (6 << 20), []
    plan = txn.plan(root, [txn.file(GRUB, "after\n", before=large)])
    txn.make(root, False)
    txn.put(root, GRUB, large)
    began = time.monotonic()
    check(txn.run(root, "apply", plan), "applied")
    lasts = time.monotonic() - began
    for _ in range(30):
        txn.make(root, False)
        txn.put(root, GRUB, large)
        process = subprocess.Popen([txn.driver(), root, "apply", plan], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=program.environment())
        time.sleep(random.random() * lasts)
        edit(root, GRUB)
        results.append(json.loads(process.communicate()[0])["result"])
        assert txn.read(root, GRUB).decode() == ADMIN, results[-1]
    assert {"refused", "rolled-back"} & set(results)


@txn.needs_strace
def test_file_systems_that_cannot_exchange(root):
    """NFS and older vfat have none of renameat2's flags."""
    before = txn.look(root)
    wrap = ("strace", "-qq", "-o", "/dev/null", "-e", "inject=renameat2:error=EINVAL")
    check(txn.run(root, "apply", txn.plan(root), wrap=wrap), "applied")
    assert txn.read(root, GRUB) == b"quiet iommu=pt\n"
    check(txn.run(root, "undo", wrap=wrap), "undone")
    assert not txn.difference(txn.look(root), before)


# ---- killed between two renames ----

@pytest.mark.parametrize("path, count", [(GRUB, 1), ("/etc/stale.conf", 2)])
@pytest.mark.parametrize("verb", ["recover", "undo"])
def test_killed_with_somebodys_file_displaced(root, path, count, verb):
    """Their edit came an instant before the exchange, and the end before anybody looked."""
    run = Stopped(root, "apply", txn.plan(root), count=count, at="after a rename")
    folder, name = os.path.split(root + path)
    txn.put(folder, "/.nvnodecheck.old." + name, ADMIN)
    run.kill()
    ran = txn.run(root, verb)
    assert txn.read(root, path).decode() == ADMIN, str(ran)
    assert not ours_in(folder) and "it was changed after the repair" in ran.outcome["recovered"][0]


def test_two_edits_are_both_kept(root):
    """One was displaced, and another one made meanwhile: the newer stays, the older is kept beside it."""
    run = Stopped(root, "apply", txn.plan(root), count=1, at="after a rename")
    txn.put(root, "/etc/default/.nvnodecheck.old.grub", "the first\n")
    edit(root, GRUB, "the second\n")
    run.kill()
    ran = txn.run(root, "recover")
    assert txn.read(root, GRUB) == b"the second\n"
    assert txn.read(root, "/etc/default/.nvnodecheck.found.grub") == b"the first\n"
    assert ".nvnodecheck.found.grub" in ran.outcome["recovered"][0], str(ran)
    # Nobody touches it again.
    applied(root, [txn.file(GRUB, "x\n")])
    check(txn.run(root, "undo"), "undone")
    assert txn.read(root, "/etc/default/.nvnodecheck.found.grub") == b"the first\n"


# ---- recovery, and what an administrator made meanwhile ----

FULL = """
mkdir -p "$1.kept"; cp -a "$1/var/." "$1.kept"
mount -t tmpfs -o size=400k,mode=755 tmpfs "$1/var"; cp -a "$1.kept/." "$1/var"
dd if=/dev/zero of="$1/var/ballast" bs=1k 2>/dev/null || :
"""


def with_full_var(root, *args):
    """The run, where /var has no room left; what it left there comes back."""
    ran = in_namespace(FULL + """
        "$2" "$1" $3 || :; rm "$1/var/ballast"; cp -a "$1/var" "$1.now"
        """, root, txn.driver(), " ".join(args))
    shutil.rmtree(root + "/var")
    shutil.rmtree(root + ".kept")
    shutil.move(root + ".now", root + "/var")
    return txn.outcome(ran)


@txn.needs_standin
@pytest.mark.parametrize("full", [False, True])
def test_image_made_by_hand_after_a_kill(root, full):
    """While ours was being built; it is nobody's to replace."""
    made = txn.image(("by-hand.conf", "options x\n"))
    for count in range(1, 4):
        txn.make(root)
        at = "after a generator" if count < 3 else "running a step"
        assert txn.run(root, "apply", txn.plan(root, steps=[txn.IMAGE_STEP]), crash=1, at=at).killed
        txn.put(root, txn.IMAGE, made, 0o600)
        said = with_full_var(root, "recover") if full else txn.run(root, "recover").outcome
        assert txn.read(root, txn.IMAGE) == made, said
        text = " ".join(said["recovered"])
        assert "as it was" not in text and "it was changed after the repair" in text, said
        assert txn.read(root, GRUB) == b"quiet\n" and not os.path.exists(root + txn.CONF)


@txn.needs_standin
def test_files_that_a_tool_edits_in_their_place(root):
    """Killed in the middle of it nobody can tell whose edit is there: it is kept, then replaced."""
    assert txn.run(root, "apply", txn.plan(root, [], [txn.GRUB2_STEP]), crash=1,
                   at="after a generator").killed
    edit(root, txn.ENTRY)
    said = with_full_var(root, "recover")
    # Not without a copy, and the next one tries again.
    assert txn.read(root, txn.ENTRY).decode() == ADMIN and said["result"] == "refused", said
    ran = check(txn.run(root, "recover"), "rolled-back")
    assert txn.read(root, txn.ENTRY) == b"options quiet\n"
    text = ran.outcome["recovered"][0]
    assert "the node is as it was" not in text and "are kept" in text
    note = next(n for n in ran.outcome["notes"] if txn.ENTRY in n)
    assert txn.read(root, note.rsplit(" ", 1)[1]).decode() == ADMIN


@txn.needs_standin
def test_image_made_anew_by_an_undo_leaves_a_copy(root):
    applied(root, txn.FILES, [txn.IMAGE_STEP])
    made = txn.image(("by-hand.conf", "options x\n"))
    txn.put(root, txn.IMAGE, made, 0o600)
    copy(root, root + ".applied")
    said = with_full_var(root, "undo")
    assert txn.read(root, txn.IMAGE) == made and said["result"] in ("partly", "refused"), said
    copy(root + ".applied", root)
    ran = check(txn.run(root, "undo"), "undone")
    assert ran.item("initramfs")["state"] == "rebuilt"
    note = next(n for n in ran.outcome["notes"] if txn.IMAGE in n)
    assert txn.read(root, note.rsplit(" ", 1)[1]) == made
    shutil.rmtree(root + ".applied")


@txn.needs_standin
def test_killed_while_an_image_is_made_anew(root):
    """At each point of an undo that makes it anew: what somebody built stays, or a copy of it does."""
    applied(root, txn.FILES, [txn.IMAGE_STEP])
    made = txn.image(("by-hand.conf", "options x\n"))
    txn.put(root, txn.IMAGE, made, 0o600)
    copy(root, root + ".applied")
    for count in range(1, txn.points(root, "undo") + 1):
        copy(root + ".applied", root)
        assert txn.run(root, "undo", crash=count).killed
        ran = txn.run(root, "recover")
        assert ran.result in ("rolled-back", "nothing"), str(ran)
        now = txn.read(root, txn.IMAGE)
        if ran.result == "nothing":
            continue
        assert b"by-hand" not in now and b"NVreg_" not in now, (count, str(ran))
        state = os.path.join(root + txn.STATE, os.listdir(root + txn.STATE)[0])
        copies = [n for n in os.listdir(state) if n.startswith("found.")]
        assert any(txn.read(state, "/" + n) == made for n in copies), (count, str(ran))
        assert not ours_in(root + "/boot")
    shutil.rmtree(root + ".applied")


# ---- damaged records and journals ----

def kept_of(folder):
    return {n: txn.read(folder, "/" + n) for n in os.listdir(folder) if n.startswith("before.")}


def interrupted(root):
    """The folder of a transaction that was killed with two files changed."""
    assert txn.run(root, "apply", txn.plan(root), crash=3, at="rename").killed
    return os.path.join(root + txn.STATE, os.listdir(root + txn.STATE)[0])


@pytest.mark.parametrize("damage", [
    lambda folder: os.unlink(folder + "/journal"),
    lambda folder: txn.put(folder, "/journal", ""),
    lambda folder: txn.put(folder, "/journal", b"\0" * 4096),
    lambda folder: txn.put(folder, "/journal", txn.read(folder, "/journal")[5:]),
    lambda folder: txn.put(folder, "/journal", txn.read(folder, "/journal").replace(b"T 0", b"T 9")),
    lambda folder: txn.put(folder, "/journal", b"".join(
        txn.read(folder, "/journal").splitlines(True)[::-1])),
    lambda folder: txn.put(folder, "/journal", b"BEGIN\nINTENT 0\n"),
    lambda folder: (os.unlink(folder + "/journal"), os.mkfifo(folder + "/journal")),
    lambda folder: os.unlink(folder + "/plan.json"),
    lambda folder: txn.put(folder, "/plan.json", ""),
    lambda folder: txn.put(folder, "/plan.json", "{}"),
    lambda folder: txn.put(folder, "/plan.json", txn.read(folder, "/plan.json")[:-10]),
    lambda folder: txn.put(folder, "/plan.json", txn.read(folder, "/plan.json").replace(b"grub", b"grab")),
], ids=["gone", "empty", "zeros", "beginning", "number", "order", "unchecked", "fifo", "record gone",
        "record empty", "no record", "record short", "record changed"])
def test_damage_is_doubt(root, damage):
    """Nothing is changed or removed, and what to do is said."""
    folder = interrupted(root)
    kept, before = kept_of(folder), txn.look(root)
    assert kept
    damage(folder)
    for args in (["recover"], ["undo"], ["apply", txn.plan(root, [txn.file("/etc/new", "x\n")])]):
        text = check(txn.run(root, *args), "refused").outcome["text"]
        assert "not known" in text and "mv " in text, text
    entry, = txn.run(root, "list").outcome
    assert entry["status"] == "damaged" and "set-aside" in entry["text"]
    assert kept_of(folder) == kept and not txn.difference(txn.look(root), before)


def test_damage_of_what_was_applied(root):
    """An undo without a name does not pass over it, and says more than that there is nothing to do."""
    folder = txn.folder(root, applied(root))
    kept = kept_of(folder)
    txn.put(folder, "/plan.json", "{}")
    text = check(txn.run(root, "undo"), "refused").outcome["text"]
    assert "cannot be undone" in text and kept_of(folder) == kept
    text = check(txn.run(root, "undo", os.path.basename(folder)), "refused").outcome["text"]
    assert "cannot be undone" in text
    # It is in nobody else's way.
    later = applied(root, [txn.file("/etc/new", "x\n")])
    check(txn.run(root, "undo"), "undone")
    check(txn.run(root, "undo", later.outcome["id"]), "refused")


@pytest.mark.parametrize("damage", [
    os.unlink,
    lambda path: txn.put(path, "", txn.read(path, "")[:-1] + b"X", 0o600),
    lambda path: txn.put(path, "", "", 0o600),
    lambda path: (os.unlink(path), os.mkfifo(path)),
], ids=["gone", "changed", "empty", "fifo"])
def test_one_lost_copy_is_no_half_undo(root, damage):
    """All copies are looked at before the first file is put back, and the one that is lost is named."""
    folder = txn.folder(root, applied(root))
    copy_of_it = txn.read(folder, "/before.1")
    damage(folder + "/before.1")
    before, kept = txn.look(root), sorted(os.listdir(folder))
    ran = check(txn.run(root, "undo"), "refused")
    text = ran.outcome["text"]
    assert "/etc/default/grub: " in text and "kept copy" in text and "Nothing was changed" in text, text
    assert "/etc/stale.conf: " not in text, text
    assert not txn.difference(txn.look(root), before) and sorted(os.listdir(folder)) == kept
    if "before.1" in kept:
        os.unlink(folder + "/before.1")
    txn.put(folder, "/before.1", copy_of_it, 0o600)
    check(txn.run(root, "undo"), "undone")


def test_undo_of_one_that_is_older_than_the_damage(root):
    first = applied(root)
    second = txn.folder(root, applied(root, [txn.file(GRUB, "again\n")]))
    txn.put(second, "/plan.json", "{}")
    text = check(txn.run(root, "undo", first.outcome["id"]), "refused").outcome["text"]
    assert "its changes are not known" in text and txn.read(root, GRUB) == b"again\n"


def test_journal_cut_at_a_line(root):
    """Lines that were lost whole leave no trace; files say what became of them."""
    folder = interrupted(root)
    before = txn.content(txn.look(txn.make(root + ".whole")))
    lines = txn.read(folder, "/journal").splitlines(True)
    copy(root, root + ".kept")
    for n in range(1, len(lines) + 1):
        copy(root + ".kept", root)
        txn.put(folder, "/journal", b"".join(lines[:n]))
        check(txn.run(root, "recover"), "rolled-back")
        assert not txn.difference(txn.content(txn.look(root)), before), n
    for name in (".kept", ".whole"):
        shutil.rmtree(root + name)


def test_every_byte(root):
    """Whatever byte is another one: nothing is changed but what the whole record says, and no copy is
    removed before all is as it was."""
    random = Random(3)
    before = txn.content(txn.look(root))
    folder = interrupted(root)
    copy(root, root + ".kept")
    doubts = 0
    for name in ("/journal", "/plan.json"):
        size = len(txn.read(folder, name))
        for at in sorted(random.sample(range(size), min(size, 120))):
            copy(root + ".kept", root)
            data, kept = bytearray(txn.read(folder, name)), kept_of(folder)
            data[at] ^= 1 << random.randrange(8)
            txn.put(folder, name, bytes(data))
            ran = txn.run(root, "recover")
            assert ran.result in ("refused", "rolled-back"), str(ran)
            doubts += ran.result == "refused"
            if ran.result == "refused":
                assert kept_of(folder) == kept, (name, at)
            else:
                assert not txn.difference(txn.content(txn.look(root)), before), (name, at)
    shutil.rmtree(root + ".kept")
    assert doubts > 200


# ---- hostile records ----

BOOT = "11111111-2222-3333-4444-555555555555"


def step(kind, **more):
    return dict({"kind": kind, "subject": None, "path": None, "tool": None, "boot": None, "was": None,
                 "left": None, "files": []}, **more)


@pytest.mark.parametrize("wrong", [
    step("sysctl", boot=BOOT), step("sysctl", subject="x", was="1", boot=BOOT),
    step("sysctl", subject="kernel.x=1", boot=BOOT), step("sysctl", subject="../x=1", was="1", boot=BOOT),
    step("sysctl", subject="kernel.x=1", was="1"),
    step("depmod"), step("depmod", subject="../../etc"), step("depmod", subject="-b/tmp"),
    step("initramfs"), step("initramfs", subject=txn.KERNEL, tool="initramfs-tools", path=txn.IMAGE),
    step("initramfs", subject=txn.KERNEL, tool="initramfs-tools", left="no"),
    step("initramfs", subject=txn.KERNEL, tool="sh", path=txn.IMAGE, left="no"),
    step("boot-loader"), step("boot-loader", tool="grubby", path=txn.MENU, left="no"),
    step("boot-loader", tool="grub-mkconfig", path="x", left="no"),
    step("load-module", boot=BOOT), step("load-module", subject="a/b", boot=BOOT),
    step("load-module", subject="x", was="yes", boot=BOOT), step("load-module", subject="x"),
    step("unit-start", subject="--x.service", boot=BOOT), step("unit-start", subject="x", boot=BOOT),
    step("unit-enable"), step("unit-enable", subject="a/b.service"),
    step("device-node", boot=BOOT), step("device-node", subject="/etc/x c 1:3 0666", boot=BOOT),
    step("device-node", subject="/dev/../etc/x c 1:3 0666", boot=BOOT),
    step("device-node", subject="/dev/a c 1:3 0666", was="/dev/b c 1:5 0666", boot=BOOT),
    step("reload-driver", boot=BOOT), step("reload-driver", was="ext4", boot=BOOT),
    step("daemon-reload"), step("no-such-kind"), step("unit-enable", subject="x.service", files=[
        {"path": "/etc/passwd", "number": 4, "type": "link", "before": None, "after": None,
         "folders": []}]),
    {}, None, [], "x",
], ids=json.dumps)
@pytest.mark.parametrize("cut", [0, 1])
def test_records_that_no_apply_writes(root, wrong, cut):
    """Interrupted and applied: refused as a whole, without a crash, and nothing is run or changed."""
    folder = txn.folder(root, applied(root))
    before = txn.look(root)

    def edit_record(record):
        record["boot_id"] = BOOT
        record["steps"] = [wrong]
        return record
    txn.forge(folder, edit_record, lambda events: events[:-2] * cut + ["RUN 0"] + events * (1 - cut))
    for args in (["undo"], ["recover"], ["list"]):
        ran = txn.run(root, *args)
        assert ran.status in (0, 1), str(ran)
        if args == ["undo"]:
            assert ran.result == "refused" and "not in the form that this program writes" in ran.outcome["text"]
    assert not txn.difference(txn.look(root), before)


@pytest.mark.parametrize("change", [
    {"id": "20200101T000000Z-0123456789abcdef"}, {"id": None}, {"plan_id": None}, {"who": None},
    {"time_s": "x"}, {"files": None}, {"files": [None]}, {"steps": {}}, {"repairs": [{}]},
    {"format": "nvnodecheck-plan"}, {"format_version": [9, 0]},
], ids=json.dumps)
def test_records_that_are_none(root, change):
    folder = txn.folder(root, applied(root))
    txn.forge(folder, lambda record: dict(record, **change))
    check(txn.run(root, "undo"), "refused")
    assert [e["status"] for e in txn.run(root, "list").outcome] == ["damaged"]


# ---- signals ----

@pytest.mark.parametrize("name", ["ALRM", "USR1", "USR2", "VTALRM", "PROF", "XCPU", "PWR", "STKFLT",
                                  "TERM", "INT", "HUP", "QUIT", "RTMIN", "RTMAX"])
def test_signals_that_would_end_it_roll_back(root, name):
    before = txn.look(root)
    run = Stopped(root, "apply", txn.plan(root), count=2, at="rename")
    os.kill(run.pid, getattr(signal, "SIG" + name, None) or 16)
    ran = check(run.go_on(), "rolled-back")
    assert "signal" in ran.outcome["text"] and not txn.difference(txn.look(root), before)


@pytest.mark.parametrize("name", ["PIPE", "XFSZ", "IO", "CHLD", "WINCH", "URG", "CONT"])
def test_signals_that_say_nothing_of_it(root, name):
    run = Stopped(root, "apply", txn.plan(root), count=2, at="rename")
    os.kill(run.pid, getattr(signal, "SIG" + name))
    check(run.go_on(), "applied")


@pytest.mark.parametrize("name", ["ALRM", "USR1", "TERM"])
def test_signals_while_it_is_taken_back(root, name):
    """It goes on to its end."""
    before = txn.look(root)
    applied(root)
    run = Stopped(root, "undo", count=2, at="rename")
    os.kill(run.pid, getattr(signal, "SIG" + name))
    check(run.go_on(), "undone")
    assert not txn.difference(txn.look(root), before)
