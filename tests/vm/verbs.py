# SPDX-License-Identifier: GPL-2.0-or-later
"""What ibv_devinfo -v says of the RDMA devices, to be held against the program's facts."""

import ipaddress
import re

STATES = {"PORT_DOWN": "DOWN", "PORT_INIT": "INIT", "PORT_ARMED": "ARMED", "PORT_ACTIVE": "ACTIVE"}


def parse(text):
    """A list of (device, port, line or GID index, value) in the program's own terms."""
    device = port = None
    width = 0
    for line in text.split("\n"):
        name, _, value = (part.strip() for part in line.partition(":"))
        gid = re.match(r"\s*GID\[\s*(\d+)\]:\s*(\S+?)(?:, (.*))?$", line)
        if name == "hca_id":
            device = value
        elif name == "port" and device:
            port = value
        elif name == "fw_ver":
            # What the provider makes of a driver that has none.
            yield device, "firmware", None if value == "0.0.0" else value
        elif name == "node_guid":
            yield device, "node_guid", value
        elif gid:
            yield device, "ports[%s].gids[%s].gid" % (port, gid[1]), full_gid(gid[2])
            if gid[3]:
                # The kernel has one word for what libibverbs calls IB and RoCE v1.
                word = gid[3] if gid[3] == "RoCE v2" else "IB/RoCE v1"
                yield device, "ports[%s].gids[%s].type" % (port, gid[1]), word
        elif name in ("port_lid", "sm_lid"):
            yield device, "ports[%s].%s" % (port, name.replace("port_", "")), int(value)
        elif name == "state":
            yield device, "ports[%s].state" % port, STATES[value.split()[0]]
        elif name == "active_mtu":
            yield device, "ports[%s].active_mtu_bytes" % port, int(value.split()[0])
        elif name == "link_layer":
            yield device, "ports[%s].link_layer" % port, value
        elif name == "active_width":
            width = int(value.split("X")[0])
        elif name == "active_speed":
            rate = float(value.split()[0]) * width * 1000
            yield device, "ports[%s].rate_mbps" % port, int(rate)


def full_gid(text):
    """::ffff:10.0.2.15 and fe80::1 as eight groups of four digits."""
    return ":".join(re.findall("....", ipaddress.IPv6Address(text).packed.hex()))
