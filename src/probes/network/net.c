/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * net.c - network interfaces, IPv4 routes, and how the node finds its own name. Bridges, bonds,
 * VLANs and the ends of container links are interfaces like any other; addresses.c tells which
 * addresses they have.
 */
#include <string.h>

#include "base/array.h"
#include "parse/bdf.h"
#include "parse/inet.h"
#include "probes/probe.h"

#define INTERFACES "/sys/class/net"
#define ROUTES "/proc/net/route"
#define ARP "/proc/sys/net/ipv4/conf"
#define HOSTS "/etc/hosts"
#define NSSWITCH "/etc/nsswitch.conf"
#define UFW "/etc/ufw/ufw.conf"

/* Nodes that run containers have a link end for each of them. */
#define NET_INTERFACES_MAX 1024
#define NET_ROUTES_MAX 4096
#define UPPER "upper_"
#define NET_UPPERS_MAX 16
#define NET_UPPERS_DEPTH 3

/* ---- interfaces ---- */

/* The PCI function that an interface is on: of /sys/class/net/eth0 -> ../../devices/pci0000:00/
 * 0000:00:03.0/virtio0/net/eth0 the last address. One below devices/virtual has none. */
static void find_function(struct probe_context *ctx, struct net_interface *interface)
{
	char target[PATH_MAX];
	struct span bdf;
	int rc = host_link(ctx->host, target, INTERFACES "/%s", interface->name.value);

	if (rc == -EINVAL) /* a copy that has folders for links */
		rc = host_link(ctx->host, target, INTERFACES "/%s/device", interface->name.value);
	if (rc == 0 && !bdf_in_path(span_of(target), &bdf))
		rc = -ENOENT;
	interface->bdf.state = probe_state(rc);
	if (rc == 0)
		interface->bdf = probe_span(ctx, bdf);
	if (rc == -ENOENT && span_search(span_of(target), "/virtual/"))
		interface->driver.state = FACT_ABSENT;
	else
		probe_link(ctx, &interface->driver, INTERFACES "/%s/device/driver",
			   interface->name.value);
}

/* NAME's links upper_bond0 and their like (net/core/dev.c, netdev_adjacent_sysfs_add), and those of
 * what they lead to: a VLAN over a bond. */
static void find_uppers(struct probe_context *ctx, struct net_interface *interface,
			const char *name, unsigned int depth)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, INTERFACES "/%s", name);

	if (depth == 0)
		interface->uppers.state = probe_state(rc);
	for (size_t i = 0; i < names.count; i++) {
		const char *upper;

		if (!span_starts(span_of(names.items[i]), UPPER) ||
		    interface->uppers.count == NET_UPPERS_MAX)
			continue;
		upper = arena_strdup(ctx->arena, names.items[i] + strlen(UPPER));
		*LIST_ADD(ctx->arena, &interface->uppers) = upper;
		if (depth < NET_UPPERS_DEPTH)
			find_uppers(ctx, interface, upper, depth + 1);
	}
}

static struct net_interface *find_interface(struct net_facts *net, const char *name)
{
	for_each_mut(interface, &net->interfaces)
		if (str_is(interface->name, name))
			return interface;
	return NULL;
}

/* Finds the driver of an interface without a PCI function: drivers/net/bonding/bond_sysfs.c,
 * net/bridge/br_sysfs_br.c. */
static void find_virtual_driver(struct probe_context *ctx, struct net_interface *interface)
{
	static const struct {
		const char *folder, *driver;
	} kinds[] = { { "bonding", "bonding" }, { "bridge", "bridge" } };
	struct host_stat stat;

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !is_known(interface->driver); i++)
		if (host_stat(ctx->host, &stat, INTERFACES "/%s/%s", interface->name.value,
			      kinds[i].folder) == 0)
			interface->driver = fact_str(ctx->arena, kinds[i].driver);
}

/* Finds drivers only for interfaces above a NIC, because a node may have a thousand others. */
static void find_drivers_of_uppers(struct probe_context *ctx)
{
	struct net_facts *net = &ctx->node->net;

	for_each(interface, &net->interfaces)
		for_each(name, &interface->uppers) {
			struct net_interface *upper = find_interface(net, *name);

			if (upper && is_absent(upper->driver))
				find_virtual_driver(ctx, upper);
		}
}

/* The kernel refuses it (-EINVAL) of one that is switched off: net/core/net-sysfs.c, carrier_show(). */
static void read_carrier(struct probe_context *ctx, struct net_interface *interface)
{
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read_entry(ctx->host, &text, HOST_FILE_MAX, INTERFACES "/%s/carrier",
				 interface->name.value);

	interface->carrier.state = probe_state(rc);
	interface->carrier.value = span_is(span_trim(text_span(&text)), "1");
}

/* Refused (-EINVAL) while the interface is down, and -1 where the driver does not know (net/core/net-sysfs.c,
 * speed_show()). */
static void read_speed(struct probe_context *ctx, struct net_interface *interface)
{
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read_entry(ctx->host, &text, HOST_FILE_MAX, INTERFACES "/%s/speed",
				 interface->name.value);
	uint64_t mbps;

	interface->speed_mbps.state = rc == -EINVAL ? FACT_ABSENT : probe_state(rc);
	if (rc)
		return;
	if (span_u64(span_trim(text_span(&text)), 10, &mbps) == 0 && mbps && mbps < UINT32_MAX)
		interface->speed_mbps = fact_u64(mbps);
	else
		interface->speed_mbps.state = FACT_ABSENT;
}

/* The folder has files too: bonding_masters. */
static bool is_interface(struct probe_context *ctx, const char *name)
{
	_cleanup_names_ struct names names = { 0 };
	char target[PATH_MAX];

	return host_link(ctx->host, target, INTERFACES "/%s", name) == 0 ||
	       host_list(ctx->host, &names, INTERFACES "/%s", name) == 0;
}

static void read_interfaces(struct probe_context *ctx)
{
	struct net_facts *net = &ctx->node->net;
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, INTERFACES);

	net->interfaces.state = probe_state_always(ctx, rc, INTERFACES);
	for (size_t i = 0; i < names.count; i++) {
		struct net_interface *interface;
		struct fact_u64 mtu = { 0 };

		if (net->interfaces.count == NET_INTERFACES_MAX) {
			host_gap_note(ctx->host, INTERFACES, -EOVERFLOW,
				      "only the first interfaces were read");
			break;
		}
		probe_u64(ctx, &mtu, INTERFACES "/%s/mtu", names.items[i]);
		if (is_absent(mtu) && !is_interface(ctx, names.items[i]))
			continue;
		if (is_absent(mtu))
			mtu.state = FACT_UNKNOWN;
		interface = LIST_ADD(ctx->arena, &net->interfaces);
		interface->name = fact_str(ctx->arena, names.items[i]);
		interface->mtu_bytes = mtu;
		probe_str(ctx, &interface->state, INTERFACES "/%s/operstate", names.items[i]);
		read_carrier(ctx, interface);
		find_function(ctx, interface);
		interface->speed_mbps.state = interface->bdf.state;
		if (is_known(interface->bdf))
			read_speed(ctx, interface);
		if (is_known(interface->bdf))
			find_uppers(ctx, interface, interface->name.value, 0);
		else
			interface->uppers.state = interface->bdf.state;
	}
}

/* ---- routes ---- */

static void add_route(struct probe_context *ctx, const struct inet_route *found)
{
	struct net_route *route = LIST_ADD(ctx->arena, &ctx->node->net.routes);
	char text[INET4_TEXT];

	inet4_format(text, found->destination, found->prefix);
	route->destination = fact_str(ctx->arena, text);
	route->interface = found->interface.n ? probe_span(ctx, found->interface)
					      : FACT_NONE(fact_str);
	inet4_format_address(text, found->gateway);
	route->gateway = found->gateway ? fact_str(ctx->arena, text) : FACT_NONE(fact_str);
	route->metric = fact_u64(found->metric);
}

static void read_routes(struct probe_context *ctx)
{
	struct net_facts *net = &ctx->node->net;
	_cleanup_text_ struct text text = { 0 };
	struct inet_route route;
	struct span rest;
	size_t bad = 0;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, ROUTES);

	net->routes.state = probe_state(rc);
	rest = text_span(&text);
	while (inet_route_next(&rest, &route, &bad)) {
		if (net->routes.count == NET_ROUTES_MAX) {
			host_gap_note(ctx->host, ROUTES, -EOVERFLOW,
				      "only the first routes were read");
			return;
		}
		add_route(ctx, &route);
	}
	if (bad)
		host_gap_note(ctx->host, ROUTES, -EBADMSG, "a line is not a route");
}

/* ---- several interfaces in one subnet ---- */

static bool shares_subnet(const struct net_facts *net, const struct net_interface *interface)
{
	for_each(a, &net->routes) {
		if (!is_absent(a->gateway) || !str_is(a->interface, interface->name.value))
			continue;
		for_each(b, &net->routes)
			if (is_absent(b->gateway) && is_known(b->interface) &&
			    str_is(a->destination, b->destination.value) &&
			    !str_is(b->interface, interface->name.value))
				return true;
	}
	return false;
}

/* Reads the ARP settings only where rules need them, because a node may have a thousand interfaces. */
static void read_arp(struct probe_context *ctx)
{
	struct net_facts *net = &ctx->node->net;

	for_each_mut(interface, &net->interfaces) {
		if (!shares_subnet(net, interface))
			continue;
		probe_u64(ctx, &interface->arp_ignore, ARP "/%s/arp_ignore", interface->name.value);
		probe_u64(ctx, &interface->arp_announce, ARP "/%s/arp_announce",
			  interface->name.value);
		probe_u64(ctx, &interface->rp_filter, ARP "/%s/rp_filter", interface->name.value);
	}
}

/* ---- the node's own name ---- */

static void read_own_addresses(struct probe_context *ctx)
{
	struct net_facts *net = &ctx->node->net;
	_cleanup_text_ struct text text = { 0 };
	struct fact_str hostname = { 0 };
	struct span rest, address, names;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, HOSTS);

	probe_str(ctx, &hostname, "/proc/sys/kernel/hostname");
	net->hostname_addresses.state = rc == 0 && !is_known(hostname) ? FACT_UNKNOWN
								       : probe_state(rc);
	if (!is_known(net->hostname_addresses))
		return;
	rest = text_span(&text);
	while (hosts_next(&rest, &address, &names))
		if (hosts_has(names, span_of(hostname.value)))
			*LIST_ADD(ctx->arena,
				  &net->hostname_addresses) = probe_span(ctx, address).value;
}

static void read_hosts_order(struct probe_context *ctx)
{
	struct net_facts *net = &ctx->node->net;
	_cleanup_text_ struct text text = { 0 };
	struct span words, word;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, NSSWITCH);

	net->hosts_order.state = probe_state(rc);
	if (rc)
		return;
	if (!nsswitch_find(text_span(&text), "hosts", &words)) {
		net->hosts_order.state = FACT_ABSENT;
		return;
	}
	while (nsswitch_next(&words, &word))
		*LIST_ADD(ctx->arena, &net->hosts_order) = probe_span(ctx, word).value;
}

/* ufw.service is active where ufw is off, too: its own setting tells. */
static void read_ufw(struct probe_context *ctx)
{
	struct fact_bool *ufw = &ctx->node->net.ufw;
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line, name;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, UFW);

	ufw->state = probe_state(rc);
	if (rc)
		return;
	*ufw = fact_bool(false);
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line))
		if (span_cut(&line, '=', &name) && span_is(span_trim(name), "ENABLED"))
			*ufw = fact_bool(span_starts(line, "yes") || span_starts(line, "\"yes"));
}

static void net_run(struct probe_context *ctx)
{
	read_interfaces(ctx);
	find_drivers_of_uppers(ctx);
	read_routes(ctx);
	read_arp(ctx);
	read_own_addresses(ctx);
	read_hosts_order(ctx);
	read_ufw(ctx);
}

const struct probe probe_net = {
	.name = "net",
	.phase = PHASE_ALONE,
	.is_hardware = true,
	PROBE_SECTION(net),
	.run = net_run,
};
