# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: what a node is made of, and what the program has to see there. README.md describes the
form; a line that is not understood is an error."""

import json
import re
import shlex

from acpi import override
from cpio import Archive
from pci import Bus, PciError

# Time passes unevenly for a guest that is emulated on a busy machine: its TSC cannot be calibrated,
# and the kernel must not take a pause for a stall. The last two save time.
KERNEL_WORDS = ("console=ttyS0 panic=-1 quiet tsc=unstable no_timer_check nowatchdog "
                "rcupdate.rcu_cpu_stall_suppress=1 cryptomgr.notests mitigations=off")
# 46 bits of physical addresses: room for eight BARs of 256 GiB.
CPU = "max,phys-bits=46"
# Neither processor nor firmware tells that this is no real machine: what rules say of bare metal
# can be seen. The directive "virtual" leaves both as they are.
BARE_CPU = ",hypervisor=off"
BARE_FIRMWARE = ["-smbios", "type=1,manufacturer=Example,product=Node,version=1",
                 "-smbios", "type=2,manufacturer=Example,product=Board",
                 "-smbios", "type=3,manufacturer=Example"]
MEMORY_MIB = 768
# All rules are asked.
PROFILE = "p2p,deepep"


class ScenarioError(Exception):
    pass


class Expectation:
    """fact PATH = VALUE, count PATH = NUMBER, rule ID[SUBJECT] = VERDICT, tried KIND[DEVICE] = OUTCOME."""

    def __init__(self, kind, path, value, line):
        self.kind = kind
        self.path = path
        self.value = value
        self.line = line


class Scenario:
    def __init__(self, path):
        self.name = path.stem
        self.about = ""
        self.cmdline = []
        self.qemu = []
        self.cpu = CPU
        self.memory = MEMORY_MIB
        self.profile = PROFILE
        self.virtual = False
        self.dmar = False
        self.bus = None
        self.bus_options = []
        self.names = {}
        self.files = {}
        self.steps = []
        self.rdma = []
        self.prove = None
        self.expectations = []
        self._parse(path)

    # ---- reading ----

    def _parse(self, path):
        lines = path.read_text().split("\n")
        at = 0
        while at < len(lines):
            first = at
            line = lines[at]
            at += 1
            block = []
            while at < len(lines) and (lines[at].startswith("\t") or
                                       (block and not lines[at].strip() and
                                        at + 1 < len(lines) and lines[at + 1].startswith("\t"))):
                block.append(lines[at][1:])
                at += 1
            if not line.strip() or line.startswith("#"):
                continue
            try:
                self._directive(line, block, first + 1)
            except (ScenarioError, PciError, ValueError) as error:
                raise ScenarioError("%s:%d: %s" % (path.name, first + 1, error)) from error

    def _directive(self, line, block, number):
        word, _, rest = line.partition(" ")
        if block and word not in ("pci", "file"):
            raise ScenarioError("%s has no block" % word)
        if word in ("fact", "count", "rule", "tried"):
            self._expect(word, rest, number)
            return
        method = getattr(self, "_on_" + word, None)
        if not method:
            raise ScenarioError("no such directive: %s" % word)
        if word in ("pci", "file"):
            method(rest, block)
        else:
            method(rest)

    def _on_about(self, rest):
        self.about = rest

    def _on_cmdline(self, rest):
        self.cmdline += rest.split()

    def _on_qemu(self, rest):
        self.qemu += shlex.split(rest)

    def _on_cpu(self, rest):
        self.cpu = rest

    def _on_memory(self, rest):
        self.memory = int(rest)

    def _on_profile(self, rest):
        self.profile = rest

    def _on_virtual(self, rest):
        self.virtual = True

    def _on_dmar(self, rest):
        self.dmar = True
        self.qemu += ["-device", "intel-iommu" + ("," + rest if rest else "")]

    def _on_pci(self, rest, block):
        self.bus = Bus()
        self.bus_options = rest.split()
        for line in block:
            if line.strip() and not line.startswith("#"):
                self.bus.add_line(line)
        self.names = self.bus.place()
        self.steps.append("modprobe fakepci " + " ".join(self.bus_options))

    def _on_file(self, rest, block):
        self.files[rest] = "".join(line + "\n" for line in block)

    def _on_module(self, rest):
        self.steps.append("modprobe " + rest)

    def _on_rdma(self, rest):
        if not self.rdma:
            self.steps.append("RDMA")
        self.rdma.append(rest.split())

    def _on_run(self, rest):
        self.steps.append(rest)

    def _on_prove(self, rest):
        gpus, _, faults = self.resolve(rest).partition(" ")
        self.prove = "export STANDIN_GPUS=%s STANDIN_FAULTS=%s\n" % (gpus, shlex.quote(faults))

    def _expect(self, kind, rest, number):
        found = re.fullmatch(r"(\S+) = (.*\S)", rest)
        if not found:
            raise ScenarioError("not of the form %s PATH = VALUE" % kind)
        path, value = found.groups()
        if kind in ("rule", "tried"):
            parsed = value
        elif value == "unknown":
            parsed = Ellipsis
        else:
            parsed = json.loads(self.resolve(value))
        self.expectations.append(Expectation(kind, self.resolve(path), parsed, number))

    # ---- what it comes to ----

    def resolve(self, text):
        """@gpu0 is the address of the function of that name."""
        def address(found):
            if found[1] not in self.names:
                raise ScenarioError("no PCI function of the name %s" % found[1])
            return self.names[found[1]]
        return re.sub(r"@([a-z]+[a-z0-9]*)\b", address, text)

    def _rdma_step(self):
        devices = ",".join(";".join(words) for words in self.rdma)
        return "modprobe mlx5_ib 'device=%s'" % devices

    def script(self):
        steps = (self._rdma_step() if step == "RDMA" else step for step in self.steps)
        return "".join(self.resolve(step) + "\n" for step in steps)

    def images(self):
        """The parts of the initramfs that are this scenario's: what must be at its front, and what
        comes last."""
        archive = Archive()
        archive.file("/scenario/prepare", self.script().encode())
        archive.file("/scenario/profile", self.profile.encode() + b"\n")
        if self.prove:
            archive.file("/scenario/prove", self.prove.encode())
        for path, text in self.files.items():
            archive.file(path, self.resolve(text).encode())
        if self.bus:
            archive.file("/etc/fakepci", self.bus.records())
        return (override() if self.dmar else b""), archive.bytes()

    def arguments(self):
        """Of QEMU, without the files."""
        words = " ".join([KERNEL_WORDS] + self.cmdline)
        cpu = self.cpu if self.virtual else self.cpu + BARE_CPU
        firmware = [] if self.virtual else BARE_FIRMWARE
        return (["-M", "q35", "-cpu", cpu, "-m", str(self.memory), "-append", words] + firmware
                + self.qemu)
