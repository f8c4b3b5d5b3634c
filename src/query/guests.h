/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guests.h - PCI functions that this host gives to virtual machines. Pure. */
#ifndef GUESTS_H
#define GUESTS_H

#include "facts/facts.h"

/*
 * Whether the function is reserved for virtual machines on purpose. Known true where it is bound to
 * vfio-pci or pci-stub and
 *   a virtual machine has vfio functions open, or
 *   its driver_override names that driver (libvirt, driverctl, KubeVirt), or
 *   the ids= of vfio-pci name its model, and no GPU of the model has another driver, or
 *   no GPU has another driver, and the NVIDIA driver is not installed.
 * Unknown where it is bound and one of these was not read. WHY, if not NULL, and FACT say which; FACT also
 * names what was not read.
 */
struct fact_bool guest_function(const struct node *node, const struct pci_device *device,
				const char **why, const char **fact);

/* ids= of vfio-pci gives away all of several GPUs of DEVICE's model, the host has none left although it has the NVIDIA
 * driver, and no virtual machine runs with one: ids= names both of two twins. */
bool guests_have_all_by_ids(const struct node *node, const struct pci_device *device);

/* The configuration gives DEVICE to vfio-pci or pci-stub, and nouveau, a frame buffer's driver or none has it. FACT
 * says so. False where nvidia has it: a job may use it. */
bool guest_lacks(const struct node *node, const struct pci_device *device, const char **fact);

struct guest_gpus {
	size_t gpus;  /* NVIDIA GPUs on the bus */
	size_t given; /* on purpose, and those that the configuration gives and another driver has */
	size_t bound;	 /* held back, on purpose or not */
	size_t unread;	 /* their driver, or its purpose, was not read */
	const char *why; /* of the first that is given */
	const char *fact;
};
struct guest_gpus guest_gpus(const struct node *node);

/* Returns true if a virtual machine can have a function of this host: one is bound to VFIO's driver, on purpose or
 * not, or its driver was not read. */
bool node_may_have_vfio(const struct node *node);

/* Returns true if vfio-pci or pci-stub has all GPUs, on purpose or not: this host needs no driver for them. */
bool guests_hold_all_gpus(const struct node *node);

/* Returns true if all GPUs are assigned to virtual machines on purpose: no job runs on this host itself. */
bool guests_have_all_gpus(const struct node *node);

#endif
