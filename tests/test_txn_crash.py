# SPDX-License-Identifier: GPL-2.0-or-later
"""Transactions that are killed at every point and whose calls fail: a root is as the plan wants it or
as it was, never in between."""
import os
import shutil

import pytest

from lib import txn
from lib.long import or_short
from lib.txn import applied, check, copy, root  # noqa: F401

pytestmark = txn.needs


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


def test_killed_anywhere(root, say):
    """At each point of an apply, and then at each point of the recovery (make check: at each fifth)."""
    before, after = ends(root, ())
    count, kept = Count(), root + ".killed"
    for n in range(1, txn.points(txn.make(root, False), "apply", txn.plan(root)) + 1):
        txn.make(root, False)
        os.utime(root)
        before = txn.look(root)
        assert txn.run(root, "apply", txn.plan(root), crash=n).killed
        copy(root, kept)
        stride = or_short(1, 5)
        m = n % stride + 1 - stride
        while True:
            m += stride
            copy(kept, root)
            again = txn.run(root, "recover", crash=m)
            if not again.killed:
                count.check(root, before, after, n)
                break
            recovered(root)
            count.check(root, before, after, (n, m))
    shutil.rmtree(kept)
    say(count, "apply")


@txn.needs_standin
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


@txn.needs_standin
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
    for n in range(whole.index(b"\n", whole.index(b"INTENT 3")) + 1, len(whole)):
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


def made(root, names, *args):
    """How often a run makes these calls."""
    log = root + ".calls"
    txn.run(root, *args, wrap=("strace", "-f", "-qq", "-o", log, "-e", "trace=" + names))
    with open(log, encoding="utf-8", errors="replace") as file:
        return sum(1 for line in file if "(" in line)


def calls(root, names, steps):
    """How often a whole apply makes them."""
    txn.make(root)
    return made(root, names, "apply", txn.plan(root, steps=steps))


@txn.needs_strace
@txn.needs_standin
@pytest.mark.parametrize("names, error", FAILING)
def test_calls_that_fail(root, names, error, say):
    """Each call once, and from each on all of them; then a run in which all is well again."""
    steps = [txn.IMAGE_STEP, txn.UNIT_STEP] if "execve" in names or "clone" in names else ()
    before, after = ends(root, steps)
    count = Count()
    total = calls(root, names, steps)
    stride = max(1, total // or_short(25, 10))
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


# ---- recovery, and what fails in it ----

MOMENTS = (("rename", 2), ("rename", 4), ("after a rename", 1), ("fsync of the journal", 12),
           ("after a generator", 1), ("after a rename", 4))
IN_RECOVERY = FAILING + [("write", "EDQUOT"), ("fsync", "EDQUOT"), ("openat", "EMFILE"),
                         ("renameat2", "EIO"), ("renameat2", "EINVAL"), ("flock", "ENOLCK"),
                         ("newfstatat", "EIO"), ("newfstatat", "EUCLEAN"), ("openat", "ESTALE")]


@txn.needs_strace
@txn.needs_standin
@pytest.mark.parametrize("number", range(len(IN_RECOVERY)),
                         ids=["%s-%s" % fault for fault in IN_RECOVERY])
def test_recovery_under_faults(root, number, say):
    """Killed at some moment, and then a recovery in which one call fails, or all of them from it on: it
    says that all is as it was only where that is so, and the next one brings it there (make check: at one
    moment for each fault)."""
    names, error = IN_RECOVERY[number]
    steps = [txn.IMAGE_STEP, txn.GRUB2_STEP, txn.UNIT_STEP]
    before, after = ends(root, steps)
    count, kept = Count(), root + ".killed"
    for at, nth in or_short(MOMENTS, (MOMENTS[number % 6],)):
        txn.make(root)
        before = txn.look(root)
        assert txn.run(root, "apply", txn.plan(root, steps=steps), crash=nth, at=at).killed
        copy(root, kept)
        total = made(root, names, "recover")
        for when in range(1, total + 1, max(1, total // or_short(24, 5))):
            for more in ("", "+"):
                copy(kept, root)
                ran = txn.run(root, "recover", wrap=(
                    "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + names, "-e",
                    "inject=%s:error=%s:when=%d%s" % (names, error, when, more)))
                if ran.result == "rolled-back" and "the node is as it was" in str(ran):
                    count.check(root, before, after, (at, names, error, when, more, str(ran)))
                recovered(root)
                count.check(root, before, after, (at, names, error, when, more, "then", str(ran)))
    shutil.rmtree(kept)
    say(count, "recovery %s %s" % (names, error))


@txn.needs_standin
@pytest.mark.parametrize("folder", ["etc", "boot", "var"])
def test_recovery_on_a_full_disk(root, folder, say):
    """No room in one of them at each moment; with room again the next recovery brings all back."""
    steps = [txn.IMAGE_STEP, txn.GRUB2_STEP]
    before, after = ends(root, steps)
    count = Count()
    for at, number in MOMENTS:
        txn.make(root)
        before = txn.look(root)
        assert txn.run(root, "apply", txn.plan(root, steps=steps), crash=number, at=at).killed
        txn.in_namespace('''
            mkdir "$1.full"; cp -a "$1/$3/." "$1.full"; mount -t tmpfs -o size=600k,mode=755 tmpfs "$1/$3"
            cp -a "$1.full/." "$1/$3"; dd if=/dev/zero of="$1/$3/ballast" bs=1k 2>/dev/null || :
            "$2" "$1" recover > "$1.said" || :; rm "$1/$3/ballast"; rm -rf "$1.full"
            cp -a "$1/$3" "$1.full"''', root, txn.driver(), folder)
        shutil.rmtree(root + "/" + folder)
        shutil.move(root + ".full", root + "/" + folder)
        with open(root + ".said", encoding="utf-8") as file:
            said = file.read()
        if "the node is as it was" in said:
            count.check(root, before, after, (at, said))
        recovered(root)
        count.check(root, before, after, (at, "then", said))
    os.unlink(root + ".said")
    say(count, "recovery with no room in /" + folder)


def test_total(capsys):
    """The figure: in how many of all cases above something was left in between."""
    with capsys.disabled():
        print("\ncrash cases %d, mixed states %d" % tuple(TOTAL))
    assert TOTAL[1] == 0
