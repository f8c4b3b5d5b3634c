# SPDX-License-Identifier: GPL-2.0-or-later
"""Units enabled and disabled: links, each put back as it was, and the same as systemctl makes."""
import os
import shutil
import subprocess

import pytest

from lib import program, txn
from lib.txn import applied, check, copy, refused, root  # noqa: F401
from test_txn_live import live

pytestmark = txn.needs

ETC, LIB = "/etc/systemd/system", "/usr/lib/systemd/system"
ENABLE, DISABLE = ({"kind": "unit-" + word, "subject": "x.service"} for word in ("enable", "disable"))
needs_systemctl = pytest.mark.skipif(not shutil.which("systemctl"), reason="systemctl is not installed")


def unit(root, install, path=LIB + "/x.service"):
    txn.put(root, path, "[Unit]\nDescription=x\n[Service]\nExecStart=/bin/true\n[Install]\n" + install)


def link(root, path, target=LIB + "/x.service"):
    os.makedirs(os.path.dirname(root + path), exist_ok=True)
    os.symlink(target, root + path)


def links(root, folder="/etc"):
    found = {}
    for place, folders, files in os.walk(root + folder):
        for name in folders + files:
            path = place + "/" + name
            if os.path.islink(path):
                found[path[len(root):]] = os.readlink(path)
    return found


def systemctl(root, verb, name="x.service"):
    return subprocess.run(["systemctl", "--root", root, verb, name], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=program.environment()).stdout.decode()


INSTALLS = ["WantedBy=multi-user.target\n", "WantedBy=multi-user.target graphical.target\n",
            "RequiredBy=slurmd.service\nWantedBy=multi-user.target\n", "Alias=y.service\n",
            "WantedBy=a.target\nWantedBy=b.target\n", "# WantedBy=x\nWantedBy = multi-user.target \n"]


@needs_systemctl
@pytest.mark.parametrize("install", INSTALLS)
def test_as_systemctl_does(root, install):
    """enable, disable and both after another, held against the real one."""
    theirs = root + ".theirs"
    for name in ("multi-user", "graphical", "a", "b"):
        txn.put(root, LIB + "/%s.target" % name, "[Unit]\n")
    unit(root, install)
    copy(root, theirs)
    for step, verb in ((ENABLE, "enable"), (DISABLE, "disable")):
        said = systemctl(theirs, verb)
        applied(root, [], [step])
        assert links(root) == links(theirs), said
        assert systemctl(root, "is-enabled").split() == [verb + "d"], said
    shutil.rmtree(theirs)


def test_enable_and_undo(root):
    unit(root, "WantedBy=multi-user.target new.target\nAlias=y.service\n")
    before = txn.look(root)
    applied(root, [], [ENABLE])
    assert set(links(root)) == {ETC + "/y.service", ETC + "/multi-user.target.wants/x.service",
                                ETC + "/new.target.wants/x.service"}
    check(txn.run(root, "undo"), "undone")
    assert not txn.difference(txn.look(root), before)


def test_undo_of_disable_puts_back_every_link(root):
    """Also those that an administrator made: no [Install] section names them."""
    link(root, ETC + "/multi-user.target.wants/x.service")
    link(root, ETC + "/site.target.wants/x.service", "../x.service")
    link(root, ETC + "/slurmd.service.requires/x.service", "/lib/systemd/system/x.service")
    link(root, ETC + "/other-name.service")
    link(root, ETC + "/site.target.wants/y.service", "/lib/systemd/system/y.service")
    os.lchown(root + ETC + "/other-name.service", 3, 4)
    before = txn.look(root)
    ran = applied(root, [], [DISABLE])
    assert set(links(root)) == {ETC + "/site.target.wants/y.service"}
    entry, = txn.run(root, "list").outcome
    assert ETC + "/site.target.wants/x.service" in entry["files"]
    check(txn.run(root, "undo", ran.outcome["id"]), "undone")
    assert not txn.difference(txn.look(root), before)


def test_init_script(root):
    """MLNX_OFED ships nv_peer_mem so; what starts it are links too."""
    txn.put(root, "/etc/init.d/x", "#!/bin/sh\n", 0o755)
    os.unlink(root + LIB + "/x.service")
    for level, name in ((2, "S20x"), (3, "S20x"), (5, "S01x"), (0, "K20x"), (3, "S20other")):
        link(root, "/etc/rc%d.d/%s" % (level, name), "../init.d/" + name[3:])
    before = txn.look(root)
    applied(root, [], [DISABLE])
    assert set(links(root)) == {"/etc/rc0.d/K20x", "/etc/rc3.d/S20other"}
    check(txn.run(root, "undo"), "undone")
    assert not txn.difference(txn.look(root), before)


def test_links_that_somebody_changed_since(root):
    unit(root, "WantedBy=multi-user.target a.target b.target\n")
    applied(root, [], [ENABLE])
    os.unlink(root + ETC + "/a.target.wants/x.service")
    os.unlink(root + ETC + "/b.target.wants/x.service")
    os.symlink("/opt/x.service", root + ETC + "/b.target.wants/x.service")
    ran = check(txn.run(root, "undo"), "partly")
    assert "it was changed after the repair" in ran.item("x.service enabled")["text"]
    assert links(root) == {ETC + "/b.target.wants/x.service": "/opt/x.service"}


def test_link_made_while_applying(root):
    """Between looking and making."""
    path = ETC + "/multi-user.target.wants/x.service"
    run = txn.Stopped(root, "apply", txn.plan(root, [], [ENABLE]), at="rename")
    link(root, path, "/opt/x.service")
    assert run.go_on().result in ("rolled-back", "partly")
    assert links(root)[path] == "/opt/x.service"


def test_killed_among_links(root):
    """At each point, of enable and of disable."""
    for step in (ENABLE, DISABLE):
        txn.make(root)
        unit(root, "WantedBy=multi-user.target a.target\nAlias=y.service\n")
        if step is DISABLE:
            applied(root, [], [ENABLE])
            link(root, ETC + "/site.target.wants/x.service")
        copy(root, root + ".kept")
        before = txn.look(root)
        plan = txn.plan(root, [], [step])
        for count in range(1, txn.points(root, "apply", plan) + 1):
            copy(root + ".kept", root)
            assert txn.run(root, "apply", plan, crash=count).killed
            ran = txn.run(root, "recover")
            assert ran.result in ("rolled-back", "nothing"), str(ran)
            if ran.result == "rolled-back":
                assert not txn.difference(txn.look(root), before), count
    shutil.rmtree(root + ".kept")


@pytest.mark.parametrize("prepare, said", [
    (lambda root: unit(root, ""), "it has no [Install] section"),
    (lambda root: txn.put(root, LIB + "/x.service", "[Service]\n"), "it has no [Install] section"),
    (lambda root: unit(root, "WantedBy=a.target\nAlso=y.service\n"), "has more than WantedBy="),
    (lambda root: unit(root, "WantedBy=%i.target\n"), "no plain units"),
    (lambda root: unit(root, "WantedBy=../../x.target\n"), "no plain units"),
    (lambda root: unit(root, "WantedBy=a.target\nWantedBy=\n"), "has more than WantedBy="),
    (lambda root: txn.put(root, ETC + "/x.service.d/a.conf", "[Install]\nWantedBy=b.target\n"), "drop-in"),
    (lambda root: os.unlink(root + LIB + "/x.service"), "no such unit"),
    (lambda root: link(root, ETC + "/x.service", "/opt/x.service"), "its unit file is a symbolic link"),
    (lambda root: link(root, ETC + "/x.service", "/dev/null"), "masked"),
    (lambda root: link(root, ETC + "/multi-user.target.wants/x.service", "/opt/y.service"), "leads to"),
    (lambda root: txn.put(root, ETC + "/multi-user.target.wants/x.service", ""), "not a symbolic link"),
])
def test_units_that_are_left_to_systemctl(root, prepare, said):
    prepare(root)
    assert said in refused(root, steps=[ENABLE])


def test_unit_that_the_plan_brings(root):
    """Its file is not there yet when the links are found out."""
    os.unlink(root + LIB + "/x.service")
    before = txn.look(root)
    applied(root, [txn.file(ETC + "/x.service", "[Install]\nWantedBy=multi-user.target\n")], [ENABLE])
    assert links(root) == {ETC + "/multi-user.target.wants/x.service": ETC + "/x.service"}
    check(txn.run(root, "undo"), "undone")
    assert not txn.difference(txn.look(root), before)


def test_nothing_to_do_is_not_recorded(root):
    """What is so already leaves nothing to take back."""
    before = txn.look(root)
    assert check(txn.run(root, "apply", txn.plan(root, [], [DISABLE])), "nothing").outcome["id"] is None
    link(root, ETC + "/multi-user.target.wants/x.service")
    check(txn.run(root, "apply", txn.plan(root, [], [ENABLE])), "nothing")
    assert txn.run(root, "list").outcome == []
    check(txn.run(root, "undo"), "nothing")
    os.unlink(root + ETC + "/multi-user.target.wants/x.service")
    assert not txn.difference(txn.look(root), before)


def test_steps_that_are_all_left_are_not_recorded(root):
    steps = [{"kind": "sysctl", "subject": "net.ipv4.ip_forward=1"}, {"kind": "daemon-reload"}]
    ran = check(txn.run(root, "apply", txn.plan(root, [], steps)), "nothing")
    assert {i["state"] for i in ran.outcome["items"]} == {"left"}
    ran = check(txn.run(root, "apply", txn.plan(root, [], steps), "--fail-verify"), "refused")
    assert "the test said so" in ran.outcome["text"] and txn.run(root, "list").outcome == []


def test_kernel_settings_that_are_so_already_are_not_recorded(root):
    ran = live(root, ([], [{"kind": "sysctl", "subject": "net.ipv4.ip_forward=0"}]),
               "$D / apply $P; $D / list >&2; $D / undo > /dev/null")
    assert txn.outcome(ran)["result"] == "nothing" and "[]" in ran.stderr.decode().replace(
        "[\n]", "[]"), ran.stderr


@txn.needs_standin
def test_running_manager_reads_them_again(root):
    """Where systemd runs, and not where the user wants no program run."""
    os.makedirs(root + "/run/systemd/system")
    script = """
mount -t overlay overlay -o lowerdir=/etc/bin:/usr/bin /usr/bin 2>&1 || { echo no overlay >&2; exit 0; }
$D / apply $P %s; $D / undo %s > /dev/null; cat /standin.log >&2 || :; rm -f /standin.log
"""
    os.makedirs(root + "/etc/bin")
    shutil.copy(txn.standin(), root + "/etc/bin/systemctl")
    unit(root, "WantedBy=multi-user.target\n", ETC + "/x.service")
    for more, count in (("", 2), ("--no-regenerate", 0)):
        ran = live(root, ([], [ENABLE]), script % (more, more))
        said = ran.stderr.decode()
        if "no overlay" in said:
            pytest.skip("this kernel lays no file systems over others")
        assert txn.outcome(ran)["result"] == "applied", said
        assert said.count("run systemctl --no-ask-password daemon-reload") == count, said
        assert not links(root)
