/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-drivers.c - the module that makes RDMA devices of a network driver's functions: data/rdma-drivers.tsv. */
#include "query/rdma-drivers.h"

#include <string.h>

const struct rdma_driver rdma_drivers[] = {
#include "rdma-drivers.inc"
	{ .module = NULL },
};

const struct rdma_driver *rdma_driver_of(const struct pci_device *function)
{
	for (const struct rdma_driver *d = rdma_drivers; d->module; d++)
		if (d->driver && str_is(function->driver, d->driver))
			return d;
	return NULL;
}

static bool is_of(const struct rdma_driver *driver, const struct rdma_auxiliary *auxiliary)
{
	struct span rest = span_of(driver->auxiliary ? driver->auxiliary : ""), prefix;

	while (span_cut(&rest, ',', &prefix))
		if (prefix.n && strncmp(auxiliary->name.value, prefix.p, prefix.n) == 0)
			return true;
	return false;
}

const struct rdma_auxiliary *rdma_auxiliary_of(const struct node *node,
					       const struct pci_device *function)
{
	const struct rdma_driver *driver = rdma_driver_of(function);

	for_each(a, &node->rdma.auxiliary)
		if (driver && is_known(a->bdf) && str_is(function->bdf, a->bdf.value) &&
		    is_of(driver, a))
			return a;
	return NULL;
}

bool rdma_is_not_offered(const struct node *node, const struct pci_device *function)
{
	const struct rdma_driver *driver = rdma_driver_of(function);
	bool others = false;

	if (!driver || !was_read(node->rdma.auxiliary) || rdma_auxiliary_of(node, function))
		return false;
	for_each(a, &node->rdma.auxiliary) {
		others |= is_of(driver, a);
		if (is_unknown(a->bdf))
			return false;
	}
	return others;
}
