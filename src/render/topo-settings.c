/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topo-settings.c - the variables for NCCL, NVSHMEM and UCX that make each GPU use its own NICs.
 *
 * NCCL_IB_HCA: a list after "=" compares whole names (NCCL 2.30.7, src/transport/net_ib/init.cc); each rank then uses
 * the nearest of them by itself. NVSHMEM_HCA_PE_MAPPING: the devices are sorted as libibverbs lists them, each COUNT
 * times, and rank N of the node uses number N (NVSHMEM 3.5.1, src/modules/transport/ibgda/ibgda.cpp,
 * src/host/transport/transport.cpp). It can only express a pairing of NICs in that order with GPUs in theirs.
 */
#include <inttypes.h>
#include <string.h>

#include "query/kind.h"
#include "query/names.h"
#include "query/topology.h"
#include "render/topo.h"

struct pair {
	const char *rdma;
	uint64_t port, gpu;
};

struct pairs {
	const struct topo *topo;
	LIST(struct pair) items; /* by the GPU's number */
	bool whole;		 /* every GPU has a number and a NIC with a port that is active */
};

static bool active_port(const struct topo *topo, const char *bdf, struct pair *pair)
{
	for_each(d, &topo->node->rdma.devices)
		if (str_is(d->bdf, bdf) && is_known(d->name))
			for_each(p, &d->ports)
				if (known_is(p->state, RDMA_PORT_ACTIVE) && is_known(p->port)) {
					pair->rdma = d->name.value;
					pair->port = p->port.value;
					return true;
				}
	return false;
}

static void insert(struct pairs *pairs, struct pair pair)
{
	struct pair *p;

	LIST_ADD(pairs->topo->arena, &pairs->items);
	for (p = &pairs->items.items[pairs->items.count - 1];
	     p > pairs->items.items && p[-1].gpu > pair.gpu; p--)
		*p = p[-1];
	*p = pair;
}

static struct pairs find_pairs(const struct topo *topo)
{
	struct pairs pairs = { .topo = topo, .whole = true };

	for_each(gpu, &topo->table->gpus) {
		struct pair pair = { 0 };

		if (is_known(gpu->nearest_nic) &&
		    active_port(topo, gpu->nearest_nic.value, &pair) &&
		    gpu_number(topo->node, gpu->bdf.value, &pair.gpu))
			insert(&pairs, pair);
		else
			pairs.whole = false;
	}
	return pairs;
}

/* ---- values ---- */

static bool is_listed(const struct pairs *pairs, const struct pair *pair)
{
	for_each(p, &pairs->items)
		if (p == pair)
			return false;
		else if (strcmp(p->rdma, pair->rdma) == 0)
			return true;
	return false;
}

/* Lists each NIC once; WITH_PORT adds the port to the device. */
static const char *list(const struct pairs *pairs, bool with_port)
{
	const char *text = "";

	for_each(p, &pairs->items) {
		const char *comma = *text ? "," : "";

		if (is_listed(pairs, p))
			continue;
		text = with_port ? arena_printf(pairs->topo->arena, "%s%s%s:%" PRIu64, text, comma,
						p->rdma, p->port)
				 : arena_printf(pairs->topo->arena, "%s%s%s", text, comma, p->rdma);
	}
	return text;
}

/* Returns true if the pairs are in the order of libibverbs, which is that of the RDMA devices' numbers. */
static bool is_in_order(const struct pairs *pairs)
{
	for (uint32_t i = 1; i < pairs->items.count; i++)
		if (strverscmp(pairs->items.items[i - 1].rdma, pairs->items.items[i].rdma) > 0)
			return false;
	return true;
}

static const char *mapping(const struct pairs *pairs)
{
	const char *text = "";

	for (uint32_t i = 0, next; i < pairs->items.count; i = next) {
		const struct pair *p = &pairs->items.items[i];

		for (next = i + 1; next < pairs->items.count &&
				   strcmp(pairs->items.items[next].rdma, p->rdma) == 0;)
			next++;
		text = arena_printf(pairs->topo->arena, "%s%s%s:%" PRIu64 ":%" PRIu32, text,
				    *text ? "," : "", p->rdma, p->port, next - i);
	}
	return text;
}

static void add(const struct topo *topo, struct topo_settings *settings, const char *name,
		const char *value, const char *reason)
{
	*LIST_ADD(topo->arena, settings) = (struct topo_setting){ name, value, reason };
}

struct topo_settings topo_settings(const struct topo *topo)
{
	struct topo_settings settings = { 0 };
	struct pairs pairs = find_pairs(topo);

	if (node_is(topo->node, KIND_VIRTUAL_MACHINE) || !pairs.whole || pairs.items.count < 2)
		return settings;
	add(topo, &settings, "NCCL_IB_HCA", arena_printf(topo->arena, "=%s", list(&pairs, false)),
	    "the NICs nearest to the GPUs, and no others; each rank takes the nearest of them");
	add(topo, &settings, "UCX_NET_DEVICES", list(&pairs, true),
	    "the same NICs for UCX and NIXL");
	if (!is_in_order(&pairs))
		return settings;
	add(topo, &settings, "NVSHMEM_ENABLE_NIC_PE_MAPPING", "1",
	    "needed by the next one; leave both out for DeepEP's normal kernels");
	add(topo, &settings, "NVSHMEM_HCA_PE_MAPPING", mapping(&pairs),
	    "rank N of the node uses GPU N, and the NIC next to that");
	return settings;
}
