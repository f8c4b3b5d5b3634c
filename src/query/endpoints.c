/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/endpoints.h"

#include "query/gpus.h"
#include "query/node-find.h"

struct nics {
	LIST(struct pci_chain) list;
};

static void find_nearest(struct gpu_endpoint *gpu, const struct nics *nics)
{
	struct pci_path path;

	for_each(nic, &nics->list) {
		topology_path_between(&gpu->chain, nic, &path);
		if (gpu->nic && path.class >= gpu->path.class)
			continue;
		gpu->nic = nic->device;
		gpu->path = path;
		/* None is nearer. */
		if (path.class == PATH_PIX)
			break;
	}
}

/* Has a GPU a NIC of that model beside it; or any, where DEVICE_ID is NULL? */
static bool any_beside(const struct endpoints *endpoints, const struct fact_u64 *device_id)
{
	for_each(gpu, &endpoints->gpus)
		if (gpu->nic && gpu->path.class <= PATH_PXB && is_known(gpu->nic->device_id) &&
		    (!device_id || known_is(*device_id, gpu->nic->device_id.value)))
			return true;
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
	if (any_beside(endpoints, NULL))
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
		else if (topology_is_nic(node, d))
			topology_chain(node, d, LIST_ADD(arena, &nics.list));
	}
	for_each_mut(gpu, &endpoints->gpus)
		find_nearest(gpu, &nics);
	for_each(d, &node->rdma.devices)
		fill_rdma(LIST_ADD(arena, &endpoints->rdma), endpoints, node, d);
	return endpoints;
}
