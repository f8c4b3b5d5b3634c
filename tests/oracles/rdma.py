# SPDX-License-Identifier: GPL-2.0-or-later
"""RDMA devices, held against ibv_devinfo, the rdma tool and sysfs. A virtual machine makes soft RDMA devices over all
kinds of interfaces, and ports of the stand-in for mlx5_ib; one machine takes many inputs in turn."""

import atexit
import ipaddress
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from oracle import PROGRAM, TOP, UNKNOWN, Failed, Oracle, Result, Skip

sys.path.append(str(TOP / "tests/vm"))	# not before: units and run are also names here

import values  # noqa: E402
import verbs  # noqa: E402
from guest import Guest, GuestError, which  # noqa: E402
from scenario import Scenario  # noqa: E402

VM = os.environ.get("ORACLE_VM", TOP / "build/vm")
BOOT_S = 300
INPUT_S = 120
NICS = 4
SCENARIO = """pci
	%dx root-port rp{i}
	%dx nic nic{i} under=rp{i}

module dummy
module veth
module bridge
module 8021q
module rdma_rxe
module mlx5_core
module ib_uverbs
run sh /scenario/loop
""" % (NICS, NICS)
# Takes job.1, job.2, ... of the shared folder. A command of a job may fail: then there is no such device.
LOOP = r"""
cd /mnt/share
n=1
while :; do
	if [ ! -f job.$n ]; then
		sleep 0.1
		continue
	fi
	set +e
	mkdir out.$n
	sh -x job.$n > out.$n/log 2>&1
	nvnodecheck facts > out.$n/facts 2> out.$n/facts.stderr
	ibv_devinfo -v > out.$n/verbs 2>&1
	rdma -j dev show > out.$n/dev
	rdma -j link show > out.$n/link
	(cd /sys/class/infiniband && grep . */ports/*/gid_attrs/ndevs/*) > out.$n/ndevs 2>/dev/null
	ip -o link show > out.$n/interfaces
	for d in $(rdma link show | sed -n 's/^link \(.*\)\/.*/\1/p'); do rdma link delete $d 2>/dev/null; done
	modprobe -r mlx5_ib
	for i in br0 v0 d0.7 d0 d1; do ip link delete $i 2>/dev/null; done
	touch done.$n
	n=$((n + 1))
done
"""
INTERFACES = ("d0", "d1", "v0", "v1", "br0", "d0.7")
PHYSICAL = {"LINK_UP": "LinkUp", "DISABLED": "Disabled", "POLLING": "Polling", "SLEEP": "Sleep"}


class Rdma(Oracle):
    """An input: commands of a shell, one a line."""
    name = "rdma"
    programs = ("qemu-system-x86_64", "ibv_devinfo", "rdma")

    def prepare(self):
        try:
            self.guest = Guest(pathlib.Path(VM), pathlib.Path(PROGRAM))
        except GuestError as error:
            raise Skip(str(error)) from error
        (self.place / "soft.scenario").write_text(SCENARIO)
        self.scenario = Scenario(self.place / "soft.scenario")
        self.scenario.files["/scenario/loop"] = LOOP
        self.machine = None
        atexit.register(self.stop)
        self.start()

    # ---- the machine ----

    def start(self):
        self.stop()
        self.share = self.place / "share"
        shutil.rmtree(self.share, ignore_errors=True)
        self.share.mkdir()
        self.count = 0
        front, back = self.scenario.images()
        (self.place / "initramfs").write_bytes(front + b"".join(self.guest.images) + back)
        self.machine = subprocess.Popen(
            [which("qemu-system-x86_64"), "-accel", "tcg", "-nodefaults", "-nographic", "-no-reboot",
             "-serial", "file:%s" % (self.place / "console"), "-kernel", str(self.guest.kernel.vmlinux),
             "-initrd", str(self.place / "initramfs"),
             "-virtfs", "local,path=%s,mount_tag=share,security_model=none" % self.share] + self.scenario.arguments(),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.job("true\n", BOOT_S)

    def stop(self):
        if self.machine:
            self.machine.kill()
            self.machine.wait()
            self.machine = None

    def job(self, text, limit):
        """The folder with what came of it."""
        self.count += 1
        end = time.monotonic() + limit
        (self.share / "job").write_text(text)
        (self.share / "job").rename(self.share / ("job.%d" % self.count))
        while not (self.share / ("done.%d" % self.count)).exists():
            if self.machine.poll() is not None or time.monotonic() > end:
                console = (self.place / "console").read_text(errors="replace")
                raise Failed("the machine does not answer: %s" % console[-600:])
            time.sleep(0.05)
        return self.share / ("out.%d" % self.count)

    # ---- inputs ----

    def random(self, rng):
        lines = ["ip link add d0 type dummy", "ip link add d1 type dummy", "ip link add v0 type veth peer name v1"]
        if rng.random() < 0.4:
            lines += ["ip link add br0 type bridge", "ip link set %s master br0" % rng.choice(("d1", "v1"))]
        if rng.random() < 0.3:
            lines.append("ip link add link d0 name d0.7 type vlan id 7")
        rng.shuffle(lines[3:])
        for _ in range(rng.randint(0, 8)):
            interface = rng.choice(INTERFACES)
            lines.append(rng.choice((
                "ip link set %s mtu %d" % (interface, rng.choice((1280, 1500, 2048, 4200, 9000))),
                "ip link set %s up" % interface, "ip link set %s up" % interface, "ip link set %s down" % interface,
                "ip addr add 10.%d.0.%d/24 dev %s" % (rng.randrange(3), rng.randint(1, 250), interface),
                "ip addr add fd00::%x/64 dev %s nodad" % (rng.randint(1, 65535), interface),
                "ip link set %s address 02:00:00:00:%02x:%02x" % (interface, rng.randrange(256), rng.randrange(256)))))
        for i in range(rng.randint(0, 3)):
            lines.append("rdma link add %s type rxe netdev %s" % (rng.choice(("rxe%d", "mlx5_1%d", "r-%d")) % i, rng.choice(INTERFACES)))
        if rng.random() < 0.6:
            lines.append("modprobe mlx5_ib 'device=%s'" % ",".join(self.device(rng, i) for i in range(rng.randint(1, NICS))))
        for _ in range(rng.choice((0, 0, 1, 2))):
            lines.append(rng.choice(("ip link set %s up", "ip link set %s down", "ip link delete %s", "ip link set %s mtu 2000",
                                     "ip addr flush dev %s", "ip link set %s name renamed0")) % rng.choice(INTERFACES))
        if rng.random() < 0.2:
            lines.append("rdma dev set mlx5_0 name %s" % rng.choice(("ibp1s0", "mlx5_9", "x")))
        return "".join(line + "\n" for line in lines)

    def device(self, rng, i):
        words = ["mlx5_%d" % i, "pci=" + self.scenario.names["nic%d" % i]]
        if rng.random() < 0.4:
            words += ["layer=Ethernet", "netdev=" + rng.choice(("d0", "d1"))]
        else:
            words += ["lid=%d" % rng.choice((1, 17, 48, 0xbfff, 0xffff)), "sm_lid=%d" % rng.choice((0, 1, 48))]
        for key, choices in (("state", ("DOWN", "INIT", "ARMED", "ACTIVE")), ("mtu", (256, 512, 1024, 2048, 4096)),
                             ("speed", ("SDR", "QDR", "FDR", "EDR", "HDR", "NDR")), ("width", (1, 2, 4, 8, 12)),
                             ("fw", ("28.40.1000", "20.31.1014")), ("gids", (1, 3, 16))):
            if rng.random() < 0.5:
                words.append("%s=%s" % (key, rng.choice(choices)))
        return ";".join(words)

    # ---- comparing ----

    def compare(self, item):
        if not self.machine:
            self.start()
        try:
            out = self.job(item, INPUT_S)
        except Failed:
            self.stop()
            raise
        text = (out / "facts").read_text()
        if not text:
            raise Failed("facts: %s" % (out / "facts.stderr").read_text())
        facts = json.loads(text)["rdma"]
        result = Result()
        self.compare_verbs(result, facts, (out / "verbs").read_text())
        self.compare_tool(result, facts, out)
        self.compare_netdevs(result, facts, (out / "ndevs").read_text())
        return result

    def field(self, result, facts, path, theirs):
        ours = values.find(facts, path)
        result.field(path, UNKNOWN if ours is values.UNKNOWN else ours, theirs)

    def compare_verbs(self, result, facts, text):
        told = set()
        for device, path, theirs in verbs.parse(text):
            told.add(device)
            self.field(result, facts, "devices[%s].%s" % (device, path), theirs)
        if "No IB devices found" not in text:
            result.field("devices", sorted(d["name"] for d in facts.get("devices") or []), sorted(told))

    def compare_tool(self, result, facts, out):
        for device in json_of(out / "dev"):
            at = "devices[%s]." % device["ifname"]
            self.field(result, facts, at + "node_type", {"ca": "CA", "rnic": "RNIC"}.get(device["node_type"], device["node_type"]))
            self.field(result, facts, at + "node_guid", device["node_guid"])
            self.field(result, facts, at + "firmware", device.get("fw"))
        links = json_of(out / "link")
        result.field("links", sorted(d["name"] for d in facts.get("devices") or []), sorted({link["ifname"] for link in links}))
        for link in links:
            at = "devices[%s].ports[%d]." % (link["ifname"], link["port"])
            self.field(result, facts, at + "state", link["state"])
            self.field(result, facts, at + "physical_state", PHYSICAL.get(link["physical_state"], link["physical_state"]))
            if "lid" in link:
                self.field(result, facts, at + "lid", link["lid"])
                self.field(result, facts, at + "sm_lid", link["sm_lid"])

    def compare_netdevs(self, result, facts, text):
        theirs = {}
        for device, port, index, name in re.findall(r"^([^/]+)/ports/(\d+)/gid_attrs/ndevs/(\d+):(\S+)$", text, re.M):
            theirs[device, int(port), int(index)] = name
        for device in facts.get("devices") or []:
            for port in device.get("ports") or []:
                for gid in port.get("gids") or []:
                    key = device["name"], port["port"], gid["index"]
                    result.field("netdev of %s %d %d" % key, gid.get("netdev", UNKNOWN), theirs.get(key))
                    result.field("form of the GID", gid["gid"], verbs.full_gid(str(ipaddress.IPv6Address(gid["gid"]))))


def json_of(path):
    text = path.read_text()
    return json.loads(text) if text.strip() else []


ORACLE = Rdma
