/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wanted-driver.h - the driver that the configuration gives a PCI function to. Pure. */
#ifndef WANTED_DRIVER_H
#define WANTED_DRIVER_H

#include "facts/facts.h"

struct wanted_driver {
	const char *driver; /* vfio-pci, pci-stub, ...; NULL: the configuration names none */
	const char *why;    /* "the option ids= of vfio-pci in /etc/modprobe.d/vfio.conf:1" */
	const char *fact;   /* that says so, or that was not read */
	bool unread;	    /* with DRIVER NULL: it may be named in what was not read */
	bool later;	    /* the file was written after the boot: the next one decides */
};

/*
 * The nearest to the function counts: its driver_override, then driverctl, then ids= of vfio-pci and
 * pci-stub (modprobe.d and the kernel command line).
 */
struct wanted_driver wanted_driver(struct arena *arena, const struct node *node,
				   const struct pci_device *device);

/* Returns the assignment if ids= of MODULE (vfio_pci, pci_stub) names the model of DEVICE; or NULL. */
const struct modprobe_assignment *driver_ids_of(const struct node *node, const char *module,
						const struct pci_device *device);

#endif
