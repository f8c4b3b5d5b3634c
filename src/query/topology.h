/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology.h - the path between two PCI functions, from the PCI tree in the facts. */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include "facts/facts.h"

#define PATH_PORTS_MAX 32

/* ACS bits that redirect a request between two peers to the root complex, as in Linux (drivers/pci/p2pdma.c,
 * pci_bridge_has_acs_redir). UpstreamFwd is not among them: it forwards what a port further down has redirected, and
 * redirects nothing itself (PCIe 6.0, 6.12.1.1). */
#define ACS_REDIRECT (PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_EC)

struct pci_path {
	enum path_class class;
	/* Bridges from either end up to, not including, the bridge that both are below; all the way
	 * to the root where there is none. */
	const struct pci_device *ports[PATH_PORTS_MAX];
	size_t count;
};

/* A device and the bridges above it, nearest first: kept where one device has many paths. */
struct pci_chain {
	const struct pci_device *device;
	const struct pci_device *above[PATH_PORTS_MAX];
	size_t count;
};

/* The bridges above DEVICE, nearest first; returns how many there are. */
size_t topology_above(const struct node *node, const struct pci_device *device,
		      const struct pci_device *above[PATH_PORTS_MAX]);
void topology_path(const struct node *node, const struct pci_device *a, const struct pci_device *b,
		   struct pci_path *path);

void topology_chain(const struct node *node, const struct pci_device *device,
		    struct pci_chain *chain);
void topology_path_between(const struct pci_chain *a, const struct pci_chain *b,
			   struct pci_path *path);

/* A NIC that RDMA runs over: a physical 15b3 network function, or a virtual one that an RDMA device
 * belongs to; not the management function of an NVSwitch. */
bool topology_is_nic(const struct node *node, const struct pci_device *device);
size_t topology_gpus(const struct node *node);

/* The IOMMU group of a function, or NULL: in none, or not known. */
const struct iommu_device *topology_iommu(const struct node *node, const struct pci_device *device);

/*
 * The whole table: every GPU's path to every other GPU and to every NIC, its nearest NIC, and what
 * each NIC is for. From the facts alone; what is not known there stays unknown.
 *
 * No file says what a NIC is for, so its role follows from how GPUs would use it, and only in clear
 * cases:
 *
 *   A NIC is passed over when every GPU has another NIC that is nearer and below its own switch (PIX,
 *   PXB), or that is as near, of another model, and faster with both ports up. NCCL takes the nearest
 *   NICs too (graph/topo.cc), so jobs leave such a NIC alone. "Another model" keeps a compute NIC that
 *   came up at half its rate from being taken for a storage NIC.
 *
 *   compute      not passed over
 *   management   passed over, and the default route leaves through it (or a bond, bridge or VLAN over
 *                it): how the node itself is reached
 *   storage      passed over without the default route: what else so fast a NIC would be bought for
 *   unknown      there is no GPU; or passed over with no port up: nothing is plugged in
 *
 * The default route alone says nothing: many nodes have one network for everything. VPD tells the
 * product that was bought and not its use: the same ConnectX-7 serves for all three. In a virtual
 * machine the tree is the hypervisor's own, so that only speed and model count.
 *
 * Virtual functions whose physical one is on this node are not in the table: they lie where that
 * one lies, and there can be hundreds, idle or passed to virtual machines.
 */
/* Of either kind. A node has some dozens; a tree can have any number, and the table one entry for each pair. With more
 * the table is not known. */
#define TOPOLOGY_ENDS_MAX 256

enum topology_end { END_NONE, END_GPU, END_NIC };
enum topology_end topology_end(const struct node *node, const struct pci_device *device);
bool topology_is_gpu(const struct pci_device *device);
void topology_table(const struct node *node, struct topology_facts *table, struct arena *arena);

#endif
