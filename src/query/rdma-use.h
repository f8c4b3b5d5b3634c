/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-use.h - what on a node shows that it is for RDMA between nodes. Pure: facts in, answer out. */
#ifndef RDMA_USE_H
#define RDMA_USE_H

#include "query/endpoints.h"

struct rdma_use {
	const char *reason; /* NULL: nothing shows it */
	/* Only modules of the kernel use RDMA here (NVMe, Lustre, NFS): no program opens a device, so neither
	 * libibverbs nor the limit of locked memory matters. */
	bool of_kernel_alone;
};

/* Returns why the node is for RDMA. An RDMA-capable NIC alone does not say so: most serve as Ethernet cards. */
struct rdma_use rdma_use_of(const struct node *node, const struct endpoints *endpoints,
			    struct arena *arena);

/* Counts the InfiniBand adapters, without those that virtual machines have. */
size_t rdma_count_infiniband(const struct node *node);

#endif
