# SPDX-License-Identifier: GPL-2.0-or-later
"""Healthy nodes say nothing of severity warn or worse in any profile that they serve. A false alarm
costs more than a miss: the next one is not read. At the end it prints how many there were."""
import concurrent.futures

import pytest

from lib import cases, node, program

ALL_RDMA = ("base", "p2p", "rdma", "gpudirect-rdma", "deepep")
# What each is for. A captured or described node that shows a fault on purpose is not here.
HEALTHY = {
    "hgx-h100-ib": ALL_RDMA,
    "hgx-h200-roce": ALL_RDMA,
    "b200-hgx": ALL_RDMA,
    "grace-gh200-cx8": ("base", "gpudirect-rdma", "deepep"),
    "rhel9-proprietary-dracut": ("base", "p2p", "gpudirect-rdma"),
    "debian-nvidia-current": ("base", "gpudirect-rdma", "deepep"),
    "a100-nvshmem": ("base", "p2p", "gpudirect-rdma"),
    "rtx4090-p2p": ("base", "p2p"),
    "incidents/plx-4090": ("base", "p2p"),
    "incidents/desktop": ("base",),
    "vm-h200-passthrough": ("base", "p2p", "gpudirect-rdma"),
    "h200-x1": ("base",),
    "h200-x8": ("base", "p2p"),
    "laptop": ("base",),
    "no-gpu-server": ALL_RDMA,
    "kinds/dgx-spark": ("base", "rdma"),
    "kinds/efa": ("base", "p2p", "rdma", "gpudirect-rdma"),
    "kinds/azure": ("base", "p2p", "rdma", "gpudirect-rdma"),
    "kinds/vfio-host": ALL_RDMA,
    "kinds/gb300-tray": ("base", "gpudirect-rdma", "deepep"),
    "kinds/three-cards": ("base",),
    "kinds/tesla-p4": ("base", "gpudirect-rdma"),
}
# Said on purpose of a node on which nothing is broken.
ON_PURPOSE = {
    # The proprietary flavour is a choice with a price, which is a warning in itself.
    ("rhel9-proprietary-dracut", "driver/flavour"),
}
LOUD = ("warn", "err", "crit")


def alarms(name, directory):
    """PROFILE RULE SUBJECT: OBSERVED of everything that is said too loudly."""
    found = []
    for profile in HEALTHY[name]:
        report = program.report(directory, "--profile", profile)
        for f in report["findings"]:
            if f["verdict"] in ("fail", "pending") and f["severity"] in LOUD and (
                    name, f["rule"]) not in ON_PURPOSE:
                found.append("%s %s %s %s: %s" % (profile, f["rule"], f["severity"],
                                                  f["subject"] or "", f["observed"]))
    return found


@pytest.fixture(scope="module")
def said(node_tree):
    """Node by node, since a tree takes a while to be read."""
    with concurrent.futures.ThreadPoolExecutor(cases.THREADS) as pool:
        return dict(zip(HEALTHY, pool.map(lambda name: alarms(name, node_tree(name)), HEALTHY)))


@pytest.mark.parametrize("name", list(HEALTHY))
def test_healthy(name, said):
    if said[name]:
        pytest.fail("%s:\n%s" % (name, "\n".join(said[name])), pytrace=False)


def test_every_node_is_evaluated():
    """A new node is healthy, or it says here why not."""
    faulty = {"broken-everything", "broken-software", "h20-roce-deepep", "old-nv-peer-mem", "rtx4090-stock-smallbar",
              "workstation-nouveau"}
    assert set(node.names()) - faulty == {n for n in HEALTHY if "/" not in n}


def test_false_alarms(said, capsys):
    count = sum(len(found) for found in said.values())
    with capsys.disabled():
        print("\nfalse alarms %d in %d nodes" % (count, len(said)))
    assert count == 0
