# SPDX-License-Identifier: GPL-2.0-or-later
"""RDMA devices, network interfaces, routes."""
import ipaddress
import re
import struct

from . import pci, software
from .. import elf
from .system import made_up

STATES = {"NOP": 0, "DOWN": 1, "INIT": 2, "ARMED": 3, "ACTIVE": 4, "ACTIVE_DEFER": 5}
PHYSICAL = {"Sleep": 1, "Polling": 2, "Disabled": 3, "PortConfigurationTraining": 4, "LinkUp": 5,
            "LinkErrorRecovery": 6, "Phy Test": 7}
# drivers/infiniband/core/sysfs.c, node_type_show: InfiniBand and RoCE, iWARP, EFA
TYPES = {"CA": 1, "RNIC": 4, "unspecified": 7}
# Gb/s: what drivers/infiniband/core/sysfs.c, rate_show, writes after the number
RATES = {10: "10 Gb/sec (4X SDR)", 25: "25 Gb/sec (1X EDR)", 40: "40 Gb/sec (4X QDR)",
         56: "56 Gb/sec (4X FDR)", 100: "100 Gb/sec (4X EDR)", 200: "200 Gb/sec (4X HDR)",
         400: "400 Gb/sec (4X NDR)", 800: "800 Gb/sec (4X XDR)"}
ERROR_COUNTERS = ("symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors",
                  "local_link_integrity_errors", "excessive_buffer_overrun_errors", "VL15_dropped",
                  "port_rcv_remote_physical_errors", "port_xmit_discards")
GIDS, PKEYS = 8, 4
VERBS_MAJOR, MAD_MAJOR, CM_MINOR = 231, 231, 58


def init(node):
    node.rdma = {}
    node.net = {}
    node.routes, node.tables = [], []
    node.netns_mode = "Y"
    node.providers = ["mlx5"]
    node.providers_abi = None	# that of libibverbs
    node.memory_peers = None
    node.auxiliary = []


def do_rdma(node, statement):
    """rdma NAME pci=BDF [layer=IB|Ethernet] [netdev=] [KEY=VALUE...]; rdma NAME KEY=VALUE...;
    rdma NAME remove; rdma NAME rename NEW"""
    keys = ("pci", "layer", "netdev", "state", "phys", "rate", "lid", "smlid", "fw", "board", "hca",
            "guid", "uverbs", "counters", "pkeys", "type", "p2p", "gdr", "sysguid")
    words, named = statement.take(*keys, least=1, most=3)
    name = words[0]
    if words[1:] == ["remove"]:
        del node.rdma[name]
    elif len(words) == 3 and words[1] == "rename":
        node.rdma = {words[2] if n == name else n: d for n, d in node.rdma.items()}
    elif name in node.rdma:
        for key, value in named.items():
            _set(statement, node.rdma[name], key, value)
    else:
        node.rdma[name] = _new(node, statement, name, named)


def _new(node, statement, name, named):
    dev = dict(bdf=None, layer="IB", netdev=None, state="ACTIVE", phys="LinkUp", rate=400,
               lid=len(node.rdma) + 17, smlid=1, fw="", board="", hca="", guid=None, gids=None,
               uverbs=True, counters={}, pkeys=["0xffff"], type="CA")
    if "pci" in named:
        dev["bdf"] = pci.parse_bdf(statement, named.pop("pci"))
        if dev["bdf"] not in node.pci or not node.pci[dev["bdf"]]["nic"]:
            raise statement.wrong("%s is not a NIC of this node" % dev["bdf"])
        nic = node.pci[dev["bdf"]]["nic"]
        dev.update(fw=nic["firmware"], board=nic["board"], hca=nic["hca"])
    digits = made_up(node.hostname, name, size=6)
    dev["guid"] = "b83f:d203:00%s:%s" % (digits[:2], digits[2:])
    for key, value in named.items():
        _set(statement, dev, key, value)
    if dev["layer"] == "Ethernet":
        dev["lid"] = dev["smlid"] = 0
    return dev


def _set(statement, dev, key, value):
    if key == "counters":
        dev["counters"] = {n: int(v) for n, _, v in (c.partition(":") for c in value.split(","))}
    elif key == "pkeys":
        dev["pkeys"] = value.split(",")
    elif key in ("rate", "lid", "smlid"):
        dev[key] = int(value, 0)
    elif key == "uverbs":
        dev["uverbs"] = value == "yes"
    elif key == "state" and value not in STATES or key == "phys" and value not in PHYSICAL or \
            key == "type" and value not in TYPES:
        raise statement.wrong("no such %s '%s'" % (key, value))
    else:
        dev[key] = value


def do_gid(node, statement):
    """gid DEVICE INDEX GID TYPE NETDEV: instead of the ones made from the addresses. TYPE is v1 or
    v2; GID an IPv4 or IPv6 address"""
    (name, index, gid, kind, netdev), _ = statement.take(least=5)
    dev = node.rdma[name]
    if dev["gids"] is None:
        dev["gids"] = dict(enumerate(_gids(node, name, dev)))
    dev["gids"][int(index)] = (_gid_of(gid), {"v1": "IB/RoCE v1", "v2": "RoCE v2"}[kind],
                               None if netdev == "none" else netdev)


def do_gids(node, statement):
    """gids DEVICE none: no usable entry"""
    (name, _), _ = statement.take(least=2)
    node.rdma[name]["gids"] = {}


def do_net(node, statement):
    """net NAME [pci=BDF] [addr=10.0.0.1/24,...] [mtu=] [state=up|down|no-carrier] [mac=] [master=BOND] [as=bridge]
    [vmbus=DRIVER] [speed=MBPS];
    net NAME remove"""
    keys = ("pci", "addr", "mtu", "state", "mac", "kind", "master", "as", "vmbus", "speed")
    words, named = statement.take(*keys, least=1, most=2)
    if words[1:] == ["remove"]:
        del node.net[words[0]]
        return
    default = dict(bdf=None, addr=[], mtu=1500, state="up", kind=1, master=None, **{"as": "bond"},
                   mac="b8:3f:d2:%s:%s:%s" % tuple(
                       made_up(node.hostname, words[0], n, size=2) for n in range(3)))
    dev = node.net.setdefault(words[0], default)
    if "pci" in named:
        dev["bdf"] = pci.parse_bdf(statement, named.pop("pci"))
    if "addr" in named:
        dev["addr"] = [a for a in named.pop("addr").split(",") if a]
    dev.update(named)


def do_route(node, statement):
    """route DESTINATION dev=NAME [via=GATEWAY] [metric=N] [table=N]"""
    (to,), named = statement.take("dev", "via", "metric", "table", least=1)
    if "table" in named:
        node.tables.append((int(named["table"]),
                            ipaddress.ip_network("0.0.0.0/0" if to == "default" else to)))
        return
    node.routes.append((to, named["dev"], named.get("via"), int(named.get("metric", 0))))


def do_providers(node, statement):
    """rdma-providers NAME... [abi=57]; rdma-providers none"""
    words, named = statement.take("abi", least=1, most=99)
    node.providers = [] if words == ["none"] else words
    node.providers_abi = named.get("abi")


def do_netns(node, statement):
    (word,), _ = statement.take(least=1)
    node.netns_mode = {"shared": "Y", "exclusive": "N"}[word]


def do_auxiliary(node, statement):
    """auxiliary NAME pci=BDF [driver=NAME]: what a network driver offers to the RDMA driver"""
    (name,), named = statement.take("pci", "driver", least=1)
    node.auxiliary.append((name, pci.parse_bdf(statement, named["pci"]), named.get("driver")))


def do_memory_peers(node, statement):
    """memory-peers NAME...: the folder is there, with these clients"""
    node.memory_peers = statement.words


VERBS = {"rdma": do_rdma, "gid": do_gid, "gids": do_gids, "net": do_net, "route": do_route,
         "rdma-providers": do_providers, "rdma-netns": do_netns, "memory-peers": do_memory_peers,
         "auxiliary": do_auxiliary}


# ---- GIDs ----

def _gid_of(address):
    """Eight groups of four digits, also of an IPv4 address, which Python's exploded has with dots from 3.13 on."""
    ip = ipaddress.ip_address(address)
    if ip.version == 4:
        ip = ipaddress.ip_address("::ffff:%s" % address)
    return ":".join(re.findall("....", ip.packed.hex()))


def _link_local(mac):
    b = [int(part, 16) for part in mac.split(":")]
    b[0] ^= 2
    return "fe80::%02x%02x:%02xff:fe%02x:%02x%02x" % tuple(b)


def _gids(node, name, dev):
    if dev["layer"] != "Ethernet":
        return [("fe80:0000:0000:0000:" + dev["guid"], "IB/RoCE v1", None)]
    gids = []
    net = node.net.get(dev["netdev"])
    if dev["type"] == "RNIC":
        mac = net["mac"].split(":")
        return [(":".join(mac[i] + mac[i + 1] for i in (0, 2, 4)) + ":0000" * 5, "IB/RoCE v1",
                 dev["netdev"])]
    addresses = [] if not net else [_link_local(net["mac"])] + [
        a.partition("/")[0] for a in net["addr"]]
    for address in addresses:
        for kind in ("IB/RoCE v1", "RoCE v2"):
            gids.append((_gid_of(address), kind, dev["netdev"]))
    return gids


# ---- rendering ----

def _render_port(node, tree, path, name, dev):
    rate = dev["rate"]
    for attribute, value in (
            ("state", "%d: %s" % (STATES[dev["state"]], dev["state"])),
            ("phys_state", "%d: %s" % (PHYSICAL[dev["phys"]], dev["phys"])),
            ("link_layer", "InfiniBand" if dev["layer"] == "IB" else dev["layer"]),
            ("rate", RATES.get(rate, "%d Gb/sec (4X)" % rate)), ("lid", "0x%x" % dev["lid"]),
            ("sm_lid", "0x%x" % dev["smlid"]), ("lid_mask_count", 0), ("sm_sl", 0),
            ("cap_mask", "0xa751e848")):
        tree.line(path + "/" + attribute, value)
    gids = dev["gids"]
    gids = dict(enumerate(_gids(node, name, dev))) if gids is None else gids
    for index in range(GIDS):
        gid, kind, netdev = gids.get(index, ("0000:" * 7 + "0000", None, None))
        tree.line("%s/gids/%d" % (path, index), gid)
        # The kernel answers EINVAL for an empty entry; a tree has no such file then.
        if kind:
            tree.line("%s/gid_attrs/types/%d" % (path, index), kind)
        if netdev:
            tree.line("%s/gid_attrs/ndevs/%d" % (path, index), netdev)
    for folder in ("gid_attrs/types", "gid_attrs/ndevs"):
        tree.folder(path + "/" + folder)
    for index in range(PKEYS):
        tree.line("%s/pkeys/%d" % (path, index),
                  dev["pkeys"][index] if index < len(dev["pkeys"]) else "0x0000")
    for counter in ERROR_COUNTERS:
        tree.line("%s/counters/%s" % (path, counter), dev["counters"].get(counter, 0))
    for counter in ("port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets"):
        tree.line("%s/counters/%s" % (path, counter), dev["counters"].get(counter, 123456))


def _parent(node, dev, name):
    if dev["bdf"]:
        return pci.path_of(node, dev["bdf"])
    return "/sys/devices/virtual"


def _render_device(node, tree, number, name, dev):
    path = _parent(node, dev, name) + "/infiniband/" + name
    for attribute, value in (
            ("node_type", "%d: %s" % (TYPES[dev["type"]], dev["type"])),
            ("node_guid", dev["guid"]), ("sys_image_guid", dev.get("sysguid", dev["guid"])),
            ("fw_ver", dev["fw"]), ("board_id", dev["board"]), ("hca_type", dev["hca"]),
            ("hw_rev", 0), ("node_desc", node.hostname + " " + name)):
        if value != "":
            tree.line(path + "/" + attribute, value)
    if dev["bdf"]:
        tree.link(path + "/device", "../../../" + dev["bdf"])
        for attribute in ("p2p", "gdr", "sysguid"):
            if attribute in dev:
                tree.line(_parent(node, dev, name) + "/" + attribute, dev[attribute])
    tree.link_between(path + "/subsystem", "/sys/class/infiniband")
    tree.link_between("/sys/class/infiniband/" + name, path)
    _render_port(node, tree, path + "/ports/1", name, dev)
    for kind, file, minor, on in (("infiniband_verbs", "uverbs%d" % number, 192 + number,
                                   dev["uverbs"] and "ib_uverbs" in node.loaded),
                                  ("infiniband_mad", "umad%d" % number, number,
                                   dev["layer"] == "IB" and "ib_umad" in node.loaded)):
        if not on:
            continue
        sub = "%s/%s/%s" % (_parent(node, dev, name), kind, file)
        tree.line(sub + "/ibdev", name)
        tree.line(sub + "/dev", "%d:%d" % (VERBS_MAJOR, minor))
        tree.line(sub + ("/abi_version" if kind == "infiniband_verbs" else "/port"), 1)
        if dev["bdf"]:
            tree.link(sub + "/device", "../../../" + dev["bdf"])
        tree.link_between("/sys/class/%s/%s" % (kind, file), sub)
        tree.file("/dev/infiniband/" + file)


def _add_ipoib(node):
    """ib_ipoib makes an interface for every InfiniBand port; nothing is wrong while it is down."""
    for dev in node.rdma.values():
        if dev["layer"] == "IB" and dev["bdf"] and "ib_ipoib" in node.loaded:
            place = node.pci[dev["bdf"]]
            node.net.setdefault("ibp%ds%d" % (place["bus"], place["slot"]), dict(
                bdf=dev["bdf"], addr=[], mtu=2044, state="down", kind=32, master=None, **{"as": "bond"},
                mac="00:00:00:67:fe:80:00:00:00:00:00:00:" + ":".join(
                    dev["guid"].replace(":", "")[i:i + 2] for i in range(0, 16, 2))))


def _render_net(node, tree, number, name, dev):
    vmbus = "/sys/devices/LNXSYSTM:00/VMBUS:00/" + name
    path = (pci.path_of(node, dev["bdf"]) if dev["bdf"] else vmbus if "vmbus" in dev else
            "/sys/devices/virtual") + "/net/" + name
    up = dev["state"] != "down"
    state = "down" if dev["state"] == "no-carrier" else dev["state"]
    for attribute, value in (
            ("operstate", "unknown" if name == "lo" else state), ("mtu", dev["mtu"]),
            ("address", dev["mac"]), ("type", dev["kind"]),
            ("flags", "0x1003" if up else "0x1002"), ("ifindex", number), ("dev_id", "0x0"),
            ("dev_port", 0)):
        tree.line(path + "/" + attribute, value)
    if "speed" in dev:
        tree.line(path + "/speed", dev["speed"])
    # The kernel says nothing of the carrier of one that is switched off.
    if up:
        tree.line(path + "/carrier", int(dev["state"] == "up"))
    if dev["bdf"]:
        tree.link(path + "/device", "../../../" + dev["bdf"])
    elif "vmbus" in dev:
        tree.link_between(path + "/device", vmbus)
        tree.link_between(vmbus + "/driver", "/sys/bus/vmbus/drivers/" + dev["vmbus"])
    if dev["master"]:
        above = node.net.get(dev["master"], {})
        for link in ("master", "upper_" + dev["master"]):
            tree.link_between(path + "/" + link, "/sys/devices/%s/net/%s" % (
                "LNXSYSTM:00/VMBUS:00/" + dev["master"] if "vmbus" in above else "virtual",
                dev["master"]))
    if "vmbus" not in dev and any(other["master"] == name for other in node.net.values()):
        tree.line(*((path + "/bridge/stp_state", 0) if dev["as"] == "bridge" else
                    (path + "/bonding/mode", "802.3ad 4")))
    tree.link_between(path + "/subsystem", "/sys/class/net")
    tree.link_between("/sys/class/net/" + name, path)


def _hex(address):
    return "%08X" % struct.unpack("<I", ipaddress.ip_address(address).packed)


def _routes(node):
    """The given ones, and those on the link that addresses bring."""
    routes = list(node.routes)
    for name, dev in node.net.items():
        for address in dev["addr"]:
            interface = ipaddress.ip_interface(address)
            if interface.version == 4 and dev["state"] != "down":
                routes.append((str(interface.network), name, None, 0))
    return routes


def _render_routes(node, tree):
    """/proc/net/route: addresses in hexadecimal in memory order (net/ipv4/fib_trie.c)."""
    text = ("Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
            "                                                       \n")
    for to, name, via, metric in _routes(node):
        network = ipaddress.ip_network("0.0.0.0/0" if to == "default" else to)
        text += "%s\t%s\t%s\t%04X\t0\t0\t%d\t%s\t0\t0\t0%s\n" % (
            name, _hex(network.network_address), _hex(via or "0.0.0.0"), 3 if via else 1, metric,
            _hex(network.netmask), " " * 51)
    tree.file("/proc/net/route", text)


def _render_addresses(node, tree):
    """/proc/net/fib_trie as a flat trie, once for each table, and /proc/net/if_inet6."""
    block, six = "", ""
    for number, (name, dev) in enumerate(node.net.items(), 1):
        for address in dev["addr"] if name == "lo" or dev["state"] != "down" else ():
            interface = ipaddress.ip_interface(address)
            if interface.version == 6:
                continue
            net = interface.network
            block += "     +-- %s 2 0 2\n" % net
            block += "        |-- %s\n           /%d link UNICAST\n" % (
                net.network_address, net.prefixlen)
            block += "        |-- %s\n           /32 host LOCAL\n" % interface.ip
            block += "        |-- %s\n           /32 link BROADCAST\n" % net.broadcast_address
        addresses = [a for a in dev["addr"] if ":" in a]
        if dev["state"] == "up" and name != "lo" and dev["kind"] == 1 and not dev["master"]:
            addresses.append(_link_local(dev["mac"]) + "/64")
        for address in addresses:
            interface = ipaddress.ip_interface(address)
            scope = 0x10 if interface.ip.is_loopback else 0x20 if interface.ip.is_link_local else 0
            six += "%s %02x %02x %02x %02x %8s\n" % (
                interface.ip.packed.hex(), number, interface.network.prefixlen, scope, 0x80, name)
    others = "".join("Id %d:\n  +-- %s 2 0 2\n     |-- %s\n        /%d link UNICAST\n" % (
        number, net, net.network_address, net.prefixlen) for number, net in node.tables)
    tree.file("/proc/net/fib_trie", others + "".join(
        "%s:\n  +-- 0.0.0.0/0 3 0 5\n%s" % (table, block) for table in ("Main", "Local")))
    tree.file("/proc/net/if_inet6", six)


def _render_userspace(node, tree):
    for provider in node.providers:
        tree.file("/etc/libibverbs.d/%s.driver" % provider, "driver %s\n" % provider)
        folder = software.library_dir(node) + "/libibverbs"
        abi = node.providers_abi or software.private_abi(node)
        tree.file("%s/lib%s-rdmav%s.so" % (folder, provider, abi), elf.program(
            node.machine, ["libibverbs.so.1"], soname="lib%s.so.1" % provider,
            wants={"libibverbs.so.1": ["IBVERBS_1.1", "IBVERBS_PRIVATE_%s" % abi]}))
    if node.memory_peers is not None:
        tree.folder("/sys/kernel/mm/memory_peers")
        for client in node.memory_peers:
            for counter in ("num_alloc_mrs", "num_reg_pages", "num_free_callbacks"):
                tree.line("/sys/kernel/mm/memory_peers/%s/%s" % (client, counter), 0)
            tree.line("/sys/kernel/mm/memory_peers/%s/version" % client,
                      node.driver["version"] if node.driver else "1.1")


def render(node, tree):
    if "ib_core" in node.loaded:
        tree.folder("/sys/class/infiniband")
        tree.line("/sys/module/ib_core/parameters/netns_mode", node.netns_mode)
    if "ib_uverbs" in node.loaded:
        tree.line("/sys/class/infiniband_verbs/abi_version", 6)
        node.majors["infiniband_verbs"] = VERBS_MAJOR
    if "ib_umad" in node.loaded:
        node.majors["infiniband_mad"] = MAD_MAJOR
    for number, (name, dev) in enumerate(node.rdma.items()):
        _render_device(node, tree, number, name, dev)
    if "rdma_ucm" in node.loaded:
        tree.file("/dev/infiniband/rdma_cm")
    for name, bdf, driver in node.auxiliary:
        path = pci.path_of(node, bdf) + "/" + name
        if driver:
            tree.folder("/sys/bus/auxiliary/drivers/" + driver)
            tree.link_between(path + "/driver", "/sys/bus/auxiliary/drivers/" + driver)
        else:
            tree.folder(path)
        tree.link_between("/sys/bus/auxiliary/devices/" + name, path)
    _add_ipoib(node)
    tree.folder("/sys/class/net")
    for number, (name, dev) in enumerate(node.net.items(), 1):
        _render_net(node, tree, number, name, dev)
    _render_routes(node, tree)
    _render_addresses(node, tree)
    _render_userspace(node, tree)


def own_addresses(node):
    """IPv4 addresses of the interfaces that are not RDMA's, for /etc/hosts."""
    used = {dev["netdev"] for dev in node.rdma.values()}
    return [a.partition("/")[0] for n, d in node.net.items() if n != "lo" and n not in used
            for a in d["addr"] if ":" not in a][:1]
