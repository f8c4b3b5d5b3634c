/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pci-config.h - the one place that calls libpci: BARs as the kernel sized them, and the registers
 * of configuration space. Nothing is ever written to a device.
 */
#ifndef PROBES_PCI_CONFIG_H
#define PROBES_PCI_CONFIG_H

#include "facts/facts.h"
#include "host/host.h"

#define PCI_DEVICES "/sys/bus/pci/devices"

/* linux/ioport.h; the third column of a resource file. */
#define PCI_RESOURCE_IO 0x100
#define PCI_RESOURCE_PREFETCH 0x2000
#define PCI_RESOURCE_64 0x100000
#define PCI_RESOURCE_UNSET 0x20000000

/* See struct pci_device: functions whose registers are read. */
bool pci_matters(const struct pci_device *device);
/* A PCI-to-PCI bridge: ports of switches and of the root complex are such. */
bool pci_is_bridge(const struct pci_device *device);

/* The question for host_query(). USER is a struct pci_facts with the functions of the node, with bdf, class_id and
 * power_state; FACTS becomes the same list with the content of registers and resource files. libpci ends the process
 * when a file that the kernel always has is missing or malformed. */
host_ask pci_config_ask;

#endif
