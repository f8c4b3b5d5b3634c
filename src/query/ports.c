/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ports.c - RDMA devices, their ports and their GIDs: what several rules ask about them. */
#include "query/ports.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "query/endpoints.h"
#include "query/rdma-drivers.h"

/* ---- devices ---- */

static const struct rdma_endpoint *endpoint_of(const struct endpoints *endpoints,
					       const struct rdma_device *device)
{
	return &endpoints->rdma.items[device - endpoints->node->rdma.devices.items];
}

bool is_virtual_function(const struct endpoints *endpoints, const struct rdma_device *device)
{
	return endpoint_of(endpoints, device)->is_virtual;
}

bool is_management(const struct endpoints *endpoints, const struct rdma_device *device)
{
	return endpoint_of(endpoints, device)->is_management;
}

/* A NIC's function has the number of its port. */
bool is_half_of_port(const struct endpoints *endpoints, const struct rdma_device *a,
		     const struct rdma_device *b)
{
	const char *guid = is_known(a->image_guid) ? a->image_guid.value : "";

	if (!is_known(a->bdf) || !is_known(b->bdf) || is_virtual_function(endpoints, a) ||
	    is_virtual_function(endpoints, b))
		return false;
	return strspn(guid, "0:") != strlen(guid) && str_is(b->image_guid, guid) &&
	       strcmp(strrchr(a->bdf.value, '.'), strrchr(b->bdf.value, '.')) == 0 &&
	       !is_same_slot(a->bdf.value, b->bdf.value);
}

bool is_fast_path(const struct endpoints *endpoints, const struct rdma_device *device)
{
	return endpoint_of(endpoints, device)->is_fast_path;
}

bool is_job_nic(const struct endpoints *endpoints, const struct rdma_device *device)
{
	return endpoint_of(endpoints, device)->is_for_jobs;
}

bool is_efa(const struct rdma_device *device)
{
	return str_is(device->driver, "efa");
}

bool is_usnic(const struct rdma_device *device)
{
	return str_is(device->driver, "enic") || str_starts(device->node_type, "usNIC");
}

/* Returns whether the driver of the device reaches GPU memory, as it says in p2p or gdr itself. Unknown: not EFA, or a
 * driver that says nothing (Linux's own). */
static struct fact_bool efa_reaches_gpus(const struct rdma_device *device)
{
	if (!is_efa(device))
		return (struct fact_bool){ 0 };
	if (is_known(device->p2p))
		return fact_bool(str_starts(device->p2p, "NVIDIA"));
	return is_known(device->gdr) ? device->gdr : (struct fact_bool){ 0 };
}

struct fact_bool node_efa_reaches_gpus(const struct node *node, const struct rdma_device **device)
{
	struct fact_bool all = { 0 };

	for_each(d, &node->rdma.devices) {
		struct fact_bool one = efa_reaches_gpus(d);

		if (device)
			*device = d;
		if (!known_is(one, true))
			return is_known(one) ? one : (struct fact_bool){ 0 };
		all = one;
	}
	return all;
}

const struct rdma_device *node_efa_alone(const struct node *node)
{
	const struct rdma_device *first = NULL;

	for_each(d, &node->rdma.devices) {
		if (!is_efa(d))
			return NULL;
		/* The one that tells least. */
		if (!first || (is_unknown(d->p2p) && !is_unknown(first->p2p)) ||
		    (is_absent(d->p2p) && is_known(first->p2p)))
			first = d;
	}
	return first;
}

bool node_is_efa_without_gpudirect(const struct node *node)
{
	const char *type = is_known(node->os.product) ? node->os.product.value : "";

	return node_efa_alone(node) && (starts_with(type, "p3dn.") || type[0] == 'g') &&
	       strchr(type, '.');
}

bool is_iwarp(const struct rdma_device *device)
{
	return str_is(device->node_type, "RNIC");
}

/* ---- ports ---- */

bool port_is_active(const struct rdma_port *port)
{
	return known_is(port->state, RDMA_PORT_ACTIVE);
}

bool port_is_ethernet(const struct rdma_port *port)
{
	return str_is(port->link_layer, "Ethernet");
}

bool port_is_infiniband(const struct rdma_port *port)
{
	return str_is(port->link_layer, "InfiniBand");
}

const char *port_name(struct arena *arena, const struct rdma_device *d, const struct rdma_port *p)
{
	return arena_printf(arena, "%s/%" PRIu64, d->name.value, p->port.value);
}

const char *port_fact(struct arena *arena, const struct rdma_device *d, const struct rdma_port *p,
		      const char *member)
{
	const char *ports = fact_path(arena, "rdma.devices", d->name.value, "ports");
	char number[24];

	return fact_path(arena, ports, fact_decimal(p->port.value, number), member);
}

const char *gid_fact(struct arena *arena, const struct rdma_device *d, const struct rdma_port *p,
		     const struct rdma_gid *g, const char *member)
{
	char number[24];

	return fact_path(arena, port_fact(arena, d, p, "gids"),
			 fact_decimal(g->index.value, number), member);
}

/* ---- GIDs ---- */

bool gid_is_usable(const struct rdma_gid *gid)
{
	struct gid address;

	return str_is(gid->type, "RoCE v2") && is_known(gid->gid) &&
	       gid_parse(span_of(gid->gid.value), &address) && !gid_is_zero(&address) &&
	       !gid_is_link_local(&address);
}

const struct rdma_gid *port_usable_gid(const struct rdma_port *port)
{
	for_each(gid, &port->gids)
		if (gid_is_usable(gid))
			return gid;
	return NULL;
}

const struct rdma_gid *port_job_gid(const struct node *node, const struct rdma_device *device,
				    const struct rdma_port *port)
{
	for_each(gid, &port->gids)
		if (gid_is_usable(gid) && !gid_is_stale(node, device, gid))
			return gid;
	return port_usable_gid(port);
}

const struct rdma_gid *port_gid(const struct rdma_port *port, uint64_t index)
{
	for_each(gid, &port->gids)
		if (known_is(gid->index, index))
			return gid;
	return NULL;
}

/* ---- interfaces, containers ---- */

const struct net_interface *node_interface(const struct node *node, const char *name)
{
	for_each(interface, &node->net.interfaces)
		if (str_is(interface->name, name))
			return interface;
	return NULL;
}

bool interface_is_up(const struct net_interface *interface)
{
	return str_is(interface->state, "up") || str_is(interface->state, "unknown");
}

/* The kernel makes link-local GIDs from the MAC address (core/cache.c, default GIDs). Hardware has them even if the
 * interface lacks the address. Software RDMA, which sends through the interface's sockets, needs it. */
static bool gid_is_default(const struct rdma_device *d, const struct gid *address)
{
	return gid_is_link_local(address) && !str_is(d->driver, "rdma_rxe") &&
	       !str_is(d->driver, "siw");
}

static bool has_address(const struct net_interface *interface, const struct gid *wanted)
{
	for (uint32_t i = 0; i < interface->addresses.count; i++) {
		unsigned int prefix;
		struct gid address;

		if (gid_from_address(span_of(interface->addresses.items[i]), &address, &prefix) &&
		    gid_is_equal(&address, wanted))
			return true;
	}
	return false;
}

/* The interface of a GID, which is up and has to have ADDRESS; NULL: none has to, or it is not known. An interface
 * that is down loses its IPv6 addresses: rdma/gid-no-netdev reports that. */
static const struct net_interface *interface_of(const struct node *node,
						const struct rdma_device *d,
						const struct rdma_gid *g, struct gid *address)
{
	const struct net_interface *interface = is_known(g->netdev)
							? node_interface(node, g->netdev.value)
							: NULL;

	return interface && interface_is_up(interface) && is_known(g->gid) && gid_parse(span_of(g->gid.value), address) && !gid_is_default(d, address) ? interface : NULL;
}

bool gid_needs_address(const struct node *node, const struct rdma_device *d,
		       const struct rdma_gid *g)
{
	struct gid address;

	return interface_of(node, d, g, &address);
}

bool gid_is_stale(const struct node *node, const struct rdma_device *d, const struct rdma_gid *g)
{
	struct gid address;
	const struct net_interface *interface = interface_of(node, d, g, &address);

	return interface && is_known(interface->addresses) && !has_address(interface, &address);
}

/* Has that name, or lies over it: a bond, a bridge, a VLAN. */
static bool interface_carries(const struct net_interface *interface, const char *name)
{
	for_each(upper, &interface->uppers)
		if (strcmp(*upper, name) == 0)
			return true;
	return str_is(interface->name, name);
}

/* Decides by the driver, or by the name if the driver is unknown. */
static bool is_bond(const struct node *node, const char *name)
{
	const struct net_interface *interface = node_interface(node, name);

	if (interface && is_known(interface->driver))
		return str_is(interface->driver, "bonding");
	return starts_with(name, "bond");
}

bool interface_is_leg(const struct node *node, const struct net_interface *interface,
		      const char *name)
{
	if (str_is(interface->name, name) || !interface_carries(interface, name))
		return false;
	for_each(upper, &interface->uppers)
		if (is_bond(node, *upper))
			return true;
	return false;
}

static bool runs_over(const struct node *node, const struct rdma_port *port,
		      const struct net_interface *leg)
{
	for_each(g, &port->gids)
		if (is_known(g->netdev) && interface_is_leg(node, leg, g->netdev.value))
			return true;
	return false;
}

const struct net_interface *port_leg_down(const struct node *node, const struct rdma_device *device,
					  const struct rdma_port *port)
{
	if (!is_known(device->bdf))
		return NULL;
	for_each(leg, &node->net.interfaces)
		if (is_known(leg->bdf) && is_same_slot(leg->bdf.value, device->bdf.value) &&
		    is_known(leg->state) && !interface_is_up(leg) && runs_over(node, port, leg))
			return leg;
	return NULL;
}

/* A bridge of the kernel's, or of Open vSwitch, that the function's interface is a port of; or NULL. */
static const char *bridge_over(const struct node *node, const struct rdma_device *d)
{
	for_each(i, &node->net.interfaces) {
		if (!is_known(d->bdf) || !str_is(i->bdf, d->bdf.value))
			continue;
		for_each(name, &i->uppers) {
			const struct net_interface *upper = node_interface(node, *name);

			if (strcmp(*name, "ovs-system") == 0 ||
			    (upper && str_is(upper->driver, "bridge")))
				return *name;
		}
	}
	return NULL;
}

/* Without GPUs no path tells which NICs are for jobs. The one that the node is reached by is not, if a different NIC has a
 * network of its own. */
static const char *port_of_node(struct arena *arena, const struct endpoints *endpoints,
				const struct rdma_device *d)
{
	const struct node *node = endpoints->node;

	if (!is_known(d->bdf) || !node_has_default_route(node, d->bdf.value))
		return NULL;
	for_each_port(other, q, node)
		if (other != d && port_is_active(q) && port_usable_gid(q) && is_known(other->bdf) &&
		    is_job_nic(endpoints, other) && !node_has_default_route(node, other->bdf.value))
			return arena_printf(arena,
					    "the node is reached by it, and %s has another network",
					    other->name.value);
	return NULL;
}

const char *port_other_purpose(struct arena *arena, const struct endpoints *endpoints,
			       const struct rdma_device *d, const struct rdma_port *p)
{
	const char *bridge = bridge_over(endpoints->node, d);

	if (!port_is_ethernet(p))
		return NULL;
	if (bridge)
		return arena_printf(arena, "its interface is a port of the bridge %s", bridge);
	for_each_port(other, q, endpoints->node)
		if (port_is_infiniband(q) && port_is_active(q) && is_job_nic(endpoints, other))
			return arena_printf(arena, "jobs have InfiniBand (%s)", other->name.value);
	if (!endpoints->gpus.count)
		return port_of_node(arena, endpoints, d);
	return NULL;
}

bool node_has_default_route(const struct node *node, const char *bdf)
{
	for_each(interface, &node->net.interfaces) {
		if (!is_known(interface->bdf) || !str_is(interface->bdf, bdf))
			continue;
		for_each(route, &node->net.routes)
			if (str_is(route->destination, "0.0.0.0/0") && is_known(route->interface) &&
			    interface_carries(interface, route->interface.value))
				return true;
	}
	return false;
}

bool is_same_slot(const char *bdf, const char *other)
{
	size_t n = strlen(bdf) - 1;

	return strlen(other) == n + 1 && strncmp(bdf, other, n) == 0;
}

/* An RDMA device can name the PCI function's driver, or the module of its own. */
const char *verbs_provider_of(const struct rdma_device *device)
{
	if (is_usnic(device))
		return "usnic_verbs";
	if (!is_known(device->driver))
		return NULL;
	for (const struct rdma_driver *d = rdma_drivers; d->module; d++)
		if ((d->driver && strcmp(d->driver, device->driver.value) == 0) ||
		    strcmp(d->module, device->driver.value) == 0)
			return d->provider;
	return NULL;
}

/* A container may see all of /sys/class/infiniband and have the nodes of its own devices alone. */
static bool can_open(const struct node *node, const struct rdma_device *d)
{
	const char *const folder = "/dev/infiniband/";

	if (is_absent(d->uverbs))
		return false;
	if (!is_known(d->uverbs) || !is_known(node->dev.nodes))
		return true; /* not known */
	for_each(n, &node->dev.nodes)
		if (str_starts(n->path, folder) &&
		    strcmp(n->path.value + strlen(folder), d->uverbs.value) == 0)
			return true;
	return false;
}

enum usable port_usable(const struct node *node, const struct rdma_device *d,
			const struct rdma_port *p)
{
	if (!can_open(node, d))
		return USABLE_NO_NODE;
	if (!is_known(p->state))
		return USABLE_UNKNOWN;
	return port_is_active(p) ? USABLE_YES : USABLE_DOWN;
}
