# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies of a node that lack something: whole folders, parts of /sys and /proc. Of what is missing, nothing
follows: an answer of a partial copy is the whole one's, or unknown."""
import collections
import glob
import itertools
import os

from . import node, program

NODES = ("hgx-h100-ib", "h20-roce-deepep", "rhel9-proprietary-dracut", "broken-everything",
         "vm-h200-passthrough")
PROFILES = "base,p2p,gpudirect-rdma,deepep"
# Folders whose entries are parts, each by itself.
DIVIDED = ("/", "/proc", "/proc/sys", "/proc/driver", "/sys", "/sys/bus", "/sys/bus/pci", "/sys/class",
           "/sys/devices", "/sys/devices/system", "/sys/kernel", "/sys/kernel/mm", "/sys/firmware")
# Files that speak of one thing: with one or two of them gone, the others are no contradiction. Not those
# whose absence is itself what is wrong with a node, such as /dev/nvidia0.
ONE_THING = {
    "the driver": ("/proc/modules", "/sys/module", "/sys/module/nvidia", "/proc/driver/nvidia/version",
                   "/proc/driver/nvidia/params", "/proc/driver/nvidia/gpus", "/proc/devices",
                   "/sys/bus/pci/devices/*/driver"),
    "RDMA devices": ("/proc/modules", "/sys/module", "/sys/module/mlx5_ib", "/sys/module/ib_uverbs",
                     "/sys/class/infiniband", "/sys/class/infiniband_verbs",
                     "/sys/class/infiniband/*/ports", "/sys/class/net", "/sys/bus/pci/devices/*/driver"),
    "PCI functions": ("/sys/bus/pci/devices/*/uevent", "/sys/bus/pci/devices/*/resource",
                      "/sys/bus/pci/devices/*/vendor", "/sys/bus/pci/devices/*/class",
                      "/sys/bus/pci/devices/*/iommu_group", "/sys/kernel/iommu_groups", "/sys/class/iommu"),
    "the kernel": ("/proc/sys/kernel/osrelease", "/proc/version", "/lib/modules", "/boot/config-*",
                   "/boot/vmlinuz-*", "/proc/cmdline"),
    "the next boot": ("/proc/cmdline", "/boot/grub*/grub.cfg", "/boot/grub*/grubenv", "/etc/default/grub",
                      "/boot/init*"),
    "the machine": ("/proc/cpuinfo", "/sys/class/dmi", "/sys/devices/system/node", "/sys/devices/system/cpu",
                    "/sys/hypervisor", "/proc/1", "/run/systemd", "/sys/firmware/efi"),
    "units": ("/proc/self", "/proc/[0-9]*", "/etc/systemd", "/usr/lib/systemd", "/run/systemd"),
    "addresses": ("/sys/class/net", "/proc/net/route", "/proc/net/fib_trie", "/proc/net/if_inet6",
                  "/sys/class/infiniband/*/ports/*/gids", "/sys/class/infiniband/*/ports/*/gid_attrs"),
}
# The processes are one part, and so are the host bridges.
TOGETHER = (("/proc/[0-9]", lambda p: p.startswith("/proc/") and p[6:].isdigit()),
            ("/sys/devices/pci*", lambda p: p.startswith("/sys/devices/pci")))


class Copy:
    """A tree on disk, parts of which can be taken away and put back."""

    def __init__(self, stage, name):
        stage.put(node.tree_of(name))
        self.root = stage.directory
        self.stash = stage.directory.rstrip("/") + ".stash"
        os.makedirs(self.stash, exist_ok=True)
        self.parts = collections.OrderedDict()
        for folder in DIVIDED:
            if os.path.isdir(self.root + folder):
                for entry in sorted(os.listdir(self.root + folder)):
                    self.add(os.path.join(folder, entry))
        self.whole = answers(self.root)

    def found(self, pattern):
        """The pattern, as a part, where the tree has something of it."""
        if pattern not in self.parts:
            paths = [p[len(self.root):] for p in glob.glob(self.root + pattern)]
            if not paths:
                return False
            self.parts[pattern] = paths
        return True

    def add(self, path):
        if path in DIVIDED and path not in ("/proc", "/sys"):
            self.parts[path] = [path]
            return
        for name, fits in TOGETHER:
            if fits(path):
                self.parts.setdefault(name, []).append(path)
                return
        self.parts[path] = [path]

    def without(self, names):
        """What is unfounded in the answers of a copy without those parts."""
        moved = []
        try:
            for path in sorted((p for n in names for p in self.parts[n]), reverse=True):
                if os.path.lexists(self.root + path):
                    to = os.path.join(self.stash, "%d" % len(moved))
                    os.rename(self.root + path, to)
                    moved.append((path, to))
            return unfounded(self.whole, answers(self.root))
        finally:
            for path, to in reversed(moved):
                os.rename(to, self.root + path)


def answers(root):
    """{rule: {(verdict, subject): what was seen}}"""
    report = program.report(root, "--profile", PROFILES)
    found = collections.defaultdict(dict)
    for finding in report["findings"]:
        found[finding["rule"]][finding["verdict"], finding["subject"]] = finding["observed"]
    return found


def unfounded(whole, partial):
    """Answers that are neither the whole copy's nor unknown."""
    wrong = []
    for rule, before in whole.items():
        now = partial.get(rule, {})
        if not now:
            wrong.append("%s: no answer" % rule)
        for answer, seen in now.items():
            if answer not in before and answer[0] != "unknown" and not is_of_no_list(answer, before):
                wrong.append("%s: %s %s (%s), and of the whole copy %s" % (
                    rule, answer[0], answer[1] or "", seen, sorted({v for v, _ in before})))
    return wrong


def is_of_no_list(answer, before):
    """A port that only the job's list leaves out is read and evaluated for itself where there is no list."""
    verdict, subject = answer
    return verdict == "pass" and (before.get(("not-applicable", subject)) or "").startswith("left out by ")


def single(copy):
    return [(name,) for name in copy.parts]


def pairs(copy):
    return list(itertools.combinations(copy.parts, 2))


def of_one_thing(copy):
    """Every pair of files that speak of one thing, and each alone, gone."""
    found = []
    for patterns in ONE_THING.values():
        mine = [p for p in patterns if copy.found(p)]
        found += [(name,) for name in mine] + list(itertools.combinations(mine, 2))
    return found


def single_left(copy):
    """One part of /sys or /proc alone, and one top-level folder alone."""
    found = []
    for folder in ("/", "/proc", "/sys"):
        mine = [n for n in copy.parts if n.startswith(folder) and n != folder]
        for kept in mine:
            found.append(tuple(n for n in mine if not (n == kept or n.startswith(kept + "/") or
                                                       kept.startswith(n + "/"))))
    return found


def at_random(copy, rng):
    names = list(copy.parts)
    return tuple(rng.sample(names, rng.randint(1, max(2, len(names) * 2 // 3))))
