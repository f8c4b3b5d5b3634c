/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology.c - the path between two PCI functions, from the PCI tree in the facts. */
#include "query/topology.h"

#include <string.h>

#include "query/gpus.h"
#include "query/node-find.h"
#include "query/pci-device.h"

#define CLASS_BRIDGE 0x06 /* PCI Code and ID Assignment Specification, 1.7 */

size_t topology_above(const struct node *node, const struct pci_device *device,
		      const struct pci_device *above[PATH_PORTS_MAX])
{
	size_t n = 0;

	/* A damaged copy can make a bridge its own parent: the limit ends that. */
	while (device && is_known(device->parent) && n < PATH_PORTS_MAX / 2) {
		device = node_pci(node, device->parent.value);
		if (device)
			above[n++] = device;
	}
	return n;
}

static bool same_known(struct fact_u64 a, struct fact_u64 b)
{
	return is_known(a) && is_known(b) && a.value == b.value;
}

/* Returns the distance of two devices without a common bridge: that of their host bridges. */
static enum path_class class_across(const struct pci_device *a, const struct pci_device *b)
{
	if (!is_known(a->root) || !is_known(b->root))
		return PATH_UNKNOWN;
	if (strcmp(a->root.value, b->root.value) == 0)
		return PATH_PHB;
	if (same_known(a->numa_node, b->numa_node))
		return PATH_NODE;
	return is_known(a->numa_node) && is_known(b->numa_node) ? PATH_SYS : PATH_UNKNOWN;
}

/* Below one bridge: more than one switch is between them when another upstream port is. */
static enum path_class class_below(const struct pci_path *path)
{
	for (size_t i = 0; i < path->count; i++)
		if (known_is(path->ports[i]->port, PCI_UPSTREAM_PORT))
			return PATH_PXB;
	return PATH_PIX;
}

void topology_chain(const struct node *node, const struct pci_device *device,
		    struct pci_chain *chain)
{
	chain->device = device;
	chain->count = topology_above(node, device, chain->above);
}

void topology_path_between(const struct pci_chain *a, const struct pci_chain *b,
			   struct pci_path *path)
{
	size_t na = a->count, nb = b->count;
	bool meet = false;

	while (na && nb && a->above[na - 1] == b->above[nb - 1]) {
		meet = true;
		na--;
		nb--;
	}
	*path = (struct pci_path){ .class = PATH_UNKNOWN };
	for (size_t i = 0; i < na; i++)
		path->ports[path->count++] = a->above[i];
	for (size_t i = 0; i < nb; i++)
		path->ports[path->count++] = b->above[i];
	path->class = meet ? class_below(path) : class_across(a->device, b->device);
}

void topology_path(const struct node *node, const struct pci_device *a, const struct pci_device *b,
		   struct pci_path *path)
{
	struct pci_chain chain_a, chain_b;

	topology_chain(node, a, &chain_a);
	topology_chain(node, b, &chain_b);
	topology_path_between(&chain_a, &chain_b, path);
}

static bool has_rdma_device(const struct node *node, const struct pci_device *device)
{
	for_each(d, &node->rdma.devices)
		if (is_known(d->bdf) && str_is(device->bdf, d->bdf.value))
			return true;
	return false;
}

bool topology_is_nic(const struct node *node, const struct pci_device *device)
{
	/* Most devices are bridges: they are rejected first. */
	if (is_known(device->class_id) && device->class_id.value >> 16 == CLASS_BRIDGE)
		return false;
	if (pci_is_gpu(device) || pci_is_nvswitch(device) || str_is(device->sub_model, "SW_MNG"))
		return false;
	if (!pci_is_mlx(device))
		return has_rdma_device(node, device);
	return !is_known(device->physical_function) || has_rdma_device(node, device);
}

size_t topology_gpus(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->pci.devices)
		n += pci_is_gpu(d);
	return n;
}

const struct iommu_device *topology_iommu(const struct node *node, const struct pci_device *device)
{
	return is_known(device->bdf) ? LIST_FIND(&node->iommu.devices, device->bdf.value) : NULL;
}
