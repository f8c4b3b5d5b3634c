# SPDX-License-Identifier: GPL-2.0-or-later
"""fix --reload: when the driver is loaded again, and who keeps it from being unloaded. A host that
really does it is a virtual machine's."""
import os
import shutil
import subprocess

import pytest

from lib import elf, plans, program, tree, txn
from lib.plans import Plan
from test_txn_live import live

OWN = "/etc/modprobe.d/zz-nvnodecheck.conf"
PEER = "driver/peer-mapping-override"
pytestmark = [*txn.needs, pytest.mark.skipif(not shutil.which("depmod"),
                                             reason="kmod is not installed")]
STAGED = ("file /etc/modprobe.d/x.conf mtime=2025-03-01\n"
          "\toptions nvidia NVreg_RegistryDwords=\"PeerMappingOverride=1;\"\n")


@pytest.fixture
def make(place):
    stage = tree.Stage(os.path.join(place, "reload"))

    def plan(text="", *args):
        directory = plans.put(stage, "h20-roce-deepep", "remove /proc/7001\n" + text)
        return Plan(directory, "--profile", "deepep", *(args or ("--reload",)))
    yield plan
    shutil.rmtree(stage.directory, ignore_errors=True)


def test_only_when_asked(make):
    plain = make("", PEER)
    assert plain.kinds() == [] and plain.repair(PEER)["activation"] == "reboot"
    plan = make()
    assert plan.kinds() == ["reload-driver"] and plan.repair(PEER)["activation"] == "now"
    assert plan.repair(PEER)["cost"].startswith(plain.repair(PEER)["cost"])
    assert "MIG" in plan.repair(PEER)["cost"]
    assert plan.files[OWN]["content"] == plain.files[OWN]["content"] and plan.id != plain.id


def test_alone(make):
    """All is right on disk already: there is nothing else to do."""
    assert make(STAGED, PEER).empty()
    plan = make(STAGED)
    assert plan.kinds() == ["reload-driver"] and not plan.files
    assert "on disk" in plan.does(PEER)


def test_nothing_waits_for_it(make):
    assert make(STAGED + "param RegistryDwords = \"PeerMappingOverride=1;\"\n").empty()
    assert "reload-driver" not in make("driver unloaded\n").kinds()


def test_before_what_is_loaded_after_it(make):
    plan = make("unload nvidia_peermem\nfile /etc/modprobe.d/gdrdrv.conf\n\t#\n")
    assert plan.kinds()[:2] == ["reload-driver", "load-module"], plan.kinds()


PROCESS = "process %s pid=%d\nlink /proc/%d/%s %s\n"


def process(comm, pid, entry, target):
    return PROCESS % (comm, pid, pid, entry, target)


@pytest.mark.parametrize("text, said", [
    (process("python3", 4001, "fd/7", "/dev/nvidia0"), "process 4001 (python3) has /dev/nvidia0 open"),
    (process("nvidia-persiste", 4002, "fd/3", "/dev/nvidiactl"),
     "process 4002 (nvidia-persiste) has /dev/nvidiactl open"),
    (process("nv-fabricmanage", 4003, "fd/3", "/dev/nvidia-nvswitch0"),
     "process 4003 (nv-fabricmanage) has /dev/nvidia-nvswitch0 open"),
    # An open file is closed and its mapping stays; then only the count and the mapping show it.
    ("module nvidia_uvm uses=nvidia refs=1\n" +
     process("ollama", 4004, "map_files/7f0000000000-7f0000001000", "/dev/nvidia-uvm"),
     "process 4004 (ollama) has /dev/nvidia-uvm mapped"),
    ("module nvidia_drm uses=nvidia_modeset,nvidia refs=1\n" +
     process("Xorg", 4005, "fd/9", "/dev/dri/card1"), "process 4005 (Xorg) has /dev/dri/card1 open"),
    ("module nvidia refs=3\n", "nvidia is in use (3 times) by something that shows neither"),
    ("gdrdrv 2.5 opensource\n", "the module gdrdrv uses nvidia"),
    ("file /proc/fb\n\t0 nvidia-drmdrmfb\n", "nvidia-drm draws the console"),
    ("remove /sys/module/nvidia_uvm/refcnt\n", "could not be read: ENOENT"),
    ("file /etc/modprobe.d/a.conf\n\tinstall nvidia_uvm /bin/true\n", "a.conf:1 loads nvidia_uvm with"),
    ("file /etc/modprobe.d/a.conf\n\tremove nvidia /sbin/rmmod nvidia\n", "a.conf:1 unloads nvidia with"),
    ("ko nvidia version=999.1\n", "another version of the driver than the running one"),
])
def test_who_holds_it(make, text, said):
    plan = make(text)
    assert plan.result.status == 4 and said in plan.document["refused"], plan.document["refused"]
    # Without --reload it is nobody's business.
    assert make(text, "--all").result.status == 0


def test_many_holders(make):
    plan = make("".join(process("rank%d" % n, 5000 + n, "fd/3", "/dev/nvidia%d" % (n % 8))
                        for n in range(20)))
    assert plan.document["refused"].count("has /dev/nvidia") == 8
    assert "and 12 more" in plan.document["refused"]


def test_open_by_others(make):
    """Other files, and names that only look like the driver's, are no bother."""
    assert make(process("sshd", 4001, "fd/3", "/dev/null") +
                process("bash", 4002, "fd/1", "/tmp/dev/nvidia0")).result.status == 0


def test_another_root_is_not_reloaded(make):
    plan = make()
    ran = program.run("fix", "--root", plan.directory, "--profile", "deepep", "--apply", "--yes",
                      "--reload", "--json")
    step = next(i for i in ran.json()["outcome"]["items"] if "loaded again" in i["subject"])
    assert ran.status == 0 and step["state"] == "left", str(ran)


def test_capture(make, tmp_path):
    """A capture has no processes to ask: the plan is shown, and the transaction looks for itself."""
    capture = tmp_path / "node.capture"
    ran = program.run("capture", "--root", make(process("x", 4001, "fd/3", "/dev/nvidia0")).directory,
                      "-o", capture)
    assert ran.status == 0, str(ran)
    plan = Plan(None, "--from", str(capture), "--profile", "deepep", "--reload")
    assert plan.kinds() == ["reload-driver"] and plan.result.status == 0


# ---- on this host, whose kernel has no such module ----

FAKE = r"""
mount --bind /etc/module /sys/module
mount -t overlay overlay -o lowerdir=/etc/lib:/usr/lib /usr/lib
"""


@pytest.fixture
def host(place):
    """A root for live() with an idle nvidia in /sys/module, and its file for the kernel that runs."""
    root = txn.make(os.path.join(place, "txn-reload"), False)
    modules = "/etc/lib/modules/" + os.uname().release
    txn.put(root, "/etc/module/nvidia/refcnt", "0\n")
    txn.put(root, "/etc/module/nvidia/initstate", "live\n")
    os.makedirs(root + "/etc/module/nvidia/holders")
    txn.put(root, modules + "/nvidia.ko", elf.module("x86_64", [("name", "nvidia"), ("license", "GPL")]))
    for name in ("order", "builtin"):
        txn.put(root, modules + "/modules." + name, "")
    subprocess.run(["depmod", "-b", root + "/etc", os.uname().release], check=True)
    return root


def reload(host):
    ran = live(host, ([txn.file(txn.CONF, txn.OPTIONS)], [{"kind": "reload-driver"}]),
               FAKE + "$D / apply $P || :")
    if "overlay" in ran.stderr.decode():
        pytest.skip("this kernel lays no file systems over others")
    return txn.outcome(ran)


@pytest.mark.parametrize("path, text, said", [
    ("/etc/module/nvidia/refcnt", "2\n", "nvidia is in use (2 times)"),
    ("/etc/modprobe.d/i.conf", "install nvidia /bin/true\n", "nvidia has an install or remove line"),
    ("/etc/lib/modules/%s/modules.dep.bin" % os.uname().release, "", "no file of the module nvidia"),
])
def test_refused_before_anything_is_written(host, path, text, said):
    txn.put(host, path, text)
    outcome = reload(host)
    assert outcome["result"] == "refused" and said in outcome["text"], outcome
    assert not os.path.exists(host + txn.CONF)


def test_what_cannot_be_unloaded_takes_all_back(host):
    outcome = reload(host)
    assert outcome["result"] == "rolled-back" and "nvidia" in outcome["text"], outcome
    assert not os.path.exists(host + txn.CONF)
    step = outcome["items"][-1]
    assert step["state"] == "stays" and "keeps its present options" in step["text"]
