# SPDX-License-Identifier: GPL-2.0-or-later
"""The program around a transaction: what its exit status says, and that it is true."""
import os
import shutil

import pytest

from lib import plans, program, tree, txn

pytestmark = txn.needs

OWN = "/etc/modprobe.d/zz-nvnodecheck.conf"


@pytest.fixture
def node(place):
    directory = plans.put(tree.Stage(os.path.join(place, "program")), "h20-roce-deepep")
    yield directory
    shutil.rmtree(directory)


def fix(node, *more, **how):
    return program.run("fix", "--profile", "deepep", "--root", node, "--apply", "--yes", *more, **how)


def undo(node, *more, **how):
    return program.run("undo", "--root", node, "--yes", *more, **how)


def full():
    return open("/dev/full", "wb")


# ---- 4: nothing was changed ----

def test_result_that_cannot_be_written(node):
    """Before the change it is not made; after it, the status does not say that there was none."""
    with full() as out:
        ran = fix(node, stdout=out)
        assert ran.status == 4 and not os.path.exists(node + OWN), str(ran)
        ran = fix(node, "--json", stdout=out)
        assert ran.status == 5 and os.path.exists(node + OWN), str(ran)
        assert "still applied" in ran.err
        for more in ([], ["--json"]):
            ran = undo(node, *more, stdout=out)
            assert ran.status == 5 and not os.path.exists(node + OWN), str(ran)
            assert "still undone" in ran.err
            fix(node)


def test_result_that_nobody_reads(node):
    """The reader is gone: as with head, there is no complaint about that, but what was done is said."""
    read, write = os.pipe()
    os.close(read)
    ran = fix(node, "--json", stdout=write)
    os.close(write)
    assert ran.status == 5 and os.path.exists(node + OWN) and "still applied" in ran.err, str(ran)


def interrupt(node):
    """As if killed before the last line of the journal."""
    assert fix(node).status == 0
    state = node + txn.STATE
    path = os.path.join(state, os.listdir(state)[0], "journal")
    with open(path, encoding="ascii") as file:
        lines = file.readlines()
    with open(path, "w", encoding="ascii") as file:
        file.writelines(line for line in lines if not line.startswith("COMMIT "))


@pytest.mark.parametrize("prepare, args", [
    (lambda node: None, ["--plan", "0" * 16]),
    (lambda node: txn.put(node, "/var/lib/pacman/db.lck", ""), []),
    (lambda node: txn.put(node, "/run/.containerenv", ""), []),
])
def test_refused_after_something_was_taken_back(node, prepare, args):
    interrupt(node)
    prepare(node)
    ran = fix(node, *args)
    assert ran.status == 5 and not os.path.exists(node + OWN), str(ran)
    assert "rolled back" in ran.out + ran.err
    assert fix(node, *args).status == 4


def test_what_cannot_be_taken_back(node):
    """Neither fix nor undo says that nothing was changed, nor that there is nothing to do."""
    interrupt(node)
    state = node + txn.STATE
    folder = os.path.join(state, os.listdir(state)[0])
    txn.put(folder, "/plan.json", "{}")
    for ran in (fix(node), undo(node)):
        assert ran.status == 4 and "not known" in ran.out + ran.err, str(ran)
        assert os.path.exists(node + OWN)
    ran = program.run("undo", "--root", node, "--list")
    assert "damaged" in ran.out and "set-aside" in " ".join(ran.out.split()), str(ran)


# ---- nothing to take back ----

def test_undo_of_nothing(node):
    assert "Nothing to do" in undo(node).out
    assert fix(node).status == 0 and undo(node).status == 0
    ran = undo(node)
    assert ran.status == 0 and "Nothing to do" in ran.out, str(ran)


def test_a_second_apply_leaves_no_record(node):
    """It has nothing to do, so the undo that follows takes back the first."""
    assert fix(node).status == 0
    assert fix(node).status == 0
    assert len(os.listdir(node + txn.STATE)) == 1
    assert undo(node).status == 0 and not os.path.exists(node + OWN)


def test_steps_alone_that_are_left(node):
    """A plan of nothing but what only the running host can do: no record, and no undo is offered."""
    shutil.rmtree(node + "/proc/7001")  # it has a GPU open
    assert fix(node).status == 0
    ran = fix(node, "--reload")
    assert ran.status == 0 and "left" in ran.out and "To undo it" not in ran.out, str(ran)
    assert "rolled back" not in ran.out.lower(), str(ran)
    assert len(os.listdir(node + txn.STATE)) == 1
    assert undo(node).status == 0 and not os.path.exists(node + OWN)


# ---- the root ----

def test_roots_that_are_none(node, tmp_path):
    txn.put(str(tmp_path), "/file", "x")
    os.symlink("loop", tmp_path / "loop")
    for name in ("/nowhere", str(tmp_path / "file"), str(tmp_path / "loop"), "", "x" * 5000):
        for verb in (["fix"], ["undo"], ["undo", "--list"], ["doctor"]):
            ran = program.run(*verb, "--root", name)
            assert ran.status == 4 and "--root" in ran.err, (name, str(ran))


def test_names_that_lead_to_a_root(node, tmp_path):
    """Links, dots and slashes; seen from the folder itself too."""
    os.symlink(node, tmp_path / "link")
    os.symlink("link", tmp_path / "again")
    assert fix(node).status == 0
    ident, = os.listdir(node + txn.STATE)
    for name in (tmp_path / "again", node + "/etc/../.", node + "//", "/proc/self/cwd", ".", "etc/.."):
        assert ident in program.run("undo", "--list", "--root", name, cwd=node).out, name
