/* SPDX-License-Identifier: GPL-2.0-or-later */
/* selection.h - the NICs that each library of a job uses on this node, by its own variables, files and defaults. */
#ifndef SELECTION_H
#define SELECTION_H

#include "query/job-env.h"
#include "query/ports.h"

/* Why no job runs over the port: the libraries' lists leave it out, or it is the fast path of the machine's
 * ordinary network. NULL: one may. FACT is the path of the fact that says so. */
const char *port_left_out(struct arena *arena, const struct endpoints *endpoints,
			  const struct rdma_device *d, const struct rdma_port *p,
			  const char **fact);

/* The effect of a list on the NICs next to the GPUs, of the model that is next to them, with an active port. */
struct list_coverage {
	size_t taken, left_out;
	const struct rdma_device
		*sibling;	      /* the first of these that the list leaves out; NULL: none */
	const struct pci_device *gpu; /* the GPU that has the sibling as its own NIC */
	/* The halves of a port, as of a GB10: the list takes one, and leaves out the other. NULL: none. */
	const struct rdma_device *half, *other_half;
	/* A device that the list takes, of another model than those next to the GPUs: it is there for storage or
	 * for the node itself. NULL: none. */
	const struct rdma_device *stranger;
};
/* Returns true if NAME is the one of a device that is missing: mlx5_8 of nine devices, mlx5_0 to mlx5_7 and mlx5_9. */
bool is_name_of_missing_device(const struct node *node, struct span name);
/* Returns a device that the list takes by a prefix that is the whole name of a second, as mlx5_1 takes mlx5_10. NULL: none. */
const struct rdma_device *list_takes_along(const struct node *node, const struct hca_list *list);
struct list_coverage list_coverage(const struct endpoints *endpoints, const struct hca_list *list);

#endif
