# SPDX-License-Identifier: GPL-2.0-or-later
"""The unmodified program in a root made of a node's tree, without --root: it must read the same
facts, or a path does not go through the host handle."""
import glob
import os
import re
import shutil
import subprocess

import pytest

from lib import node, program
from lib.program import steady

NODES = ("hgx-h100-ib", "rhel9-proprietary-dracut", "debian-nvidia-current", "grace-gh200-cx8")
HERE = "/run/nvnodecheck-test"

# Not the node's but this process's when live; /dev/shm is asked for its size, a tree's mount table is
# read for it.
LIVE = ("os.mounts", "env", "mps.has_control", "limits.self", "limits.shm_bytes", "gaps", "probes")


@pytest.fixture(scope="module")
def libraries():
    """The program with all libraries that it is linked with or may open, and their loader."""
    if not shutil.which("bwrap"):
        pytest.skip("bwrap is not installed")
    folder = os.path.join(program.BUILD, "program")
    os.makedirs(folder, exist_ok=True)
    shutil.copy(program.binary(), os.path.join(folder, "nvnodecheck"))
    wanted = [program.binary()]
    for name in ("libarchive.so.13", "libibverbs.so.1", "libkmod.so.2", "libpci.so.3",
                 "libz.so.1", "libsystemd.so.0", "libyaml-0.so.2"):
        wanted += glob.glob("/usr/lib/*-linux-gnu/" + name) or glob.glob("/usr/lib64/" + name)
    loader = None
    for file in wanted:
        text = subprocess.run(["ldd", file], stdout=subprocess.PIPE, check=True).stdout.decode()
        for path in re.findall(r"(/\S+) \(0x", text) + ([file] if file != wanted[0] else []):
            if "ld-linux" in path:
                loader = os.path.basename(path)
            shutil.copy(path, os.path.join(folder, os.path.basename(path)))
    return folder, loader


@pytest.fixture(scope="module", params=NODES)
def both(request, stages, libraries):
    folder, loader = libraries
    stage = stages("namespace")
    tree = node.copy_of(node.tree_of(request.param))
    # Of the process that runs there is only one; the real /proc holds it.
    for path in [p for p in tree.entries if p.startswith("/proc/self/")]:
        del tree.entries[path]
    tree.folders -= {f for f in tree.folders if f.startswith("/proc/self")}
    tree.link("/proc/self", "/run/proc/self")
    stage.put(tree)
    command = ["bwrap", "--bind", stage.directory, "/", "--ro-bind", folder, HERE, "--proc",
               "/run/proc", "--unshare-all", "--die-with-parent", "--"]
    if os.geteuid() == 0:
        # bwrap needs no rights; have none.
        command = ["setpriv", "--reuid=%d" % os.stat(stage.directory).st_uid, "--"] + command
    command += ["%s/%s" % (HERE, loader), "--library-path", HERE, HERE + "/nvnodecheck"]
    live = subprocess.run(command + ["facts"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=program.environment(), timeout=program.TIMEOUT_S)
    if live.returncode and b"nvnodecheck" not in live.stderr:
        pytest.skip("no namespaces here: %s" % live.stderr.decode().strip())
    result = program.Result(command, live)
    assert result.status == 0, str(result)
    capture = subprocess.run(command + ["capture", "-o", "-"], stdout=subprocess.PIPE, env=program.environment(),
                             timeout=program.TIMEOUT_S, check=True)
    yield result.json(), program.facts(stage.directory), capture.stdout
    for name in ("run/nvnodecheck-test", "run/proc"):
        if os.path.isdir(os.path.join(stage.directory, name)):
            os.rmdir(os.path.join(stage.directory, name))
    stage.clear()


def without(document, names):
    document = steady(document)
    for name in names:
        part, _, key = name.partition(".")
        if key and part in document:
            document[part].pop(key, None)
        elif not key:
            document.pop(part, None)
    return document


def test_live_reads_what_root_reads(both):
    live, tree, _ = both
    live, tree = without(live, LIVE), without(tree, LIVE)
    # The library finds no provider here: those of the tree are links to nothing.
    for device in (live["rdma"].get("devices") or []) + (tree["rdma"].get("devices") or []):
        device.pop("offered", None)
    # libkmod is asked of the running host alone, and a copy without /sys/fs does not say that there is no
    # cgroup and no limit of one.
    for document in live, tree:
        document["modules"].pop("views", None)
        document["containers"].pop("cgroup2", None)
        document["limits"].pop("rdma", None)
    # What the node is, as far as the process says it.
    process = {kind["name"] for kind in live["kinds"] + tree["kinds"] if kind.get("fact", "").startswith(LIVE)}
    for document in live, tree:
        document["kinds"] = [kind for kind in document["kinds"] if kind["name"] not in process]
    for part in tree:
        assert live.get(part) == tree[part], part


def test_nothing_is_lost(both):
    """Live, a probe may know more than a tree tells, never less."""
    live, tree, _ = both
    for part in ("env", "limits", "dev", "services"):
        missing = set(tree.get(part, {})) - set(live.get(part, {}))
        assert not missing, part


def test_capture_has_what_libraries_answered(both, tmp_path):
    """Names of modules stay, and a program is found where it was."""
    live, _, capture = both
    file = tmp_path / "node.capture"
    file.write_bytes(capture)
    again = program.run("facts", "--from", str(file)).json()
    assert [m["name"] for m in again["modules"]["loaded"]] == [m["name"] for m in live["modules"]["loaded"]]
    assert again["modules"]["views"] == live["modules"]["views"]
    assert again["software"].get("programs") == live["software"].get("programs")
