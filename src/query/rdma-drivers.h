/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-drivers.h - the module that makes RDMA devices of a network driver's functions: data/rdma-drivers.tsv. Pure. */
#ifndef RDMA_DRIVERS_H
#define RDMA_DRIVERS_H

#include "facts/facts.h"

struct rdma_driver {
	const char *driver;   /* of the PCI function; NULL: none */
	const char *module;   /* that makes the RDMA device; it can be the driver's own */
	const char *provider; /* of libibverbs */
	const char *option;   /* of the kernel's configuration; NULL: not known */
	/* how the names of its auxiliary devices begin, separated by commas; NULL: none */
	const char *auxiliary;
};

extern const struct rdma_driver rdma_drivers[]; /* ends with a NULL module */

/* Looks up the driver of a PCI function; NULL if it is not in the table. */
const struct rdma_driver *rdma_driver_of(const struct pci_device *function);
/* The auxiliary device through which the function offers RDMA, or NULL. */
const struct rdma_auxiliary *rdma_auxiliary_of(const struct node *node,
					       const struct pci_device *function);
/* The function's driver makes auxiliary devices in this kernel, as one of its other functions shows, and none for
 * this one: RDMA is off there, or the function has none. */
bool rdma_is_not_offered(const struct node *node, const struct pci_device *function);

#endif
