/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/selection.h"

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
	if (hca_list_takes(&list, d->name.value, port) ||
	    (nvshmem.entries.n && hca_list_takes(&nvshmem, d->name.value, port)))
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
