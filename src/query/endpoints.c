/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * endpoints.c - the GPUs of a node, the NIC that each would use, and the functions of RDMA devices: found once, for
 * all rules that ask.
 */
#include "query/endpoints.h"

#include <string.h>

#include "query/gpus.h"
#include "query/node-find.h"
#include "query/pairing.h"
#include "query/pci-device.h"

struct nics {
	LIST(struct pci_chain) list;
};

/* Marks the NICs at the smallest distance from the GPU. */
static void find_nearest(const struct gpu_endpoint *gpu, const struct nics *nics, bool *nearest)
{
	enum path_class best = PATH_UNKNOWN;
	struct pci_path path;

	for (uint32_t i = 0; i < nics->list.count; i++) {
		topology_path_between(&gpu->chain, &nics->list.items[i], &path);
		if (path.class < best)
			memset(nearest, 0, i);
		best = path.class < best ? path.class : best;
		nearest[i] = path.class == best;
	}
}

/* Pairs each GPU with a NIC. */
static void pair(struct endpoints *endpoints, const struct nics *nics, struct arena *arena)
{
	struct pairing *pairing = pairing_new(endpoints->gpus.count, nics->list.count, arena);
	size_t number = 0;

	for_each(gpu, &endpoints->gpus)
		find_nearest(gpu, nics, pairing->nearest + number++ * nics->list.count);
	pairing_assign(pairing, arena);
	number = 0;
	for_each_mut(gpu, &endpoints->gpus) {
		size_t nic = pairing->nic[number++];

		if (nic == PAIRING_NONE)
			continue;
		gpu->nic = nics->list.items[nic].device;
		topology_path_between(&gpu->chain, &nics->list.items[nic], &gpu->path);
	}
}

/* Returns true if a GPU has a NIC of that model beside it; of any model, if DEVICE_ID is NULL. */
static bool any_beside(const struct endpoints *endpoints, const struct fact_u64 *device_id)
{
	for_each(gpu, &endpoints->gpus)
		if (gpu->nic && gpu->path.class <= PATH_PXB && is_known(gpu->nic->device_id) &&
		    (!device_id || known_is(*device_id, gpu->nic->device_id.value)))
			return true;
	return false;
}

/* Hyper-V's network takes the virtual function as its fast path, and shows it below its own interface
 * (drivers/net/hyperv/netvsc_drv.c, netvsc_vf_join()). */
static bool has_fast_path_role(const struct node *node, const struct pci_device *function)
{
	for_each(interface, &node->net.interfaces) {
		if (!is_known(interface->bdf) || !str_is(function->bdf, interface->bdf.value))
			continue;
		for_each(name, &interface->uppers) {
			const struct net_interface *upper = LIST_FIND(&node->net.interfaces, *name);

			if (upper && str_is(upper->driver, "hv_netvsc"))
				return true;
		}
	}
	return false;
}

static void fill_rdma(struct rdma_endpoint *end, const struct endpoints *endpoints,
		      const struct node *node, const struct rdma_device *device)
{
	const struct pci_device *f = is_known(device->bdf) ? node_pci(node, device->bdf.value)
							   : NULL;

	end->function = f;
	end->is_virtual = f && is_known(f->physical_function);
	end->is_management = f && !topology_is_nic(node, f);
	end->is_fast_path = f && has_fast_path_role(node, f);
	if (end->is_fast_path)
		end->is_for_jobs = false;
	else if (any_beside(endpoints, NULL))
		end->is_for_jobs = !end->is_management && f && any_beside(endpoints, &f->device_id);
	else
		end->is_for_jobs = !end->is_management && !end->is_virtual;
}

bool endpoints_are_integrated(const struct endpoints *endpoints)
{
	for_each(gpu, &endpoints->gpus)
		if (gpu_is_integrated(gpu->chain.device))
			return true;
	return false;
}

const struct endpoints *endpoints_find(const struct node *node, struct arena *arena)
{
	struct endpoints *endpoints = arena_alloc(arena, sizeof(*endpoints));
	struct nics nics = { 0 };

	endpoints->node = node;
	endpoints->complete = is_known(node->pci.devices);
	for_each(d, &node->pci.devices) {
		endpoints->complete &= is_known(d->vendor_id) && is_known(d->device_id) &&
				       is_known(d->class_id) && was_read(d->parent);
		if (pci_is_gpu(d))
			topology_chain(node, d, &LIST_ADD(arena, &endpoints->gpus)->chain);
		else if (topology_is_nic(node, d) && !has_fast_path_role(node, d))
			topology_chain(node, d, LIST_ADD(arena, &nics.list));
	}
	pair(endpoints, &nics, arena);
	for_each(d, &node->rdma.devices)
		fill_rdma(LIST_ADD(arena, &endpoints->rdma), endpoints, node, d);
	return endpoints;
}
