/* SPDX-License-Identifier: GPL-2.0-or-later */
/* selection.c - the NICs that each library of a job uses on this node, by its own variables, files and defaults. */
#include "query/selection.h"

#include <string.h>

/* NVSHMEM's list counts as well where one is set: what either takes is used. */
static const char *left_out_by_lists(struct arena *arena, const struct node *node,
				     const struct rdma_device *d, const struct rdma_port *p,
				     const char **fact)
{
	struct job_value nccl = job_nccl(arena, node, "NCCL_IB_HCA");
	struct hca_list nvshmem = job_nic_list(arena, node, true), list;
	int port = (int)p->port.value;

	if (!nccl.value)
		return NULL;
	list = hca_list_nccl(nccl.value);
	if (hca_list_allows(&list, d->name.value, port) ||
	    (nvshmem.entries.n && hca_list_allows(&nvshmem, d->name.value, port)))
		return NULL;
	*fact = nccl.fact;
	return arena_printf(arena, "left out by %s", job_value_text(arena, node, &nccl));
}

const char *port_left_out(struct arena *arena, const struct endpoints *endpoints,
			  const struct rdma_device *d, const struct rdma_port *p, const char **fact)
{
	if (is_fast_path(endpoints, d)) {
		*fact = fact_path(arena, "rdma.devices", d->name.value, "bdf");
		return "the fast path of this machine's ordinary network, which no job uses for RDMA";
	}
	return left_out_by_lists(arena, endpoints->node, d, p, fact);
}

/* The GPU whose own NIC the device is, and that is next to it. */
static const struct pci_device *gpu_of(const struct endpoints *endpoints,
				       const struct rdma_device *device)
{
	for_each(gpu, &endpoints->gpus)
		if (gpu->nic && gpu->path.class <= PATH_PXB && is_known(device->bdf) &&
		    str_is(gpu->nic->bdf, device->bdf.value))
			return gpu->chain.device;
	return NULL;
}

static void cover_port(struct list_coverage *c, const struct endpoints *endpoints,
		       const struct hca_list *list, const struct rdma_device *d, int port)
{
	const struct pci_device *gpu = gpu_of(endpoints, d);
	bool takes = hca_list_allows(list, d->name.value, port);

	if (!gpu) {
		if (takes && !is_job_nic(endpoints, d) && !c->stranger)
			c->stranger = d;
		return;
	}
	c->taken += takes;
	c->left_out += !takes;
	if (!takes && !c->sibling) {
		c->sibling = d;
		c->gpu = gpu;
	}
}

bool is_name_of_missing_device(const struct node *node, struct span name)
{
	static const char prefix[] = "mlx5_";
	uint64_t number;

	if (!is_known(node->rdma.devices) || !span_starts(name, prefix))
		return false;
	name = (struct span){ name.p + strlen(prefix), name.n - strlen(prefix) };
	return span_u64(name, 10, &number) == 0 && number <= node->rdma.devices.count;
}

const struct rdma_device *list_takes_along(const struct node *node, const struct hca_list *list)
{
	struct hca_list whole = *list;

	whole.exact = true;
	for_each_port(d, p, node) {
		const char *name = d->name.value;
		int port = (int)p->port.value;

		/* Of an exact list and of one that excludes, this is true of no NIC. */
		if (port_usable(node, d, p) != USABLE_YES || !hca_list_allows(list, name, port) ||
		    hca_list_allows(&whole, name, port))
			continue;
		for_each(other, &node->rdma.devices) {
			struct hca_entry entry = { span_of(other->name.value), HCA_ANY_PORT };

			if (other != d && hca_entry_fits(list, &entry, name, HCA_ANY_PORT) &&
			    hca_list_allows(&whole, other->name.value, HCA_ANY_PORT))
				return d;
		}
	}
	return NULL;
}

/* A port that has two devices has the rate of both. */
static void cover_halves(struct list_coverage *c, const struct endpoints *endpoints,
			 const struct hca_list *list, const struct rdma_device *taken)
{
	for_each_port(d, p, endpoints->node)
		if (port_is_active(p) && is_half_of_port(endpoints, taken, d) &&
		    !hca_list_allows(list, d->name.value, (int)p->port.value)) {
			c->half = taken;
			c->other_half = d;
		}
}

struct list_coverage list_coverage(const struct endpoints *endpoints, const struct hca_list *list)
{
	struct list_coverage c = { 0 };

	for_each_port(d, p, endpoints->node)
		if (port_is_active(p) && !is_virtual_function(endpoints, d) &&
		    !is_management(endpoints, d))
			cover_port(&c, endpoints, list, d, (int)p->port.value);
	for_each_port(d, p, endpoints->node)
		if (!c.half && port_is_active(p) &&
		    hca_list_allows(list, d->name.value, (int)p->port.value))
			cover_halves(&c, endpoints, list, d);
	/* Without a NIC next to a GPU nothing says what a NIC is for. */
	if (!c.taken && !c.left_out)
		c.stranger = NULL;
	return c;
}
