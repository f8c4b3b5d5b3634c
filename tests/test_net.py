# SPDX-License-Identifier: GPL-2.0-or-later
"""Network interfaces, addresses, routes and the own name, from trees."""

import os
import json
import subprocess

import pytest

from lib.rootfs import PROGRAM, facts, link, new_tree, run, write

HEADING = ("Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"
           + " " * 55 + "\n")


def word(address):
    """The kernel's way to print an address: its bytes as one number of a little-endian machine."""
    return "%08X" % int.from_bytes(bytes(map(int, address.split("."))), "little")


def route(interface, destination, prefix, gateway="0.0.0.0", metric="0"):
    mask = ((1 << 32) - 1 << (32 - prefix)) & 0xFFFFFFFF
    dotted = ".".join(str(mask >> s & 255) for s in (24, 16, 8, 0))
    line = "%s\t%s\t%s\t0001\t0\t0\t%s\t%s\t0\t0\t0" % (interface, word(destination), word(gateway),
                                                       metric, word(dotted))
    return line.ljust(127) + "\n"


def trie(*addresses):
    """Both tables, as the kernel shows them when there are no policy rules."""
    table = "  +-- 0.0.0.0/0 3 0 5\n"
    for address in addresses:
        table += "     +-- %s/24 2 0 1\n" % address
        table += "        |-- %s\n           /32 host LOCAL\n" % address
        table += "        |-- %s.255\n           /32 link BROADCAST\n" % address.rsplit(".", 1)[0]
    return "Main:\n%sLocal:\n%s" % (table, table)


def add_interface(root, name, device=None, driver="mlx5_core", mtu="1500", state="up"):
    if device:
        folder = root / "sys/devices" / device / "net" / name
        link(root / "sys/class/net" / name, "../../devices/%s/net/%s" % (device, name))
        link(folder / "device", "../../../" + device.rsplit("/", 1)[1])
        (root / "sys/bus/pci/drivers" / driver).mkdir(parents=True, exist_ok=True)
        link(root / "sys/devices" / device / "driver", "/sys/bus/pci/drivers/" + driver)
    else:
        folder = root / "sys/devices/virtual/net" / name
        link(root / "sys/class/net" / name, "../../devices/virtual/net/" + name)
    write(folder / "mtu", mtu + "\n")
    write(folder / "operstate", state + "\n")


def interface(root, name="eth0"):
    return next(i for i in facts(root, "net")["interfaces"] if i["name"] == name)


def gaps(root):
    return {g["path"]: g for g in facts(root, "gaps")}


@pytest.fixture
def root(tmp_path):
    root = new_tree(tmp_path / "root")
    add_interface(root, "lo", mtu="65536", state="unknown")
    add_interface(root, "eth0", "pci0000:00/0000:00:03.0")
    add_interface(root, "eth1", "pci0000:00/0000:00:04.0")
    return root


def set_net(root, routes="", local=(), inet6=""):
    write(root / "proc/net/route", HEADING + routes)
    write(root / "proc/net/fib_trie", trie("127.0.0.1", *local))
    write(root / "proc/net/if_inet6", inet6)


def test_an_interface(root):
    set_net(root)
    assert interface(root) == {"name": "eth0", "state": "up", "carrier": None, "mtu_bytes": 1500, "speed_mbps": None,
                               "bdf": "0000:00:03.0", "driver": "mlx5_core", "addresses": [],
                               "uppers": []}


def test_what_is_over_an_interface(root):
    set_net(root)
    for name in ("bond0", "bond0.7"):
        add_interface(root, name)
    for lower, upper in (("eth0", "bond0"), ("bond0", "bond0.7"), ("bond0.7", "eth0")):
        os.symlink("../" + upper, os.path.join(root, "sys/class/net", lower, "upper_" + upper))
    # Links that lead round in a circle come to an end.
    assert interface(root)["uppers"][:2] == ["bond0", "bond0.7"]
    assert interface(root, "bond0")["uppers"] is None


def test_a_virtio_interface_is_on_a_pci_function(root):
    add_interface(root, "eth2", "pci0000:00/0000:00:05.0/virtio3", "virtio_net", mtu="9000")
    found = interface(root, "eth2")
    assert (found["bdf"], found["driver"]) == ("0000:00:05.0", "virtio_net")
    assert found["mtu_bytes"] == 9000


def test_virtual_interfaces(root):
    for name in ("docker0", "bond0", "eth0.100", "veth1a2b3c4"):
        add_interface(root, name, state="down")
        found = interface(root, name)
        assert (found["bdf"], found["driver"], found["state"]) == (None, None, "down")


def test_files_among_the_interfaces(root):
    write(root / "sys/class/net/bonding_masters", "bond0\n")
    assert len(facts(root, "net")["interfaces"]) == 3


def test_no_sysfs_is_unknown(tmp_path):
    root = new_tree(tmp_path / "root")
    assert "interfaces" not in facts(root).get("net", {})


# ---- addresses ----

def test_addresses(root):
    set_net(root, route("eth0", "192.0.2.0", 24) + route("eth1", "198.51.100.0", 31),
            ["192.0.2.7", "198.51.100.1"],
            "00000000000000000000000000000001 01 80 10 80       lo\n"
            "fe80000000000000021a4afffe123456 02 40 20 80     eth0\n"
            "20010db8000000000000000000000007 02 7f 00 80     eth0\n")
    assert interface(root)["addresses"] == ["192.0.2.7/24", "2001:db8::7/127",
                                            "fe80::21a:4aff:fe12:3456/64"]
    assert interface(root, "eth1")["addresses"] == ["198.51.100.1/31"]
    assert interface(root, "lo")["addresses"] == ["127.0.0.1/8", "::1/128"]


def test_the_longest_subnet_counts(root):
    set_net(root, route("eth0", "192.0.0.0", 16) + route("eth1", "192.0.2.0", 24),
            ["192.0.9.9", "192.0.2.7"])
    # 192.0.2.7 is in both, and the wider one has two local addresses: whose is 192.0.9.9?
    assert "addresses" not in interface(root)


@pytest.mark.parametrize("routes,local", [
    # Two interfaces in one subnet.
    ([("eth0", "192.0.2.0", 24), ("eth1", "192.0.2.0", 24)], ["192.0.2.7", "192.0.2.8"]),
    # A second address in the subnet: on eth0, or a service address on lo.
    ([("eth0", "192.0.2.0", 24)], ["192.0.2.7", "192.0.2.8"]),
    # An address with no subnet on any link.
    ([("eth0", "192.0.2.0", 24)], ["192.0.2.7", "203.0.113.1"]),
    # An interface that is not there.
    ([("eth9", "192.0.2.0", 24)], ["192.0.2.7"])])
def test_addresses_that_cannot_be_placed(root, routes, local):
    set_net(root, "".join(route(*r) for r in routes), local)
    for found in facts(root, "net")["interfaces"]:
        assert "addresses" not in found
    assert gaps(root)["/proc/net/fib_trie"]["why"] == "does not say which interface has an address"


def test_a_running_kernel_tells_them_apart(root):
    """In a network namespace of its own, with two interfaces in one subnet."""
    script = """
        ip link add d0 type veth peer name d1
        ip link set d0 up; ip link set d1 up; ip link set lo up
        ip -6 addr flush dev d0; ip -6 addr flush dev d1
        ip addr add 192.0.2.7/24 dev d0 label d0:1; ip addr add 192.0.2.8/24 dev d1
        ip addr add 2001:db8::7/126 dev d1 nodad
        mount -t sysfs sysfs /sys; exec "$@" """
    def inside(*args):
        return subprocess.run(["unshare", "-rmn", "sh", "-ec", script, "sh", *args],
                              capture_output=True)
    if inside("true").returncode:
        pytest.skip("no network namespaces here")
    done = inside(PROGRAM, "facts", "net.interfaces")
    found = {i["name"]: i["addresses"] for i in json.loads(done.stdout)}
    assert found["d0"] == ["192.0.2.7/24"]
    assert found["d1"] == ["192.0.2.8/24", "2001:db8::7/126"]


@pytest.mark.parametrize("text", [
    "", "garbage\n", "Main:\n", "        |-- 1.2.3\n           /32 host LOCAL\n",
    "        |-- 1.2.3.256\n           /32 host LOCAL\n", "/32 host LOCAL\n", "|--\n/32 host LOCAL",
    "|-- 1.2.3.4\n/8 host LOCAL\n", "|-- 1.2.3.4\n/32 universe UNICAST\n", "|-- 1.2.3.4\n\0"])
def test_a_trie_without_local_addresses(root, text):
    set_net(root)
    write(root / "proc/net/fib_trie", text)
    assert interface(root)["addresses"] == []


@pytest.mark.parametrize("line", [
    "fe80 02 40 20 80 eth0", "zz80000000000000021a4afffe123456 02 40 20 80 eth0",
    "fe80000000000000021a4afffe123456 02 ff 20 80 eth0", "fe80000000000000021a4afffe123456",
    "fe80000000000000021a4afffe123456 02 40 20 80"])
def test_lines_that_are_no_address(root, line):
    set_net(root, inet6=line + "\n")
    assert interface(root)["addresses"] == []
    assert gaps(root)["/proc/net/if_inet6"]["error"] == "EBADMSG"


# ---- routes ----

def test_routes(root):
    set_net(root, route("eth0", "0.0.0.0", 0, "192.0.2.1", "100") + route("eth0", "192.0.2.0", 24)
            + route("*", "203.0.113.0", 24) + route("eth1", "198.51.100.7", 32, metric="-1"))
    assert facts(root, "net")["routes"] == [
        {"destination": "0.0.0.0/0", "interface": "eth0", "gateway": "192.0.2.1", "metric": 100},
        {"destination": "192.0.2.0/24", "interface": "eth0", "gateway": None, "metric": 0},
        {"destination": "203.0.113.0/24", "interface": None, "gateway": None, "metric": 0},
        {"destination": "198.51.100.7/32", "interface": "eth1", "gateway": None,
         "metric": 4294967295}]


def test_no_routes(root):
    set_net(root)
    assert facts(root, "net")["routes"] == []


@pytest.mark.parametrize("line", [
    "eth0", "eth0\t00000000\tx\t0001\t0\t0\t0\t00000000", "eth0\t0200C0\t",
    "eth0\t0002000A\t00000000\t0001\t0\t0\t0\t00FFFF00\t0\t0\t0",
    "eth0\t10002000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0",
    "eth0\t0002000A\t00000000\t0001\t0\t0\t--1\t00FFFFFF\t0\t0\t0", "\0\0\0"])
def test_lines_that_are_no_route(root, line):
    set_net(root, line + "\n" + route("eth0", "192.0.2.0", 24))
    assert [r["destination"] for r in facts(root, "net")["routes"]] == ["192.0.2.0/24"]
    assert gaps(root)["/proc/net/route"]["error"] == "EBADMSG"


def test_a_long_file_is_cut_off(root):
    set_net(root, "".join(route("eth0", "10.%d.%d.0" % (i >> 8, i & 255), 24) for i in range(4200)))
    assert len(facts(root, "net")["routes"]) == 4096
    assert gaps(root)["/proc/net/route"]["error"] == "EOVERFLOW"


# ---- the own name ----

@pytest.mark.parametrize("text,addresses", [
    ("127.0.0.1 localhost\n127.0.1.1\tnode.example.com NODE # here\n", ["127.0.1.1"]),
    ("127.0.0.1 localhost node\n192.0.2.7 node\n::1 node", ["127.0.0.1", "192.0.2.7", "::1"]),
    ("#192.0.2.7 node\n192.0.2.8 nodes\n192.0.2.9\nnode\n", []), ("", []), ("\0node", [])])
def test_addresses_of_the_own_name(root, text, addresses):
    write(root / "etc/hosts", text)
    assert facts(root, "net")["hostname_addresses"] == addresses


def test_no_hosts_file(root):
    assert facts(root, "net")["hostname_addresses"] is None


@pytest.mark.parametrize("text,order", [
    ("passwd: files\nhosts:\tfiles  dns # x\n", ["files", "dns"]),
    ("hosts: files mdns4_minimal [NOTFOUND=return] dns\n",
     ["files", "mdns4_minimal", "[NOTFOUND=return]", "dns"]),
    ("hosts: files [!UNAVAIL=return TRYAGAIN=continue] dns",
     ["files", "[!UNAVAIL=return TRYAGAIN=continue]", "dns"]),
    ("hosts: dns\n hosts : files\n", ["files"]), ("hosts: files [NOT", ["files", "[NOT"]),
    ("hosts:\n", []), ("# hosts: files\n", None), ("", None)])
def test_the_order_of_lookups(root, text, order):
    write(root / "etc/nsswitch.conf", text)
    assert facts(root, "net")["hosts_order"] == order


def test_a_capture_of_the_tree(root, tmp_path):
    set_net(root, route("eth0", "192.0.2.0", 24), ["192.0.2.7"])
    capture = tmp_path / "node.capture"
    run("capture", "--root", root, "-o", capture, "--no-redact")
    assert json.loads(run("facts", "net", "--from", capture).stdout) == facts(root, "net")


def test_the_live_host_and_its_root_agree():
    """On any machine: what only the running kernel can tell is unknown through --root."""
    live = json.loads(run("facts", "net").stdout)
    tree = json.loads(run("facts", "net", "--root", "/").stdout)
    for one, other in zip(live["interfaces"], tree["interfaces"]):
        other.setdefault("addresses", one["addresses"])
        assert one == other
    assert live["routes"] == tree["routes"]
