# SPDX-License-Identifier: GPL-2.0-or-later
"""The unmodified program in a root made of a node's tree, without --root: it must read the same
facts, or a path does not go through the host handle."""
import os
import subprocess

import pytest

from lib import namespace, program
from lib.program import steady

NODES = ("hgx-h100-ib", "rhel9-proprietary-dracut", "debian-nvidia-current", "grace-gh200-cx8")

# Not the node's but this process's when live; /dev/shm is asked for its size, a tree's mount table is
# read for it.
LIVE = ("os.mounts", "env", "mps.has_control", "limits.self", "limits.shm_bytes", "gaps", "probes")


@pytest.fixture(scope="module")
def installed():
    here = namespace.Program()
    yield here
    here.remove()


@pytest.fixture(scope="module", params=NODES)
def both(request, stages, installed):
    stage = stages("namespace")
    stage.put(namespace.tree_of(request.param))
    command = installed.command(stage.directory, "--unshare-all")
    if os.geteuid() == 0:
        # bwrap needs no rights; have none.
        command = ["setpriv", "--reuid=%d" % os.stat(stage.directory).st_uid, "--"] + command
    live = subprocess.run(command + ["facts"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=program.environment(), timeout=program.TIMEOUT_S)
    if live.returncode and b"nvnodecheck" not in live.stderr:
        pytest.skip("no namespaces here: %s" % live.stderr.decode().strip())
    result = program.Result(command, live)
    assert result.status == 0, str(result)
    capture = subprocess.run(command + ["capture", "-o", "-"], stdout=subprocess.PIPE, env=program.environment(),
                             timeout=program.TIMEOUT_S, check=True)
    yield result.json(), program.facts(stage.directory), capture.stdout
    installed.leave(stage)


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
