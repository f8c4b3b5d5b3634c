/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-use.c - what on a node shows that it is for RDMA between nodes. Pure: facts in, answer out. */
#include "query/rdma-use.h"

#include <string.h>

#include "base/array.h"
#include "query/job-env.h"
#include "query/kind.h"
#include "query/node-find.h"
#include "query/pci-device.h"
#include "query/ports.h"

/* ---- hardware ---- */

#define CLASS_INFINIBAND 0x020700 /* PCI Code and ID Assignment 1.11: network, InfiniBand */

static bool is_infiniband(const struct node *node, const struct pci_device *d)
{
	return known_is(d->class_id, CLASS_INFINIBAND) && topology_is_nic(node, d) &&
	       !pci_is_for_guest(d);
}

size_t rdma_count_infiniband(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->pci.devices)
		n += is_infiniband(node, d);
	return n;
}

static const struct rdma_device *first_usnic(const struct node *node)
{
	for_each(d, &node->rdma.devices)
		if (is_usnic(d))
			return d;
	return NULL;
}

/* These devices have no network interface that would serve without RDMA. usNIC has one, and an administrator gave its
 * virtual NIC an RDMA device in the server's management. */
static const char *dedicated_device(const struct node *node, struct arena *arena)
{
	const struct rdma_device *usnic = first_usnic(node);

	for_each(d, &node->rdma.devices)
		if (is_efa(d))
			return arena_printf(arena, "%s is an Elastic Fabric Adapter",
					    d->name.value);
	return usnic ? arena_printf(arena, "%s is a usNIC device", usnic->name.value) : NULL;
}

/* A link partner is there. A card without a cable says nothing. */
static bool has_link(const struct rdma_port *p)
{
	return is_known(p->state) && p->state.value >= RDMA_PORT_INIT;
}

static const char *infiniband_port(const struct node *node, const struct endpoints *endpoints,
				   struct arena *arena)
{
	for_each_port(d, p, node)
		if (port_is_infiniband(p) && has_link(p) && !is_management(endpoints, d) &&
		    !is_efa(d))
			return arena_printf(arena, "%s has an InfiniBand link",
					    port_name(arena, d, p));
	return NULL;
}

static bool has_interface(const struct node *node, const struct pci_device *d)
{
	for_each(interface, &node->net.interfaces)
		if (is_known(interface->bdf) && str_is(d->bdf, interface->bdf.value))
			return true;
	return false;
}

/* A NIC that its driver has and that offers neither RDMA nor Ethernet: one of InfiniBand whose RDMA module is missing.
 * ConnectX-3 has no class of its own for InfiniBand. */
static bool serves_nothing(const struct node *node, const struct pci_device *d)
{
	return pci_is_mlx(d) && topology_is_nic(node, d) && is_known(d->driver) &&
	       !pci_is_for_guest(d) && was_read(node->net.interfaces) && !has_interface(node, d);
}

/* Without an RDMA device an InfiniBand adapter serves nothing, and whether a cable is in it is not visible. In a
 * workstation it can be a spare part. */
static const char *infiniband_without_device(const struct node *node, struct arena *arena)
{
	if (node_is(node, KIND_WORKSTATION))
		return NULL;
	for_each(d, &node->pci.devices) {
		if (!was_read(node->rdma.devices) || is_known(d->physical_function) ||
		    node_rdma_of(node, d))
			continue;
		if (is_infiniband(node, d))
			return arena_printf(arena, "%s is an InfiniBand adapter", d->bdf.value);
		if (serves_nothing(node, d))
			return arena_printf(
				arena, "the NIC %s has neither an RDMA device nor an interface",
				d->bdf.value);
	}
	return NULL;
}

/* ---- programs ---- */

static bool names_word(struct span list, const char *const *words)
{
	struct span item;

	while (span_cut(&list, ',', &item)) {
		item = span_trim(item);
		for (size_t i = 0; words[i]; i++)
			if (span_is(item, words[i]))
				return true;
	}
	return false;
}

/* UCX_NET_DEVICES=mlx5_0:1 names an RDMA device; eth0 does not. */
static bool names_rdma_device(const struct node *node, const char *value)
{
	struct span rest = span_of(value), item;

	while (span_cut(&rest, ',', &item)) {
		struct span name = span_trim(item);

		name.n = span_find(name, ':');
		for_each(d, &node->rdma.devices)
			if (span_is(name, d->name.value))
				return true;
	}
	return false;
}

/* A variable that only jobs over RDMA set. The list of one that switches it off is not here. */
static bool asks_for_rdma(const struct node *node, const char *name, const char *value)
{
	/* UCX (2026-08-21): src/ucp/core/ucp_context.c, ucp_tl_aliases */
	static const char *const transports[] = { "rc", "rc_v", "rc_x",	   "rc_verbs", "rc_mlx5",
						  "ud", "ud_v", "ud_x",	   "ud_verbs", "ud_mlx5",
						  "dc", "dc_x", "dc_mlx5", "ib",       NULL };
	/* libfabric: fi_provider(7) */
	static const char *const providers[] = { "verbs",	  "efa",	   "usnic",
						 "psm2",	  "psm3",	   "opx",
						 "verbs;ofi_rxm", "verbs;ofi_rxd", NULL };

	if (strcmp(name, "UCX_NET_DEVICES") == 0)
		return names_rdma_device(node, value);
	if (strcmp(name, "UCX_TLS") == 0)
		return names_word(span_of(value), transports);
	if (strcmp(name, "FI_PROVIDER") == 0)
		return names_word(span_of(value), providers);
	return strcmp(name, "NCCL_IB_DISABLE") != 0 &&
	       (strncmp(name, "NCCL_IB_", 8) == 0 || strncmp(name, "UCX_IB_", 7) == 0 ||
		strncmp(name, "NVSHMEM_HCA_", 12) == 0 || strncmp(name, "NVSHMEM_IB_", 11) == 0);
}

static const char *job_variable(const struct node *node, struct arena *arena)
{
	for_each(v, &node->env.variables)
		if (is_known(v->name) && is_known(v->value) && *v->value.value &&
		    asks_for_rdma(node, v->name.value, v->value.value))
			return arena_printf(arena, "%s is set", v->name.value);
	for_each(v, &node->env.nccl_conf)
		if (is_known(v->name) && is_known(v->value) &&
		    asks_for_rdma(node, v->name.value, v->value.value))
			return arena_printf(arena, "%s sets %s", v->file.value, v->name.value);
	return NULL;
}

/* A RoCE port with an address, in a network beside the one by which the node is reached. */
static const struct rdma_device *port_of_own_network(const struct node *node,
						     const struct endpoints *endpoints)
{
	for_each_port(d, p, node)
		if (port_is_ethernet(p) && port_is_active(p) && port_usable_gid(p) &&
		    is_job_nic(endpoints, d) && is_known(d->bdf) &&
		    !node_has_default_route(node, d->bdf.value))
			return d;
	return NULL;
}

/* MPI takes such a port by itself, if libibverbs has its driver. */
static const char *slurm_network(const struct node *node, const struct endpoints *endpoints,
				 struct arena *arena)
{
	const struct rdma_device *d = port_of_own_network(node, endpoints);
	const char *provider = d ? verbs_provider_of(d) : NULL;

	if (!provider || !node_is(node, KIND_SLURM) || !is_known(node->net.routes))
		return NULL;
	for (uint32_t i = 0; i < node->rdma.providers.count; i++)
		if (strcmp(node->rdma.providers.items[i], provider) == 0)
			return arena_printf(
				arena, "a Slurm node, and %s has a network besides the node's own",
				d->name.value);
	return NULL;
}

/* Two of them are sold to be joined, and the NIC is on the board. */
static const char *gb10_port(const struct node *node, const struct endpoints *endpoints,
			     struct arena *arena)
{
	if (!node_is(node, KIND_GB10))
		return NULL;
	for_each_port(d, p, node)
		if (port_is_ethernet(p) && port_is_active(p) && is_job_nic(endpoints, d))
			return arena_printf(arena, "a GB10, and %s is active",
					    port_name(arena, d, p));
	return NULL;
}

/* ---- modules ---- */

/* Modules whose only work is RDMA. rdma-core's kernel-boot/modules/rdma.conf and infiniband.conf load ib_iser and rpcrdma
 * with any RDMA device, and have lines for the others that are marked: only one that is in use says something. */
static const struct {
	const char *name;
	bool loaded_with_any;
} consumers[] = {
	{ "nvme_rdma", false }, { "nvmet_rdma", false }, { "ko2iblnd", false },
	{ "rpcrdma", true },	{ "ib_iser", true },	 { "ib_isert", true },
	{ "ib_srp", true },	{ "ib_srpt", true },	 { "rds_rdma", true },
};

static const char *kernel_consumer(const struct node *node, struct arena *arena)
{
	for (size_t i = 0; i < ARRAY_SIZE(consumers); i++) {
		const struct module *m = node_module(node, consumers[i].name);

		if (m &&
		    (!consumers[i].loaded_with_any || (is_known(m->refcnt) && m->refcnt.value > 0)))
			return arena_printf(arena, "%s is %s", m->name.value,
					    consumers[i].loaded_with_any ? "in use" : "loaded");
	}
	return NULL;
}

struct rdma_use rdma_use_of(const struct node *node, const struct endpoints *endpoints,
			    struct arena *arena)
{
	const char *programs = job_variable(node, arena);
	const char *kernel;
	struct rdma_use use = { .reason = programs };

	/* A container sees its host's devices and modules, whatever it is for. */
	if (is_known(node->os.container))
		return use;
	kernel = kernel_consumer(node, arena);
	if (!programs)
		programs = slurm_network(node, endpoints, arena);
	if (!programs)
		programs = gb10_port(node, endpoints, arena);
	if (!programs)
		programs = dedicated_device(node, arena);
	use.reason = programs ? programs : kernel;
	use.of_kernel_alone = !programs && kernel;
	if (!use.reason)
		use.reason = infiniband_port(node, endpoints, arena);
	if (!use.reason)
		use.reason = infiniband_without_device(node, arena);
	return use;
}
