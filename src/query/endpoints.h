/* SPDX-License-Identifier: GPL-2.0-or-later */
/* endpoints.h - the GPUs of a node, the NIC that each would use, and the functions of RDMA devices: found
 * once, for all rules that ask. */
#ifndef ENDPOINTS_H
#define ENDPOINTS_H

#include "query/topology.h"

struct gpu_endpoint {
	struct pci_chain chain; /* the GPU, and the bridges above it */
	const struct pci_device
		*nic;	      /* its own of the nearest ones (pairing.h); NULL: there is none */
	struct pci_path path; /* to it */
};

/* The NICs that jobs use. If GPUs have NICs next to them (below one switch), these and all of their kind. Otherwise,
 * or if the distance is unknown as in a virtual machine, every NIC that is no virtual function. Never management
 * functions and fast paths. */
struct rdma_endpoint {
	const struct pci_device *function; /* NULL: not known */
	bool is_virtual;
	bool is_management; /* a function that manages the node, and no NIC */
	/* The fast path of a virtual machine's ordinary network: Azure's accelerated networking. */
	bool is_fast_path;
	bool is_for_jobs;
};

struct endpoints {
	const struct node *node; /* the owner of the lists */
	bool complete; /* what every function is and where it is was read: no NIC can be missing here */
	LIST(struct gpu_endpoint) gpus;	 /* as in pci.devices */
	LIST(struct rdma_endpoint) rdma; /* one for each of rdma.devices */
};

/* GPU and NIC are on one board (GB10): two such nodes are mostly joined by a cable, and no slot is between. */
bool endpoints_are_integrated(const struct endpoints *endpoints);

const struct endpoints *endpoints_find(const struct node *node, struct arena *arena);

#endif
