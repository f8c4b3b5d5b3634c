/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-capability.h - finds a capability in configuration space. A list that cannot be read to its end is not one
 * without the capability: libpci's own search takes a read that failed for the end of the list. */
#ifndef PROBES_PCI_CAPABILITY_H
#define PROBES_PCI_CAPABILITY_H

#include <stdbool.h>
#include <stdint.h>

/* Reads a register of four bytes at AT. Returns false if it could not be read, or is all ones: the kernel gives these
 * for an access that failed (drivers/pci/access.c and pci-sysfs.c, pci_read_config()), and no register that is read
 * here can have them. */
typedef bool pci_read_register(void *user, unsigned int at, uint32_t *value);

/* Returns the offset of the capability, with its first register in VALUE; 0 if it does not exist; -ENODATA if the list
 * cannot be read, -EBADMSG if it has no end. */
int pci_capability(pci_read_register *read, void *user, unsigned int id, uint32_t *value);
int pci_capability_extended(pci_read_register *read, void *user, unsigned int id);

#endif
