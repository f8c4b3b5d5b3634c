# SPDX-License-Identifier: GPL-2.0-or-later
"""pci and iommu: the devices, their place in the tree of bridges, their configuration space."""
import fnmatch
import re
import zlib

from .. import configspace
from ..devices import MODELS, G, K, M
from ..textform import indent_of

BDF = re.compile(r"(?:([0-9a-f]{4}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])$")
UNITS = {"K": K, "M": M, "G": G, "T": G << 10}

# Where the firmware puts the windows of the root buses, one after the other.
WINDOW_64, WINDOW_64_STEP = 0x200000000000, 0x10000000000
WINDOW_32, WINDOW_32_STEP = 0x90000000, 0x02000000
WINDOW_IO = 0x1000
BRIDGE_ALIGN = M
# struct resource flags, include/linux/ioport.h
FLAGS = {"64p": 0x14220c, "64": 0x140204, "32": 0x40200, "io": 0x40101}
FLAGS_ROM, FLAGS_WINDOW, FLAGS_WINDOW_64 = 0x46200, 0x200, 0x102201
FLAGS_UNSET = 0x20000000


def init(node):
    node.pci = {}
    node.iommu = {"type": None, "units": [], "groups": "slot"}


def parse_size(statement, word):
    match = re.match(r"([0-9]+)([KMGT]?)$", word)
    if not match:
        raise statement.wrong("'%s' is not a size" % word)
    return int(match.group(1)) * UNITS.get(match.group(2), 1)


def parse_bdf(statement, word, domain="0000"):
    match = BDF.match(word)
    if not match:
        raise statement.wrong("'%s' is not a PCI address" % word)
    return "%s:%s:%s.%s" % ((match.group(1) or domain,) + match.groups()[1:])


def parse_link(statement, word):
    match = re.match(r"(gen[1-6])x([0-9]+)$", word)
    if not match:
        raise statement.wrong("'%s' is not a link such as gen5x16" % word)
    return configspace.GENERATIONS[match.group(1)], int(match.group(2))


def parse_acs(statement, word):
    if word == "none":
        return 0
    if word.startswith("0x"):
        return int(word, 16)
    bits = 0
    for name in word.split(","):
        if name not in configspace.ACS_BITS:
            raise statement.wrong("'%s' is no ACS bit; there are %s" % (
                name, " ".join(configspace.ACS_BITS)))
        bits |= configspace.ACS_BITS[name]
    return bits


def ids(text):
    return [int(part, 16) for part in text.split(":")]


def new_device(statement, bdf, name, parent):
    if name not in MODELS:
        raise statement.wrong("no model '%s' in lib/devices.py" % name)
    model = MODELS[name]
    link = parse_link(statement, model["link"]) if "link" in model else None
    vendor, device = ids(model["ids"])
    subvendor, subdevice = ids(model["subsystem"])
    domain, bus, slot = bdf[:4], bdf[5:7], bdf[8:10]
    dev = dict(
        bdf=bdf, model=name, parent=parent["bdf"] if parent else None, children=[],
        domain=domain, bus=int(bus, 16), slot=int(slot, 16), vendor=vendor, device=device,
        subvendor=subvendor, subdevice=subdevice, revision=model["revision"],
        bridge=model["kind"] >> 8 == 0x0604, bars={}, unassigned={}, rebar=model.get("rebar", {}),
        rom=model.get("rom", 0), port=model.get("port", "endpoint"),
        link=link, link_max=link, link_target=None, link_fixed=False, driver=model["driver"], numa=parent["numa"] if parent else -1,
        mps=256 if model.get("mps_max", 128) >= 256 else 128, mps_max=model.get("mps_max", 128),
        mrrs=model.get("mrrs", 512), ro=model.get("ro", False), ro_set=False, memory=True, master=True,
        acs_cap=model.get("acs_cap", 0), acs=0, ats=False if model.get("ats") else None,
        sriov=list(model["sriov"]) if "sriov" in model else None, physfn=None, config=None,
        window=None, boot_vga=model.get("boot_vga", False), runtime="active",
        multifunction=model.get("multifunction", False), vpd=list(model.get("vpd", ())),
        serial=0, gpu=dict(model["gpu"]) if "gpu" in model else None, nic=model.get("nic"),
        iommu=None, group=None, holders=[])
    dev["class"] = model["kind"]
    for index, (size, flags) in model.get("bars", {}).items():
        dev["bars"][index] = [size, flags]
    if model.get("serial"):
        dev["serial"] = 0x0123456700000000 | zlib.crc32(bdf.encode())
    return dev


# ---- edits ----

def _set_bar(statement, dev, index, word):
    if word in ("unassigned", "unset"):
        dev["unassigned"][index] = word
        return
    if index not in dev["bars"]:
        raise statement.wrong("%s has no BAR %d" % (dev["model"], index))
    dev["unassigned"].pop(index, None)
    dev["bars"][index][0] = parse_size(statement, word)


def whole_memory_bar(dev):
    """The index of the BAR that NVIDIA's documentation calls BAR1."""
    return 2 if 2 in dev["bars"] and 1 not in dev["bars"] else 1


def _set_any_bar(statement, dev, word):
    index, colon, size = word.partition(":")
    if not colon or not index.isdigit() or int(index) not in dev["bars"]:
        raise statement.wrong("bar=%s is not of the form INDEX:SIZE" % word)
    _set_bar(statement, dev, int(index), size)


def _set_rebar(statement, dev, word):
    if word == "none":
        dev["rebar"] = {}
    else:
        dev["rebar"] = {whole_memory_bar(dev): (64 * M, parse_size(statement, word))}


def _set_vfs(statement, dev, word):
    if not dev["sriov"]:
        raise statement.wrong("%s has no SR-IOV" % dev["model"])
    dev["sriov"][1] = int(word)


def _add_vpd(statement, dev, word):
    key, colon, text = word.partition(":")
    if len(key) != 2 or not colon:
        raise statement.wrong("vpd=%s is not of the form V3:TEXT" % word)
    dev["vpd"].append((key, text))


def _set_model(statement, dev, word):
    """Another device in the same place."""
    same = {key: dev[key] for key in ("bdf", "parent", "children", "numa", "driver")}
    known = new_device(statement, dev["bdf"], word, None)
    if dev["driver"] == new_device(statement, dev["bdf"], dev["model"], None)["driver"]:
        del same["driver"]
    dev.update(known, **same)


def _set_id(statement, dev, word):
    """A device that is not in lib/devices.py, and is as this one otherwise."""
    if not re.fullmatch("[0-9a-f]{4}:[0-9a-f]{4}", word):
        raise statement.wrong("id=%s is not of the form 10de:2330" % word)
    dev["vendor"], dev["device"] = ids(word)


def _switch(statement, word):
    if word not in ("on", "off"):
        raise statement.wrong("'%s' is neither on nor off" % word)
    return word == "on"


def _hold(statement, dev, word):
    """holder=1:BOOTFB: that holds the first 16 MiB of BAR 1."""
    index, colon, name = word.partition(":")
    if not colon or not index.isdigit() or int(index) not in dev["bars"]:
        raise statement.wrong("holder=%s is not of the form BAR:NAME" % word)
    dev["holders"] = dev["holders"] + [(int(index), name)]


EDITS = {
    "holder": _hold,
    "driver": lambda s, d, w: d.update(driver=None if w == "none" else w),
    "numa": lambda s, d, w: d.update(numa=int(w)),
    "link": lambda s, d, w: d.update(link=parse_link(s, w)),
    "link-max": lambda s, d, w: d.update(link_max=parse_link(s, w)),
    "link-fixed": lambda s, d, w: d.update(link_fixed=_switch(s, w)),
    "link-target": lambda s, d, w: d.update(link_target=int(w.removeprefix("gen"))),
    "bar1": lambda s, d, w: _set_bar(s, d, whole_memory_bar(d), w),
    "bar": _set_any_bar,
    "rebar": _set_rebar,
    "acs": lambda s, d, w: d.update(acs=parse_acs(s, w)),
    "acs-cap": lambda s, d, w: d.update(acs_cap=parse_acs(s, w)),
    "mps": lambda s, d, w: d.update(mps=int(w)),
    "mrrs": lambda s, d, w: d.update(mrrs=int(w)),
    "ro": lambda s, d, w: d.update(ro=_switch(s, w), ro_set=True),
    "ats": lambda s, d, w: d.update(ats=None if w == "none" else _switch(s, w)),
    "memory": lambda s, d, w: d.update(memory=_switch(s, w)),
    "master": lambda s, d, w: d.update(master=_switch(s, w)),
    "config": lambda s, d, w: d.update(config=w),
    "window": lambda s, d, w: d.update(window=parse_size(s, w)),
    "vfs": _set_vfs,
    "physfn": lambda s, d, w: d.update(physfn=parse_bdf(s, w)),
    "boot-vga": lambda s, d, w: d.update(boot_vga=_switch(s, w)),
    "runtime": lambda s, d, w: d.update(runtime=w),
    "iommu": lambda s, d, w: d.update(iommu=w),
    "vpd": _add_vpd,
    "model": _set_model,
    "id": _set_id,
}


def _edit(statement, dev, words):
    for word in words:
        key, equal, value = word.partition("=")
        if not equal or key not in EDITS:
            raise statement.wrong("'%s' is none of %s" % (word, ", ".join(sorted(EDITS))))
        EDITS[key](statement, dev, value)


def matching(node, pattern):
    """The devices whose address or model fits a shell pattern."""
    return [d for d in node.pci.values()
            if fnmatch.fnmatch(d["bdf"], pattern) or fnmatch.fnmatch(d["model"], pattern)]


def _remove(node, dev):
    for child in list(dev["children"]):
        _remove(node, child)
    if dev["parent"]:
        node.pci[dev["parent"]]["children"].remove(dev)
    del node.pci[dev["bdf"]]
    for name in [n for n, r in node.rdma.items() if r["bdf"] == dev["bdf"]]:
        del node.rdma[name]


def do_pci(node, statement):
    if not statement.words:
        _topology(node, statement)
        return
    devices = matching(node, statement.words[0])
    if not devices:
        raise statement.wrong("no device fits '%s'" % statement.words[0])
    for dev in devices:
        if statement.words[1:] == ["remove"]:
            if dev["bdf"] in node.pci:
                _remove(node, dev)
        else:
            _edit(statement, dev, statement.words[1:])


def _topology(node, statement):
    """The block: one device a line, each below the bridge that it is indented under."""
    above = []
    for line in statement.block:
        if not line.strip():
            continue
        words = line.split()
        depth = indent_of(line)
        while above and above[-1][0] >= depth:
            above.pop()
        parent = above[-1][1] if above else None
        domain = parent["domain"] if parent else "0000"
        dev = new_device(statement, parse_bdf(statement, words[0], domain), words[1], parent)
        _edit(statement, dev, words[2:])
        node.pci[dev["bdf"]] = dev
        if parent:
            parent["children"].append(dev)
        above.append((depth, dev))


def do_iommu(node, statement):
    """iommu TYPE [units=a,b] [groups=slot|segment]; iommu off"""
    (kind,), named = statement.take("units", "groups", least=1)
    node.iommu["type"] = None if kind == "off" else kind
    node.iommu["groups"] = named.get("groups", node.iommu["groups"])
    if "units" in named:
        node.iommu["units"] = named["units"].split(",")


VERBS = {"pci": do_pci, "iommu": do_iommu}


# ---- addresses ----

def _align(value, to):
    return (value + to - 1) // to * to


def _needs(dev, wide):
    """What a device asks for in one kind of window: (alignment, size, BAR index or None)."""
    needs = []
    for index, (size, flags) in dev["bars"].items():
        if flags != "io" and (flags == "64p") == wide and index not in dev["unassigned"]:
            needs.append((size, size, index))
    if not wide and dev["rom"]:
        needs.append((dev["rom"], dev["rom"], 6))
    if dev["bridge"] and dev["children"]:
        align, size = _measure(dev, wide)
        if size:
            needs.append((align, size, None))
    return needs


def _measure(dev, wide):
    """Alignment and size of a bridge's window over what lies below."""
    needs = sorted((n for child in dev["children"] for n in _needs(child, wide)), key=lambda n: -n[0])
    end, align = 0, BRIDGE_ALIGN
    for to, size, _ in needs:
        end = _align(end, to) + size
        align = max(align, to)
    size = _align(end, BRIDGE_ALIGN)
    return align, max(size, dev["window"]) if wide and dev["window"] else size


def _place(devices, base, wide, found):
    """Gives every BAR and window below its start, FOUND[(bdf, index)] = (start, size); returns the
    end."""
    needs = sorted(((to, size, index, dev) for dev in devices
                    for to, size, index in _needs(dev, wide)), key=lambda n: -n[0])
    for to, size, index, dev in needs:
        base = _align(base, to)
        if index is None:
            found[dev["bdf"], "wide" if wide else "narrow"] = (base, size)
            _place(dev["children"], base, wide, found)
        else:
            found[dev["bdf"], index] = (base, size)
        base += size
    return base


def root_of(node, dev):
    while dev["parent"]:
        dev = node.pci[dev["parent"]]
    return "pci%s:%02x" % (dev["domain"], dev["bus"])


def addresses(node):
    roots, found = {}, {}
    for dev in node.pci.values():
        if not dev["parent"]:
            roots.setdefault(root_of(node, dev), []).append(dev)
    end_64, end_32 = WINDOW_64, WINDOW_32
    for devices in roots.values():
        end_64 = _align(_place(devices, end_64, True, found), WINDOW_64_STEP)
        end_32 = _align(_place(devices, end_32, False, found), WINDOW_32_STEP)
    return found


def _bars(dev, found):
    bars = {}
    for index, (size, flags) in dev["bars"].items():
        start = found.get((dev["bdf"], index), (0, 0))[0]
        if flags == "io":
            start = WINDOW_IO + dev["bus"] * 0x100
        bars[index] = dict(start=start, size=size, io=flags == "io", wide=flags[:2] == "64",
                           prefetch=flags == "64p", flags=FLAGS[flags])
    return bars


def _resource(dev, bars, found):
    """The resource file: six BARs, the ROM, and for a bridge SR-IOV's six and four windows
    (drivers/pci/pci-sysfs.c, resource_show)."""
    lines = [(0, 0, 0)] * (17 if dev["bridge"] else 7)
    for index, bar in bars.items():
        how = dev["unassigned"].get(index)
        if how == "unset":
            lines[index] = (0, bar["size"] - 1, bar["flags"] | FLAGS_UNSET)
        elif not how:
            lines[index] = (bar["start"], bar["start"] + bar["size"] - 1, bar["flags"])
    if dev["rom"]:
        start, size = found[dev["bdf"], 6]
        lines[6] = (start, start + size - 1, FLAGS_ROM)
    if dev["bridge"]:
        for line, kind, flags in ((14, "narrow", FLAGS_WINDOW), (15, "wide", FLAGS_WINDOW_64)):
            if (dev["bdf"], kind) in found:
                start, size = found[dev["bdf"], kind]
                lines[line] = (start, start + size - 1, flags)
    return "".join("0x%016x 0x%016x 0x%016x\n" % line for line in lines)


def _last_bus(dev):
    return max([dev["bus"]] + [_last_bus(child) for child in dev["children"]])


def _bridge_registers(dev, found):
    if not dev["bridge"]:
        return None

    def window(kind):
        if (dev["bdf"], kind) not in found:
            return None
        start, size = found[dev["bdf"], kind]
        return start, start + size - 1
    child = dev["children"][0]["bus"] if dev["children"] else dev["bus"]
    return dict(buses=(dev["bus"], child, _last_bus(dev)), memory=window("narrow"),
                prefetch=window("wide"))


# ---- rendering ----

def path_of(node, bdf):
    """/sys/devices/pci0000:15/0000:15:01.0/..."""
    dev = node.pci[bdf]
    if dev["parent"]:
        return path_of(node, dev["parent"]) + "/" + bdf
    return "/sys/devices/%s/%s" % (root_of(node, dev), bdf)


def _attributes(tree, path, dev):
    for name, value in (
            ("vendor", "0x%04x" % dev["vendor"]), ("device", "0x%04x" % dev["device"]),
            ("subsystem_vendor", "0x%04x" % dev["subvendor"]),
            ("subsystem_device", "0x%04x" % dev["subdevice"]),
            ("class", "0x%06x" % dev["class"]), ("revision", "0x%02x" % dev["revision"]),
            ("numa_node", dev["numa"]), ("enable", 1), ("irq", 16 + dev["slot"]),
            ("power/runtime_status", dev["runtime"])):
        tree.line(path + "/" + name, value)
    if dev["link_max"]:
        gen, width = dev["link"]
        gen_max, width_max = dev["link_max"]
        tree.line(path + "/current_link_speed", configspace.SPEEDS[gen])
        tree.line(path + "/current_link_width", width)
        tree.line(path + "/max_link_speed", configspace.SPEEDS[gen_max])
        tree.line(path + "/max_link_width", width_max)
    if dev["class"] >> 8 == 0x0300:
        tree.line(path + "/boot_vga", int(dev["boot_vga"]))
    if dev["sriov"]:
        tree.line(path + "/sriov_totalvfs", dev["sriov"][0])
        tree.line(path + "/sriov_numvfs", dev["sriov"][1])
    for index, (least, most) in dev["rebar"].items():
        sizes = 0
        while least <= most:
            sizes |= 1 << (least >> 20).bit_length() - 1
            least *= 2
        tree.line(path + "/resource%d_resize" % index, "%016x" % sizes)


def _uevent(dev):
    modalias = "pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X" % (
        dev["vendor"], dev["device"], dev["subvendor"], dev["subdevice"], dev["class"] >> 16,
        dev["class"] >> 8 & 0xff, dev["class"] & 0xff)
    text = "DRIVER=%s\n" % dev["driver"] if dev["driver"] else ""
    text += "PCI_CLASS=%X\nPCI_ID=%04X:%04X\nPCI_SUBSYS_ID=%04X:%04X\nPCI_SLOT_NAME=%s\n" % (
        dev["class"], dev["vendor"], dev["device"], dev["subvendor"], dev["subdevice"], dev["bdf"])
    return text + "MODALIAS=%s\n" % modalias, modalias


def _table(node):
    """/proc/bus/pci/devices (drivers/pci/proc.c): no domain, and here no BARs."""
    text = ""
    for bdf in sorted(node.pci):
        dev = node.pci[bdf]
        bus, device, function = re.match(r".*:(..):(..)\.(.)$", bdf).groups()
        text += "%s%02x\t%04x%04x\t0%s\t%s\n" % (
            bus, int(device, 16) << 3 | int(function), dev["vendor"], dev["device"],
            ("\t%16x" % 0) * 14, dev["driver"] or "")
    return text


def _vpd(name, fields):
    """Vital product data (PCI 3.0, appendix I): a name, and read-only fields."""
    name = name.encode()
    data = b"".join(key.encode() + bytes([len(text)]) + text.encode() for key, text in fields)
    return (b"\x82" + len(name).to_bytes(2, "little") + name +
            b"\x90" + len(data).to_bytes(2, "little") + data + b"\x78")


def _render_device(node, tree, dev, found):
    path = path_of(node, dev["bdf"])
    bars = _bars(dev, found)
    rebar = {}
    for index, (least, most) in dev["rebar"].items():
        rebar[index] = (least, most, dev["bars"][index][0])
    registers = {i: b for i, b in bars.items() if i not in dev["unassigned"]}
    config = configspace.build(dev, registers, rebar, _bridge_registers(dev, found))
    _attributes(tree, path, dev)
    uevent, modalias = _uevent(dev)
    tree.file(path + "/config", config)
    tree.file(path + "/resource", _resource(dev, bars, found))
    tree.file(path + "/uevent", uevent)
    tree.line(path + "/modalias", modalias)
    tree.line(path + "/local_cpulist", node.cpulist(dev["numa"]))
    if dev["vpd"]:
        tree.file(path + "/vpd", _vpd(dev["model"], dev["vpd"]))
    tree.link_between(path + "/subsystem", "/sys/bus/pci")
    tree.link_between("/sys/bus/pci/devices/" + dev["bdf"], path)
    if dev["driver"]:
        driver = "/sys/bus/pci/drivers/" + dev["driver"]
        tree.link_between(path + "/driver", driver)
        tree.link_between(driver + "/" + dev["bdf"], path)
    if dev["physfn"]:
        tree.link_between(path + "/physfn", path_of(node, dev["physfn"]))


def _iomem(node, found):
    """/proc/iomem: BARs, and what holds a part of one (kernel/resource.c, r_show)."""
    text = "00001000-0009ffff : System RAM\n"
    for bdf in sorted(node.pci):
        dev = node.pci[bdf]
        holders = dict(dev["holders"])
        if dev["driver"] == "nvidia":
            holders.setdefault(0, "nvidia")
        for index, bar in _bars(dev, found).items():
            if bar["io"] or index in dev["unassigned"]:
                continue
            start, end = bar["start"], bar["start"] + bar["size"] - 1
            text += "%08x-%08x : %s\n" % (start, end, bdf)
            if index in holders:
                text += "  %08x-%08x : %s\n" % (start, min(end, start + 16 * M - 1), holders[index])
    return text


def _render_groups(node, tree):
    """One group for each slot, what the kernel makes where ACS isolates every port; or for each
    segment, where nothing does."""
    end = 4 if node.iommu["groups"] == "segment" else 10
    tree.folder("/sys/class/iommu")
    tree.folder("/sys/kernel/iommu_groups")
    if not node.iommu["type"]:
        return
    numbers = {}
    for bdf in sorted(node.pci):
        dev = node.pci[bdf]
        group = numbers.setdefault(bdf[:end], len(numbers))
        path = "/sys/kernel/iommu_groups/%d" % group
        tree.line(path + "/type", dev["iommu"] or node.iommu["type"])
        tree.link_between(path + "/devices/" + bdf, path_of(node, bdf))
        tree.link_between(path_of(node, bdf) + "/iommu_group", path)
    for unit in node.iommu["units"]:
        tree.link_between("/sys/class/iommu/" + unit, "/sys/devices/virtual/iommu/" + unit)
        tree.folder("/sys/devices/virtual/iommu/%s/devices" % unit)


def _clear_ordering(node):
    """As the kernel does from 4.14 on below root ports that it does not trust: drivers/pci/probe.c,
    pci_configure_relaxed_ordering(), and drivers/pci/quirks.c. "ro=" of the node overrides it."""
    old = tuple(int(part) for part in re.findall(r"\d+", node.kernel)[:2]) < (4, 14)
    for dev in node.pci.values():
        root = dev
        while root["parent"]:
            root = node.pci[root["parent"]]
        broken = root["vendor"] == 0x8086 and (0x2f01 <= root["device"] <= 0x2f0e or
                                               0x6f01 <= root["device"] <= 0x6f0e)
        if broken and not old and not dev["ro_set"] and root is not dev:
            dev["ro"] = False


def render(node, tree):
    _clear_ordering(node)
    found = addresses(node)
    tree.folder("/sys/bus/pci/devices")
    tree.folder("/sys/bus/pci/slots")
    for bdf in sorted(node.pci):
        _render_device(node, tree, node.pci[bdf], found)
    if node.pci:
        tree.file("/proc/bus/pci/devices", _table(node))
        tree.file("/proc/iomem", _iomem(node, found))
    _render_groups(node, tree)
