/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-rdma.c - the descriptions of the structs in facts-rdma.h, innermost first. */
#include "facts/facts.h"

#define IB "/sys/class/infiniband/{0}/"

const char *const rdma_port_state_words[] = {
	[RDMA_PORT_NOP] = "NOP",
	[RDMA_PORT_DOWN] = "DOWN",
	[RDMA_PORT_INIT] = "INIT",
	[RDMA_PORT_ARMED] = "ARMED",
	[RDMA_PORT_ACTIVE] = "ACTIVE",
	[RDMA_PORT_ACTIVE_DEFER] = "ACTIVE_DEFER",
	NULL,
};

static const struct field rdma_gid_fields[] = {
	F_U64(rdma_gid, index, NULL),
	F_STR(rdma_gid, gid, IB "ports/{1}/gids/{2}"),
	F_STR(rdma_gid, type, IB "ports/{1}/gid_attrs/types/{2}"),
	F_STR(rdma_gid, netdev, IB "ports/{1}/gid_attrs/ndevs/{2}"),
};
static const struct desc rdma_gid_desc = DESC(rdma_gid);

static const struct field rdma_counter_fields[] = {
	F_STR(rdma_counter, name, NULL),
	F_U64(rdma_counter, value, IB "ports/{1}/counters/{2}"),
};
static const struct desc rdma_counter_desc = DESC(rdma_counter);

static const struct field rdma_port_fields[] = {
	F_U64(rdma_port, port, NULL),
	F_ENUM(rdma_port, state, rdma_port_state_words, IB "ports/{1}/state"),
	F_STR(rdma_port, physical_state, IB "ports/{1}/phys_state"),
	F_STR(rdma_port, link_layer, IB "ports/{1}/link_layer"),
	F_U64(rdma_port, rate_mbps, IB "ports/{1}/rate"),
	F_STR(rdma_port, lane_rate, IB "ports/{1}/rate"),
	F_U64(rdma_port, lid, IB "ports/{1}/lid"),
	F_U64(rdma_port, sm_lid, IB "ports/{1}/sm_lid"),
	F_ENUM(rdma_port, sysfs_state, rdma_port_state_words, "/dev/infiniband"),
	F_U64(rdma_port, active_mtu_bytes, "/dev/infiniband"),
	F_BOOL(rdma_port, grh_required, "/dev/infiniband"),
	F_U64(rdma_port, traffic_class, IB "tc/{1}/traffic_class"),
	F_LIST(rdma_port, gids, rdma_gid_desc, IB "ports/{1}/gids"),
	F_STRS(rdma_port, pkeys, IB "ports/{1}/pkeys"),
	F_LIST(rdma_port, counters, rdma_counter_desc, IB "ports/{1}/counters"),
};
static const struct desc rdma_port_desc = DESC(rdma_port);

static const struct field rdma_device_fields[] = {
	F_STR(rdma_device, name, NULL),
	F_STR(rdma_device, bdf, IB "device"),
	F_STR(rdma_device, driver, IB "device/driver"),
	F_STR(rdma_device, node_type, IB "node_type"),
	F_STR(rdma_device, node_guid, IB "node_guid"),
	F_STR(rdma_device, image_guid, IB "sys_image_guid"),
	F_STR(rdma_device, firmware, IB "fw_ver"),
	F_STR(rdma_device, board_id, IB "board_id"),
	F_STR(rdma_device, hca_type, IB "hca_type"),
	F_STR(rdma_device, uverbs, "/sys/class/infiniband_verbs"),
	F_BOOL(rdma_device, offered, "/dev/infiniband"),
	F_STR(rdma_device, open_error, "/dev/infiniband"),
	F_BOOL(rdma_device, dmabuf, "/dev/infiniband"),
	F_LIST(rdma_device, ports, rdma_port_desc, IB "ports"),
	F_STR(rdma_device, p2p, IB "device/p2p"),
	F_BOOL(rdma_device, gdr, IB "device/gdr"),
};
const struct desc rdma_device_desc = DESC(rdma_device);

#define AUXILIARY "/sys/bus/auxiliary/devices"

static const struct field rdma_auxiliary_fields[] = {
	F_STR(rdma_auxiliary, name, NULL),
	F_STR(rdma_auxiliary, bdf, AUXILIARY "/{0}"),
	F_STR(rdma_auxiliary, driver, AUXILIARY "/{0}/driver"),
};
static const struct desc rdma_auxiliary_desc = DESC(rdma_auxiliary);

static const struct field unread_provider_fields[] = {
	F_STR(unread_provider, path, NULL),
	F_STR(unread_provider, name, "{0}"),
};
static const struct desc unread_provider_desc = DESC(unread_provider);

static const struct field rdma_facts_fields[] = {
	F_LIST(rdma_facts, devices, rdma_device_desc, "/sys/class/infiniband"),
	F_LIST(rdma_facts, auxiliary, rdma_auxiliary_desc, AUXILIARY),
	F_STR(rdma_facts, netns_mode, "/sys/module/ib_core/parameters/netns_mode"),
	F_STRS(rdma_facts, providers, "/etc/libibverbs.d"),
	F_LIST(rdma_facts, unread_providers, unread_provider_desc, "/usr/local/etc/libibverbs.d"),
	F_STRS(rdma_facts, memory_peers, "/sys/kernel/mm/memory_peers"),
};
const struct desc rdma_facts_desc = DESC(rdma_facts);

static const struct field net_interface_fields[] = {
	F_STR(net_interface, name, NULL),
	F_STR(net_interface, state, "/sys/class/net/{0}/operstate"),
	F_BOOL(net_interface, carrier, "/sys/class/net/{0}/carrier"),
	F_U64(net_interface, mtu_bytes, "/sys/class/net/{0}/mtu"),
	F_U64(net_interface, speed_mbps, "/sys/class/net/{0}/speed"),
	F_STR(net_interface, bdf, "/sys/class/net/{0}/device"),
	F_STR(net_interface, driver, "/sys/class/net/{0}/device/driver"),
	F_STRS(net_interface, addresses, "/proc/net/fib_trie"),
	F_U64(net_interface, arp_ignore, "/proc/sys/net/ipv4/conf/{0}/arp_ignore"),
	F_U64(net_interface, arp_announce, "/proc/sys/net/ipv4/conf/{0}/arp_announce"),
	F_U64(net_interface, rp_filter, "/proc/sys/net/ipv4/conf/{0}/rp_filter"),
	F_HEX(net_interface, pfc_priorities, "flow control of {0}"),
	F_BOOL(net_interface, pause, "flow control of {0}"),
	F_STRS(net_interface, uppers, "/sys/class/net/{0}"),
};
static const struct desc net_interface_desc = DESC(net_interface);

static const struct field net_route_fields[] = {
	F_STR(net_route, destination, NULL),
	F_STR(net_route, interface, NULL),
	F_STR(net_route, gateway, NULL),
	F_U64(net_route, metric, NULL),
};
static const struct desc net_route_desc = DESC(net_route, .ordered = true);

static const struct field net_table_fields[] = {
	F_U64(net_table, id, NULL),
	F_STRS(net_table, subnets, NULL),
};
static const struct desc net_table_desc = DESC(net_table, .ordered = true);

static const struct field net_facts_fields[] = {
	F_LIST(net_facts, interfaces, net_interface_desc, "/sys/class/net"),
	F_LIST(net_facts, routes, net_route_desc, "/proc/net/route"),
	F_LIST(net_facts, tables, net_table_desc, "/proc/net/fib_trie"),
	F_STRS(net_facts, hostname_addresses, "/etc/hosts"),
	F_STRS(net_facts, hosts_order, "/etc/nsswitch.conf"),
	F_BOOL(net_facts, ufw, "/etc/ufw/ufw.conf"),
};
const struct desc net_facts_desc = DESC(net_facts);
