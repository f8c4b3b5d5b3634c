# SPDX-License-Identifier: GPL-2.0-or-later
"""Processors and NUMA nodes, held against lscpu: the machines of util-linux' own tests, and the same with
other processors online and in other nodes."""

import json
import shutil

from oracle import UNKNOWN, Oracle, Result, facts, run, source, unpacked, write

CPUS = "sys/devices/system/cpu"
NODES = "sys/devices/system/node"
HYPERVISORS = {"KVM": "kvm", "VMware": "vmware", "Oracle": "oracle", "Xen": "xen", "Microsoft": "microsoft", "pHyp": "powervm"}


class Lscpu(Oracle):
    name = "lscpu"
    programs = ("lscpu",)

    def prepare(self):
        folder = source("util-linux") / "tests/ts/lscpu/dumps"
        self.machines = {p.name.split(".")[0]: unpacked(p, self.place / "machines") for p in sorted(folder.glob("*.tar.gz"))}
        self.numa = [n for n, root in self.machines.items() if list(root.glob(NODES + "/node*"))]

    def material(self):
        return [(name, None, ()) for name in self.machines]

    def random(self, rng):
        name = rng.choice(self.numa)
        numbers = sorted(int(p.name[3:]) for p in (self.machines[name] / CPUS).glob("cpu[0-9]*"))
        nodes = []
        for path in sorted((self.machines[name] / NODES).glob("node[0-9]*")):
            cpus = sorted(rng.sample(numbers, rng.randint(0, len(numbers))))
            nodes.append((path.name, cpulist(cpus), cpumap(cpus)))
        return name, cpulist(sorted(rng.sample(numbers, rng.randint(1, len(numbers))))), tuple(nodes)

    def put(self, item):
        name, online, nodes = item
        if online is None:
            return self.machines[name]
        root = self.place / "changed" / name
        if not root.exists():
            shutil.copytree(self.machines[name], root, symlinks=True)
        write(root / CPUS / "online", online + "\n")
        for node, cpus, mask in nodes:
            write(root / NODES / node / "cpumap", mask + "\n")
            write(root / NODES / node / "cpulist", cpus + "\n")
        return root

    def compare(self, item):
        root = self.put(item)
        result, shown = Result(), run("lscpu", "--sysroot", root, "--json").stdout
        if not shown:
            return result	# lscpu has stopped at its own assertion
        theirs = fields(json.loads(shown)["lscpu"])
        found = facts(root)
        system, numa = found["os"], found.get("numa", {}).get("nodes", UNKNOWN)
        result.field("cpus", system.get("cpus", UNKNOWN), len(numbers_of(theirs["On-line CPU(s) list"])))
        for ours, name in (("cpu_vendor", "Vendor ID"), ("cpu_model", "Model name")):
            result.field(ours, system.get(ours, UNKNOWN), theirs.get(name))
        if system.get("machine") == "x86_64":
            result.field("cpu_family", system.get("cpu_family", UNKNOWN), int(theirs["CPU family"]))
            result.field("cpu_model_number", system.get("cpu_model_number", UNKNOWN), int(theirs["Model"]))
        vendor = theirs.get("Hypervisor vendor")
        result.field("hypervisor", system.get("hypervisor", UNKNOWN), HYPERVISORS.get(vendor, vendor))
        self.compare_nodes(result, numa, {k[9:].split()[0]: v for k, v in theirs.items() if k.startswith("NUMA node") and "CPU" in k})
        return result

    def compare_nodes(self, result, ours, theirs):
        result.field("numa nodes", ours if ours is UNKNOWN else [str(n["id"]) for n in ours], sorted(theirs, key=int))
        for node in ours if ours is not UNKNOWN else ():
            mine = node.get("cpus", UNKNOWN)
            result.field("numa cpus", mine if mine is UNKNOWN else numbers_of(mine), numbers_of(theirs.get(str(node["id"])) or ""))


def fields(items):
    found = {}
    for item in items:
        found[item["field"].rstrip(":")] = item["data"]
        found.update(fields(item.get("children", ())))
    return found


def numbers_of(text):
    found = []
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def cpulist(numbers):
    """As the kernel writes it."""
    runs = []
    for n in numbers:
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ",".join("%d" % a if a == b else "%d-%d" % (a, b) for a, b in runs)


def cpumap(numbers):
    mask = "%0*x" % (32 * 4, sum(1 << n for n in numbers))
    return ",".join(mask[i:i + 8] for i in range(0, len(mask), 8))


ORACLE = Lscpu
