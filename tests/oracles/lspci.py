# SPDX-License-Identifier: GPL-2.0-or-later
"""Registers of PCI functions, held against lspci -F: the dumps of pciutils' own tests, and random headers
with random chains of capabilities."""

import re

from oracle import UNKNOWN, Oracle, Result, empty_folder, facts, read_text, run, source, write

FUNCTION = re.compile(r"^((?:[0-9a-f]{4,}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])[ \n]", re.M)
PORTS = (("Root Port", "root-port"), ("Upstream Port", "upstream-port"), ("Downstream Port", "downstream-port"),
         ("PCI-Express to PCI", "bridge"), ("PCI/PCI-X to PCI-Express", "bridge"), ("Root Complex", "root-complex"),
         ("Endpoint", "endpoint"))
ACS = ("SrcValid", "TransBlk", "ReqRedir", "CmpltRedir", "UpstreamFwd", "EgressCtrl", "DirectTrans")
SIZES = {"MB": 20, "GB": 30, "TB": 40, "PB": 50, "EB": 60}
STANDARD = (0x01, 0x03, 0x05, 0x09, 0x10, 0x10, 0x0d, 0x11, 0x12)
EXTENDED = (0x01, 0x03, 0x0b, 0x0d, 0x0d, 0x0e, 0x0f, 0x0f, 0x10, 0x13, 0x15, 0x15, 0x18, 0x19, 0x1e, 0x25)


class Lspci(Oracle):
    name = "lspci"
    programs = ("lspci",)

    def material(self):
        for path in sorted((source("pciutils") / "tests").iterdir()):
            text = read_text(path) if path.is_file() else ""
            if re.search(r"^00: ", text, re.M):
                yield text

    def random(self, rng):
        return "".join("%s x\n%s\n" % (bdf, dump(Function(rng).data)) for bdf in ("00:01.0", "00:02.0", "01:00.0", "0a:1f.7"))

    def compare(self, item):
        tree = empty_folder(self.place / "tree")
        write(self.place / "dump", item)
        functions = {name: data for name, data in functions_of(item) if len(data) >= 64}
        for name, data in functions.items():
            self.put(tree, name, data)
        lspci = run("lspci", "-F", self.place / "dump", "-D", "-n", "-vvv")
        if lspci.returncode:
            return Result()	# it ends so at registers that it cannot make out
        shown = lspci.stdout.decode(errors="replace")
        theirs = {block.split()[0]: block for block in shown.split("\n\n") if block.strip()}
        ours = {d["bdf"]: d for d in facts(tree, "pci").get("devices", [])}
        result = Result()
        result.field("functions", sorted(ours), sorted(functions))
        for name in ours:
            if name in theirs and ours[name].get("answers"):
                compare_function(result, ours[name], theirs[name], functions[name])
        return result

    def put(self, tree, name, data):
        """The class is one of those whose registers are read."""
        folder = tree / "sys/devices/pci0000:00" / name
        bridge = data[14] & 0x7f == 1
        write(folder / "config", data)
        write(folder / "uevent", "PCI_CLASS=%s\nPCI_ID=%02X%02X:%02X%02X\nPCI_SUBSYS_ID=0000:0000\n" % (
            "60400" if bridge else "30200", data[1], data[0], data[3], data[2]))
        write(folder / "resource", "0x0000000000000000 0x0000000000000000 0x0000000000000000\n" * 13)
        for file, text in (("power_state", "D0"), ("revision", "0x00"), ("numa_node", "-1")):
            write(folder / file, text + "\n")
        (tree / "sys/bus/pci/devices").mkdir(parents=True, exist_ok=True)
        (tree / "sys/bus/pci/devices" / name).symlink_to("../../../devices/pci0000:00/" + name)


def functions_of(dump_text):
    """[(address, bytes)]"""
    parts = FUNCTION.split(dump_text)
    for name, text in zip(parts[1::2], parts[2::2]):
        data = bytearray()
        for at, line in re.findall(r"^([0-9a-f]+0): ((?:[0-9a-f]{2} ?){16})\s*$", text, re.M):
            if int(at, 16) == len(data):
                data += bytes.fromhex(line)
        yield name if name.count(":") == 2 else "0000:" + name, bytes(data)


def compare_function(result, ours, text, data):
    field = result.field
    field("memory", ours.get("memory_enabled", UNKNOWN), flag(text, r"Control: .*? Mem(.)"))
    field("bus master", ours.get("bus_master", UNKNOWN), flag(text, r"Control: .*BusMaster(.)"))
    if data[14] & 0x7f == 1:
        mine = ours.get("window", UNKNOWN)
        field("window", mine if mine is UNKNOWN else (int(mine["start"], 16), int(mine["size_bytes"])), window(text))
    if "<access denied>" in text:
        return
    express = re.search(r"Express \(v\d+\) (.*?)(?=\n\tCapabilities:|\Z)", text, re.S)
    express = express and express[1]
    field("port", ours.get("port", UNKNOWN), port(express, data))
    if not express:
        return
    compare_express(field, ours, express)
    if len(data) >= 4096:
        compare_extended(field, ours, text)


def compare_express(field, ours, text):
    for name, pattern in (("mps_max_bytes", r"DevCap:\s+MaxPayload (\d+)"), ("mps_bytes", r"\n\s+MaxPayload (\d+) bytes, MaxReadReq"),
                          ("mrrs_bytes", r"MaxReadReq (\d+)")):
        found = re.search(pattern, text)
        field(name, ours.get(name, UNKNOWN), found and int(found[1]))
    field("relaxed ordering", ours.get("relaxed_ordering", UNKNOWN), flag(text, r"RlxdOrd(.)"))
    link = ours.get("link", UNKNOWN)
    for speed, width, line in (("speed_mts", "width", "LnkSta"), ("speed_max_mts", "width_max", "LnkCap")):
        theirs = re.search(r"%s:.*Speed ([^,( ]+).*Width x(\d+)" % line, text)
        if link is None or link is UNKNOWN:
            field("link", link, None if not theirs else "a link")
        elif theirs:
            field(speed, link.get(speed, UNKNOWN), theirs[1] if theirs[1] == "unknown" else int(float(theirs[1][:-4]) * 1000))
            field(width, link.get(width, UNKNOWN), int(theirs[2]))


def compare_extended(field, ours, text):
    acs = capability(text, "Access Control Services")
    mine = ours.get("acs", UNKNOWN)
    for name, line in (("capability", "ACSCap"), ("control", "ACSCtl")):
        value = mine if mine in (None, UNKNOWN) else mine.get(name, UNKNOWN)
        field("acs " + name, value if value in (None, UNKNOWN) else int(value, 16) & 0x7f, acs and bits(acs, line))
    ats = capability(text, r"Address Translation Service \(ATS\)")
    field("ats", ours.get("ats_enabled", UNKNOWN), ats and flag(ats, r"ATSCtl:\s+Enable(.)"))
    rebar = capability(text, "Physical Resizable BAR")
    mine = ours.get("rebar", UNKNOWN)
    if mine not in (None, UNKNOWN):
        mine = [(b["index"], int(b["size_bytes"]), int(b["size_max_bytes"])) for b in mine]	# beyond 2^53 they are texts
    field("rebar", mine, rebar and resizable(rebar))


def capability(text, name):
    found = re.search(r"\n\tCapabilities: \[\w+ v\d+\] %s(.*?)(?=\n\tCapabilities:|\Z)" % name, text, re.S)
    return found and found[1]


def flag(text, pattern):
    found = re.search(pattern, text)
    return found and found[1] == "+"


def bits(text, line):
    found = re.search(r"%s:\s+(.*)" % line, text)
    return found and sum(1 << i for i, name in enumerate(ACS) if name + "+" in found[1])


def port(express, data):
    if express:
        return next((word for name, word in PORTS if name in express.split("\n")[0]), None)
    return "bridge" if data[14] & 0x7f == 1 else None


def window(text):
    """(start, bytes)"""
    if "Unknown prefetchable memory range types" in text:
        return "reserved types"
    found = re.search(r"Prefetchable memory behind bridge: ([0-9a-f]+)-([0-9a-f]+)(.*)", text)
    if not found or "disabled" in found[3]:
        return 0, 0
    start, end = int(found[1], 16), int(found[2], 16)
    return start, max(end - start + 1, 0)


def resizable(text):
    def size(word):
        return int(word[:-2]) << SIZES[word[-2:]]
    found = []
    for index, now, sizes in re.findall(r"BAR (\d): current size: (\w+)(?:, supported:([^\n]*))?", text):
        found.append((int(index), size(now), max(map(size, sizes.split()), default=size(now))))
    return found


class Function:
    """4096 or fewer bytes of configuration space."""

    def __init__(self, rng):
        self.rng = rng
        self.data = bytearray(rng.randrange(256) if rng.random() < 0.3 else 0 for _ in range(4096))
        bridge = rng.random() < 0.4
        self.put(0, 4, 0x10de2330)
        self.put(4, 2, rng.randrange(0x800))
        self.put(6, 2, rng.choice((0x10, 0x10, 0x10, 0x10, 0)) | rng.choice((0, 0x100)))
        self.put(8, 4, 0x060400a1 if bridge else 0x030200a1)
        self.data[14] = bridge | rng.choice((0, 0x80))
        self.chain()
        self.extended_chain()
        del self.data[rng.choice((4096, 4096, 4096, 4096, 4096, 256, 64)):]

    def put(self, at, size, value):
        self.data[at:at + size] = value.to_bytes(size, "little")

    def chain(self):
        """Express has 0x3c bytes; the others stand where they may."""
        places = [0x40] + self.rng.sample(range(0x7c, 0xf8, 4), self.rng.randint(0, 5))
        self.rng.shuffle(places)
        self.put(0x34, 1, places[0])
        for at, after in zip(places, places[1:] + [self.rng.choice((0, 0, 0, places[0], 0xfc))]):
            number = 0x10 if at == 0x40 and self.rng.random() < 0.9 else self.rng.choice(STANDARD)
            if number == 0x10 and at > 0xc0:	# lspci shows nothing of one that does not fit
                number = 1
            self.put(at, 2, number | after << 8)
        self.put(0x42, 2, self.rng.choice((1, 2, 2, 2)) | self.rng.randrange(11) << 4)
        if self.rng.random() < 0.9:	# codes that are not reserved
            self.put(0x44, 1, self.rng.randrange(6))
            self.put(0x48, 2, self.rng.randrange(6) << 5 | self.rng.randrange(6) << 12 | self.rng.choice((0, 0x10)))
            self.put(0x4c, 2, self.rng.randrange(1, 7) | self.rng.choice((1, 2, 4, 8, 16)) << 4)
            self.put(0x52, 2, self.rng.randrange(1, 7) | self.rng.choice((0, 1, 2, 4, 8, 16)) << 4)

    def extended_chain(self):
        places = [0x100] + self.rng.sample(range(0x140, 0xf00, 0x40), self.rng.randint(0, 8))
        for at, after in zip(places, places[1:] + [self.rng.choice((0, 0, 0, 0x100, 0xffc))]):
            number = self.rng.choice(EXTENDED)
            self.put(at, 4, number | 1 << 16 | after << 20)
            if number == 0x15:
                self.resizable(at)

    def resizable(self, at):
        count = self.rng.randint(1, 4)
        for i, index in enumerate(sorted(self.rng.sample(range(6), count))):
            self.put(at + 4 + 8 * i, 4, self.rng.randrange(1, 1 << 16) << 4)
            self.put(at + 8 + 8 * i, 4, index | (count << 5 if i == 0 else 0) | self.rng.randrange(20) << 8)


def dump(data):
    return "".join("%02x: %s\n" % (at, " ".join("%02x" % b for b in data[at:at + 16])) for at in range(0, len(data), 16))


ORACLE = Lspci
