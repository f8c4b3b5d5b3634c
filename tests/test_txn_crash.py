# SPDX-License-Identifier: GPL-2.0-or-later
"""Transactions that are killed at every point and whose calls fail: a root is as the plan wants it or
as it was, never in between."""
import os
import shutil

import pytest

from lib import txn
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


def calls(root, place, names, steps):
    """How often a whole apply makes them."""
    log = os.path.join(place, "calls")
    txn.make(root)
    txn.run(root, "apply", txn.plan(root, steps=steps),
            wrap=("strace", "-f", "-qq", "-o", log, "-e", "trace=" + names))
    with open(log, encoding="utf-8", errors="replace") as file:
        return sum(1 for line in file if "(" in line)


@txn.needs_strace
@txn.needs_standin
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
