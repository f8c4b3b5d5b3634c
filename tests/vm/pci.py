# SPDX-License-Identifier: GPL-2.0-or-later
"""PCI functions from short descriptions, as records for the fakepci module.

    root-port rp0
    upstream up0 under=rp0
    downstream d0 under=up0 acs=0x1d
    gpu gpu0 under=d0 link=5x8

A record has the config space and the bits of it that can be written. Offsets and bits are those of
the PCI Express Base Specification, chapter 7, and linux/pci_regs.h."""

import re
import struct

FIRST_BUS = 0x90
CONFIG_BYTES = 4096
PCIE = 0x60  # where the PCI Express capability stands

# Device/port types, 7.5.3.2.
ENDPOINT, ROOT_PORT, UPSTREAM, DOWNSTREAM = 0, 4, 5, 6
BRIDGES = (ROOT_PORT, UPSTREAM, DOWNSTREAM)

ACS_CAPABILITY = 0x5F  # SV TB RR CR UF DT
ACS, ATS, SRIOV, REBAR = 0x0D, 0x0F, 0x10, 0x15

BRIDGE_CLASS = 0x060400

# What each kind is unless its line says otherwise. Ids and classes are those of real parts.
KINDS = {
    "root-port": {"type": ROOT_PORT, "id": "8086:352a", "class": BRIDGE_CLASS, "acs": "0"},
    "upstream": {"type": UPSTREAM, "id": "1000:c030", "class": BRIDGE_CLASS, "acs": "none"},
    "downstream": {"type": DOWNSTREAM, "id": "1000:c030", "class": BRIDGE_CLASS, "acs": "0"},
    "gpu": {"type": ENDPOINT, "id": "10de:2335", "sub": "10de:18be", "class": 0x030200,
            "rev": "0xa1", "bars": "0:16M,2:256G,4:32M"},
    "nic": {"type": ENDPOINT, "id": "15b3:1021", "sub": "15b3:0041", "class": 0x020700,
            "bars": "0:32M", "ats": "off"},
    "nvswitch": {"type": ENDPOINT, "id": "10de:22a3", "sub": "10de:1796", "class": 0x068000,
                 "rev": "0xa1", "bars": "0:32M"},
    "endpoint": {"type": ENDPOINT, "id": "1234:5678", "class": 0xFF0000},
}

OPTIONS = {"under", "at", "id", "sub", "class", "rev", "bars", "link", "max", "acs", "ats", "rebar",
           "sriov", "mps", "mrrs", "ro"}


class PciError(ValueError):
    pass


def number(text):
    return text if isinstance(text, int) else int(text, 0)


def size(text):
    """64M, 256G: bytes; a power of two, as BAR sizes are."""
    found = re.fullmatch(r"(\d+)([KMGT])", text)
    if not found:
        raise PciError("not a size: %s" % text)
    value = int(found[1]) << {"K": 10, "M": 20, "G": 30, "T": 40}[found[2]]
    if value & (value - 1):
        raise PciError("not a power of two: %s" % text)
    return value


def pair(text, base):
    first, second = text.split(":")
    return int(first, base), int(second, base)


def link(text):
    """5x16: generation and lanes."""
    speed, width = text.split("x")
    return int(speed), int(width)


class Function:
    def __init__(self, kind, name, options):
        unknown = set(options) - OPTIONS
        if unknown:
            raise PciError("%s: no such option: %s" % (name, ", ".join(sorted(unknown))))
        self.name = name
        self.options = dict(KINDS[kind], **options)
        self.type = self.options["type"]
        self.children = []
        self.devfn = 0
        self.bus = self.secondary = self.subordinate = 0
        self.config = bytearray(CONFIG_BYTES)
        self.writable = bytearray(CONFIG_BYTES)
        self._next_capability = 0x100
        self._last_capability = None

    @property
    def bdf(self):
        return "0000:%02x:%02x.%x" % (self.bus, self.devfn >> 3, self.devfn & 7)

    def put(self, offset, form, value, writable=0):
        struct.pack_into("<" + form, self.config, offset, value)
        struct.pack_into("<" + form, self.writable, offset, writable)

    # ---- the header ----

    def _header(self):
        o = self.options
        vendor, device = pair(o["id"], 16)
        self.put(0x00, "H", vendor)
        self.put(0x02, "H", device)
        self.put(0x04, "H", 0, 0x0547)
        self.put(0x06, "H", 0x10)  # it has capabilities
        self.put(0x08, "B", number(o.get("rev", 0)))
        self.put(0x09, "B", number(o["class"]) & 0xFF)
        self.put(0x0A, "H", number(o["class"]) >> 8)
        self.put(0x0C, "B", 0, 0xFF)
        self.put(0x34, "B", PCIE)
        self.put(0x3C, "B", 0, 0xFF)
        if self.type in BRIDGES:
            self._bridge_header()
        elif "sub" in o:
            vendor, device = pair(o["sub"], 16)
            self.put(0x2C, "H", vendor)
            self.put(0x2E, "H", device)

    def _bridge_header(self):
        self.put(0x0E, "B", 1)
        for offset, value in ((0x18, self.bus), (0x19, self.secondary), (0x1A, self.subordinate),
                              (0x1B, 0)):
            self.put(offset, "B", value, 0xFF)
        # Memory and prefetchable windows, closed: the base is above the limit.
        self.put(0x20, "H", 0xFFF0, 0xFFF0)
        self.put(0x22, "H", 0, 0xFFF0)
        self.put(0x24, "H", 0xFFF1, 0xFFF0)
        self.put(0x26, "H", 1, 0xFFF0)
        self.put(0x28, "I", 0, 0xFFFFFFFF)
        self.put(0x2C, "I", 0, 0xFFFFFFFF)
        self.put(0x3E, "H", 0, 0x0FBF)

    def _bars(self):
        for text in filter(None, self.options.get("bars", "").split(",")):
            index, amount = text.split(":")
            mask = -size(amount) & 0xFFFFFFFFFFFFFFFF
            offset = 0x10 + 4 * int(index)
            # 64-bit, prefetchable.
            self.put(offset, "I", 0xC, mask & 0xFFFFFFF0)
            self.put(offset + 4, "I", 0, mask >> 32)

    # ---- capabilities ----

    def _express(self):
        o = self.options
        max_speed, max_width = link(o.get("max", "5x16"))
        speed, width = link(o.get("link", o.get("max", "5x16")))
        control = {"on": 0x10, "off": 0}[o.get("ro", "on")] | 0x0800
        control |= (size_code(o.get("mps", "256")) << 5) | (size_code(o.get("mrrs", "512")) << 12)
        self.put(PCIE, "B", 0x10)
        self.put(PCIE + 2, "H", 2 | self.type << 4)
        self.put(PCIE + 4, "I", 0x8000 | size_code("512"))
        self.put(PCIE + 8, "H", control, 0x7FFF)
        self.put(PCIE + 0xC, "I", max_speed | max_width << 4)
        self.put(PCIE + 0x10, "H", 0, 0x01CB)
        self.put(PCIE + 0x12, "H", speed | width << 4)
        if self.type == ROOT_PORT:
            self.put(PCIE + 0x1C, "H", 0, 0x1F)
        self.put(PCIE + 0x28, "H", 0, 0xFFFF)
        self.put(PCIE + 0x2C, "I", (1 << (max_speed + 1)) - 2)
        self.put(PCIE + 0x30, "H", max_speed, 0xFFFF)

    def _extended(self, identity, length):
        """Adds an extended capability of LENGTH bytes and returns its offset."""
        offset = self._next_capability
        if self._last_capability is not None:
            last = struct.unpack_from("<I", self.config, self._last_capability)[0]
            self.put(self._last_capability, "I", last | offset << 20)
        self.put(offset, "I", identity | 1 << 16)
        self._last_capability = offset
        self._next_capability += (length + 3) & ~3
        return offset

    def _acs(self):
        control = self.options.get("acs", "none")
        if control == "none":
            return
        offset = self._extended(ACS, 8)
        self.put(offset + 4, "H", ACS_CAPABILITY)
        self.put(offset + 6, "H", number(control), ACS_CAPABILITY)

    def _ats(self):
        state = self.options.get("ats", "none")
        if state == "none":
            return
        offset = self._extended(ATS, 8)
        self.put(offset + 6, "H", {"on": 0x8000, "off": 0}[state], 0x801F)

    def _rebar(self):
        """rebar=2:256G: BAR 2 can have any size from 256 MiB to that one."""
        if "rebar" not in self.options:
            return
        index, largest = self.options["rebar"].split(":")
        bars = dict(text.split(":") for text in self.options["bars"].split(","))
        top, now = size(largest).bit_length() - 21, size(bars[index]).bit_length() - 21
        offset = self._extended(REBAR, 12)
        # Bit 4 stands for 1 MiB, 4 + n for 2^n MiB.
        self.put(offset + 4, "I", sum(1 << (4 + n) for n in range(8, top + 1)) & 0xFFFFFFFF)
        self.put(offset + 8, "I", int(index) | 1 << 5 | now << 8, 0x3F00)

    def _sriov(self):
        if "sriov" not in self.options:
            return
        total = number(self.options["sriov"])
        device = pair(self.options["id"], 16)[1]
        offset = self._extended(SRIOV, 0x40)
        self.put(offset + 8, "H", 0, 0x1F)
        self.put(offset + 0xC, "H", total)
        self.put(offset + 0xE, "H", total)
        self.put(offset + 0x10, "H", 0, 0xFFFF)
        self.put(offset + 0x14, "H", 1)  # the first is the next function, and so on
        self.put(offset + 0x16, "H", 1)
        self.put(offset + 0x1A, "H", device + 1)
        self.put(offset + 0x1C, "I", 0x553)
        self.put(offset + 0x20, "I", 1, 0xFFFFFFFF)

    def build(self):
        self._header()
        self._bars()
        self._express()
        self._acs()
        self._ats()
        self._rebar()
        self._sriov()

    def virtual(self, index):
        """The record of a virtual function: there is nothing at its place until the kernel switches
        it on, because function 0 says that it is alone."""
        o = self.options
        vf = Function("endpoint", "%s.vf%d" % (self.name, index),
                      {"id": "ffff:ffff", "class": o["class"], "sub": o.get("sub", "0:0")})
        vf.bus, vf.devfn = self.bus, self.devfn + 1 + index
        vf.build()
        return vf


def size_code(text):
    """128 is 0, 256 is 1, ...: Max_Payload_Size, Max_Read_Request_Size."""
    return int(text).bit_length() - 8


class Bus:
    """All functions, placed and numbered as the kernel will number them."""

    def __init__(self):
        self.functions = {}
        self.top = []

    def add_line(self, line):
        words = line.split()
        repeat = re.fullmatch(r"(\d+)x", words[0])
        if not repeat:
            self._add(words)
            return
        for i in range(int(repeat[1])):
            self._add([word.replace("{i}", str(i)) for word in words[1:]])

    def _add(self, words):
        if len(words) < 2 or not all("=" in word for word in words[2:]):
            raise PciError("not KIND NAME [KEY=VALUE]...: %s" % " ".join(words))
        kind, name = words[:2]
        options = dict(word.split("=", 1) for word in words[2:])
        if kind == "set":
            self._find(name).options.update(options)
            return
        if kind not in KINDS or name in self.functions:
            raise PciError("no such kind, or a name used twice: %s %s" % (kind, name))
        function = Function(kind, name, options)
        self.functions[name] = function
        siblings = self._find(options["under"]).children if "under" in options else self.top
        siblings.append(function)
        if "at" in options:
            slot, _, part = options["at"].partition(".")
            function.devfn = int(slot, 16) << 3 | int(part or "0", 16)
        else:
            function.devfn = (len(siblings) - 1) << 3

    def _find(self, name):
        if name not in self.functions:
            raise PciError("no such function: %s" % name)
        return self.functions[name]

    def _number(self, functions, bus, last):
        """Depth first, in the order of slots; returns the highest bus number given out."""
        for function in sorted(functions, key=lambda f: f.devfn):
            function.bus = bus
            if function.type not in BRIDGES:
                continue
            function.secondary = last + 1
            last = self._number(function.children, function.secondary, function.secondary)
            function.subordinate = last
        return last

    def place(self):
        """Gives every function its address. Returns names and addresses."""
        last = self._number(self.top, FIRST_BUS, FIRST_BUS)
        if last > 0xFE:
            raise PciError("more buses than there are numbers")
        return {name: f.bdf for name, f in self.functions.items()}

    def records(self):
        """What the module reads; place() comes first."""
        flat = []
        bridge_of = {child.name: f.name for f in self.functions.values() for child in f.children}
        for f in self.functions.values():
            f.build()
            flat.append((f, bridge_of.get(f.name)))
            for i in range(number(f.options.get("sriov", 0))):
                flat.append((f.virtual(i), bridge_of.get(f.name)))
        index = {f.name: i for i, (f, _) in enumerate(flat)}
        return b"".join(record(index.get(bridge, -1), f) for f, bridge in flat)


def record(parent, function):
    return (struct.pack("<iI", parent, function.devfn) + bytes(function.config)
            + bytes(function.writable))
