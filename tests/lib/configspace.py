# SPDX-License-Identifier: GPL-2.0-or-later
"""PCI configuration space: 4096 bytes with the capabilities that this program reads, chained as the
PCI Express Base Specification 6.0 (chapter 7) has them. Register names and offsets follow Linux
include/uapi/linux/pci_regs.h.
"""
import struct

SIZE = 4096
PORT_TYPES = {"endpoint": 0, "root": 4, "up": 5, "down": 6, "bridge": 7, "rc": 9}
GENERATIONS = {"gen1": 1, "gen2": 2, "gen3": 3, "gen4": 4, "gen5": 5, "gen6": 6}
SPEEDS = ("?", "2.5 GT/s PCIe", "5.0 GT/s PCIe", "8.0 GT/s PCIe", "16.0 GT/s PCIe",
          "32.0 GT/s PCIe", "64.0 GT/s PCIe")
ACS_BITS = {"SV": 0x01, "TB": 0x02, "RR": 0x04, "CR": 0x08, "UF": 0x10, "EC": 0x20, "DT": 0x40}

CAP_PM, CAP_EXP, CAP_SSVID, CAP_MSIX = 0x01, 0x10, 0x0d, 0x11
EXT_AER, EXT_DSN, EXT_ACS, EXT_ATS, EXT_SRIOV, EXT_REBAR = 0x01, 0x03, 0x0d, 0x0f, 0x10, 0x15
COMMAND_MEMORY, COMMAND_MASTER, STATUS_CAP_LIST = 0x2, 0x4, 0x10
BAR_IO, BAR_64, BAR_PREFETCH = 0x1, 0x4, 0x8


class Space:
    def __init__(self):
        self.bytes = bytearray(SIZE)
        self.cap_link = 0x34		# where the next capability's offset goes
        self.ext_link = None

    def put(self, offset, form, *values):
        struct.pack_into("<" + form, self.bytes, offset, *values)

    def capability(self, cap, offset):
        self.bytes[self.cap_link] = offset
        self.put(offset, "BB", cap, 0)
        self.cap_link = offset + 1

    def extended(self, cap, offset, version=1):
        """Header: id, version, next. The first must be at 0x100."""
        if self.ext_link is not None:
            header = struct.unpack_from("<I", self.bytes, self.ext_link)[0]
            self.put(self.ext_link, "I", header & 0xfffff | offset << 20)
        self.put(offset, "I", cap | version << 16)
        self.ext_link = offset


def _header(space, dev, bars):
    status = STATUS_CAP_LIST
    command = (COMMAND_MEMORY if dev["memory"] else 0) | (COMMAND_MASTER if dev["master"] else 0)
    space.put(0, "HHHH", dev["vendor"], dev["device"], command, status)
    space.put(8, "I", dev["class"] << 8 | dev["revision"])
    kind = 1 if dev["bridge"] else 0
    space.put(0x0c, "BBBB", 0x10, 0, kind | (0x80 if dev["multifunction"] else 0), 0)
    for index, bar in bars.items():
        value = bar["start"] & 0xffffffff
        if bar["io"]:
            space.put(0x10 + 4 * index, "I", value | BAR_IO)
            continue
        space.put(0x10 + 4 * index, "I", value | (BAR_64 if bar["wide"] else 0) |
                  (BAR_PREFETCH if bar["prefetch"] else 0))
        if bar["wide"]:
            space.put(0x14 + 4 * index, "I", bar["start"] >> 32)
    if not dev["bridge"]:
        space.put(0x2c, "HH", dev["subvendor"], dev["subdevice"])
        space.put(0x3c, "BB", 0xff, 1)


def _bridge(space, bridge):
    """BRIDGE: buses (primary, secondary, subordinate); memory and prefetch windows or None."""
    space.put(0x18, "BBBB", *bridge["buses"], 0)
    space.put(0x1c, "BB", 0xf0, 0x00)	# no I/O window: base above limit
    memory, prefetch = bridge["memory"], bridge["prefetch"]
    low, high = memory if memory else (0xfff00000, 0)
    space.put(0x20, "HH", low >> 16 & 0xfff0, high >> 16 & 0xfff0)
    low, high = prefetch if prefetch else (0xfff00000, 0)
    space.put(0x24, "HH", low >> 16 & 0xfff0 | 1, high >> 16 & 0xfff0 | 1)
    space.put(0x28, "II", low >> 32, high >> 32)
    space.put(0x3c, "BBH", 0xff, 1, 0x3)


def _express(space, dev, offset):
    space.capability(CAP_EXP, offset)
    port = PORT_TYPES[dev["port"]]
    slot = 0x100 if dev["port"] in ("root", "down") else 0
    space.put(offset + 2, "H", 2 | port << 4 | slot)
    mps = {128: 0, 256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
    flr = 0x10000000 if dev["port"] == "endpoint" else 0
    space.put(offset + 4, "I", mps[dev["mps_max"]] | 0x8020 | flr)
    space.put(offset + 8, "HH", 0x0100 | mps[dev["mps"]] << 5 | mps[dev["mrrs"]] << 12 |
              (0x10 if dev["ro"] else 0) | (0x800 if dev["port"] == "endpoint" else 0), 0)
    if not dev["link_max"]:
        return
    (gen_max, width_max), (gen, width) = dev["link_max"], dev["link"]
    port_number = 0 if dev["port"] == "endpoint" else dev["slot"]
    space.put(offset + 0x0c, "I", gen_max | width_max << 4 | 0x2 << 10 | port_number << 24 |
              (0x100000 if dev["port"] in ("root", "down") else 0))
    space.put(offset + 0x10, "HH", 0x40, gen | width << 4 | 0x1000 |
              (0x2000 if dev["port"] in ("root", "down") and width else 0))
    space.put(offset + 0x24, "I", 0x1f)
    space.put(offset + 0x2c, "I", (2 << gen_max) - 2)
    space.put(offset + 0x30, "HH", (dev["link_target"] or gen_max) | (0x20 if dev["link_fixed"] else 0), 0x1e if gen >= 3 else 0)


def _rebar(space, rebar, offset):
    """REBAR: {BAR index: (smallest, largest, current) in bytes}."""
    space.extended(EXT_REBAR, offset)
    for i, (index, (least, most, now)) in enumerate(sorted(rebar.items())):
        sizes = 0
        size = least
        while size <= most:
            # Bit 4 is 1 MiB; sizes from 256 TiB on have bits in the control register.
            sizes |= 1 << (size >> 20).bit_length() + 3
            size *= 2
        space.put(offset + 4 + 8 * i, "I", sizes & 0xffffffff)
        space.put(offset + 8 + 8 * i, "I", index | len(rebar) << 5 |
                  ((now >> 20).bit_length() - 1) << 8)


def _sriov(space, dev, offset):
    total, used, first, stride, vf_device = dev["sriov"]
    space.extended(EXT_SRIOV, offset)
    space.put(offset + 4, "IHH", 0x2, 0x9 if used else 0, 0)
    space.put(offset + 0x0c, "HHHH", total, total, used, 0)
    space.put(offset + 0x14, "HHHH", first, stride, 0, vf_device)
    space.put(offset + 0x1c, "II", 0x553, 0x1)


def _extended(space, dev, rebar):
    offset = 0x100
    space.extended(EXT_AER, offset, 2)
    offset = 0x148
    if dev["serial"]:
        space.extended(EXT_DSN, offset)
        space.put(offset + 4, "Q", dev["serial"])
        offset += 0x0c
    if dev["acs_cap"]:
        space.extended(EXT_ACS, offset)
        space.put(offset + 4, "HH", dev["acs_cap"], dev["acs"])
        offset += 0x08 if not dev["acs_cap"] & 0x20 else 0x0c
    if dev["ats"] is not None:
        space.extended(EXT_ATS, offset)
        space.put(offset + 4, "HH", 0x20, 0x8000 if dev["ats"] else 0)
        offset += 0x08
    if rebar:
        _rebar(space, rebar, offset)
        offset += 4 + 8 * len(rebar)
    if dev["sriov"]:
        _sriov(space, dev, offset)


def build(dev, bars, rebar, bridge):
    """The configuration space of a device as pci.py describes it, cut to what can be read."""
    if dev["config"] == "ff":
        return b"\xff" * SIZE
    space = Space()
    _header(space, dev, bars)
    if bridge:
        _bridge(space, bridge)
    space.capability(CAP_PM, 0x40)
    space.put(0x42, "HH", 0x0003, 0x0008)
    if dev["bridge"]:
        space.capability(CAP_SSVID, 0x50)
        space.put(0x54, "HH", dev["subvendor"], dev["subdevice"])
    if dev["port"] != "conventional":
        _express(space, dev, 0x60)
        _extended(space, dev, rebar)
        size = SIZE
    else:
        size = 256
    return bytes(space.bytes[:int(dev["config"]) if dev["config"] else size])
