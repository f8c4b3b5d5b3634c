/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology.h - what lies between two PCI functions, from the PCI tree in the facts alone. */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include "facts.h"

#define PATH_PORTS_MAX 32

/* As NCCL and nvidia-smi topo name them, nearest first. */
enum path_class {
	PATH_PIX,	/* one switch between them */
	PATH_PXB,	/* several switches, no host bridge */
	PATH_PHB,	/* through one host bridge: the CPU */
	PATH_NODE,	/* between host bridges of one NUMA node */
	PATH_SYS,	/* between NUMA nodes */
	PATH_UNKNOWN,
};
extern const char *const path_class_words[];

struct pci_path {
	enum path_class class;
	/* Bridges from either end up to, not including, the bridge that both are below; all the way
	 * to the root where there is none. */
	const struct pci_device *ports[PATH_PORTS_MAX];
	size_t count;
};

/* The bridges above DEVICE, nearest first; returns how many there are. */
size_t topology_above(const struct node *node, const struct pci_device *device,
		      const struct pci_device *above[PATH_PORTS_MAX]);
void topology_path(const struct node *node, const struct pci_device *a, const struct pci_device *b,
		   struct pci_path *path);

/* A NIC that RDMA runs over: a physical 15b3 network function, or a virtual one that an RDMA device
 * belongs to. */
bool topology_is_nic(const struct node *node, const struct pci_device *device);
/* The nearest NIC of a GPU (the first of equals), or NULL when there is none. */
const struct pci_device *topology_nearest_nic(const struct node *node, const struct pci_device *gpu,
					      struct pci_path *path);
size_t topology_gpus(const struct node *node);

/* The IOMMU group of a function, or NULL: in none, or not known. */
const struct iommu_device *topology_iommu(const struct node *node, const struct pci_device *device);

/* What changes what is expected of a node. */
bool node_is_vm(const struct node *node);	/* known to be a virtual machine */
bool node_is_grace(const struct node *node);	/* an NVIDIA Grace CPU */

#endif
