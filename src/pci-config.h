/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pci-config.h - the one place that calls libpci: BARs as the kernel sized them, and the registers
 * of configuration space. Nothing is ever written to a device.
 */
#ifndef PCI_CONFIG_READ_H
#define PCI_CONFIG_READ_H

#include "facts.h"
#include "host.h"

#define PCI_DEVICES "/sys/bus/pci/devices"

/* See struct pci_device: functions whose registers are read. */
bool pci_matters(const struct pci_device *device);
/* A PCI-to-PCI bridge: ports of switches and of the root complex are such. */
bool pci_is_bridge(const struct pci_device *device);

/* What pci_config_ask() is to ask. */
struct pci_question {
	const struct pci_facts *functions;	/* with bdf, class_id and power_state */
	/* Only whether a function answers, the BARs of display controllers, and the kind and ACS of
	 * bridges: every register costs a bus transaction. */
	bool brief;
};

/*
 * For host_query(). USER is a struct pci_question; FACTS becomes the same list with what registers and resource files say. libpci
 * ends the process when a file that the kernel always has is missing or has no sense in it.
 */
host_ask pci_config_ask;

#endif
