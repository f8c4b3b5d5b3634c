# SPDX-License-Identifier: GPL-2.0-or-later
"""NUMA nodes, PCI functions and what is above each, held against hwloc: the machines of hwloc's own tests, of
which most have no PCI, and the nodes of these tests. And nothing wrong is found on hwloc's machines."""

import json
import os
import xml.etree.ElementTree as ElementTree

from oracle import PROGRAM, UNKNOWN, Oracle, Result, facts, run, source, unpacked

from lib import node, tree

PROFILES = "base,p2p,gpudirect-rdma,deepep"
# What needs no PCI to be left out: it asks libkmod, DKMS, dpkg, the hypervisor or a record.
WITHOUT_GPU = ("node/", "proof/", "boot/repair-not-live", "services/imex-beside-dra", "services/gridd-", "modules/views-disagree",
               "modules/dkms-failed", "software/package-unfinished")


class Hwloc(Oracle):
    name = "hwloc"
    programs = ("lstopo",)

    def prepare(self):
        source("hwloc")
        self.stage = tree.Stage(str(self.place / "node"))

    def material(self):
        for path in sorted((source("hwloc") / "tests/hwloc/linux").glob("*.tar.bz2")):
            yield path.name
        yield from (name for name in node.names() if name not in node.captured())

    def compare(self, item):
        result = Result()
        if item.endswith(".tar.bz2"):
            root = unpacked(source("hwloc") / "tests/hwloc/linux" / item, self.place / "machines" / item)
            compare_findings(result, root)
        else:
            self.stage.put(node.tree_of(item))
            root = self.stage.directory
        shown = run("lstopo", "--input", root, "--if", "fsroot", "--filter", "io:all", "--disallowed", "--of", "xml", "-",
                    env=dict(os.environ, HWLOC_KEEP_NVIDIA_GPU_NUMA_NODES="1"))
        found = facts(root)
        if shown.stdout:
            theirs = Machine(ElementTree.fromstring(shown.stdout))
            compare_numa(result, found.get("numa", {}).get("nodes", UNKNOWN), theirs)
            compare_pci(result, found.get("pci", {}).get("devices", UNKNOWN), theirs)
        run("rm", "-rf", self.place / "machines")
        for difference in result.differences:
            difference.field = "%s %s" % (item.split(".")[0], difference.field)
        return result


class Machine:
    def __init__(self, document):
        self.numa, self.pci = {}, {}
        self.cpus = cpus(document.find("object").get("complete_cpuset"))
        self.walk(document.find("object"), None)

    def walk(self, element, above):
        address = element.get("pci_busid")
        if element.get("type") == "NUMANode":
            self.numa[int(element.get("os_index"))] = (cpus(element.get("complete_cpuset")), int(element.get("local_memory") or 0))
        elif address:
            kind = element.get("pci_type").split()
            self.pci[address] = (int(kind[0], 16), *(int(n, 16) for n in kind[1].strip("[]").split(":")), above)
        for child in element.findall("object"):
            self.walk(child, address or above)


def cpus(mask):
    number = 0
    for word in mask.split(","):
        number = number << 32 | int(word or "0", 16)
    return number


def numbers(text):
    number = 0
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        for n in range(int(first), int(last or first) + 1):
            number |= 1 << n
    return number


def compare_numa(result, ours, theirs):
    if ours is UNKNOWN:
        result.field("numa nodes", UNKNOWN, None)
        return
    result.field("numa nodes", [n["id"] for n in ours], sorted(theirs.numa))
    for n in ours:
        mask, memory = theirs.numa.get(n["id"], (None, None))
        mine = n.get("cpus", UNKNOWN)
        # hwloc leaves out processors that are offline, and gives a node without any those near it.
        if mine:
            result.field("cpus", mine if mine is UNKNOWN else numbers(mine) & theirs.cpus, mask)
        result.field("memory", n.get("memory_bytes", UNKNOWN), memory)


def compare_pci(result, ours, theirs):
    if ours is UNKNOWN:
        result.field("functions", UNKNOWN, None)
        return
    result.field("functions", [d["bdf"] for d in ours], sorted(theirs.pci))
    for d in ours:
        kind, vendor, device, above = theirs.pci.get(d["bdf"], (None,) * 4)
        for name, value in (("class_id", kind), ("vendor_id", vendor), ("device_id", device)):
            mine = d.get(name, UNKNOWN)
            if mine is not UNKNOWN:
                mine = int(mine, 16) >> (8 if name == "class_id" else 0)
            result.field(name, mine, value)
        result.field("parent", d.get("parent", UNKNOWN), above)


def compare_findings(result, root):
    done = run(PROGRAM, "doctor", "--format", "json", "--profile", PROFILES, "--root", root)
    sees_pci = (root / "sys/bus/pci/devices").is_dir()
    for finding in json.loads(done.stdout)["findings"]:
        bad = finding["verdict"] in ("fail", "pending")
        if bad or (finding["verdict"] == "not-applicable" and not sees_pci and not finding["rule"].startswith(WITHOUT_GPU)):
            result.field(finding["rule"], "%s %s" % (finding["verdict"], finding.get("observed")), "nothing")
        else:
            result.fields += 1


ORACLE = Hwloc
