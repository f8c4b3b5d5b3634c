/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-capability.c - finds a capability of a PCI function in its configuration space. */
#include "probes/pci/pci-capability.h"

#include <errno.h>
#include <linux/pci_regs.h>

/* A list that leads in circles ends here: the parts of configuration space have no room for more. */
#define CAPABILITIES_MAX 48
#define EXTENDED_MAX 480

int pci_capability(pci_read_register *read, void *user, unsigned int id, uint32_t *value)
{
	uint32_t at;

	if (!read(user, PCI_CAPABILITY_LIST, &at))
		return -ENODATA;
	at &= 0xfc;
	for (int i = 0; at >= PCI_STD_HEADER_SIZEOF; i++) {
		if (i == CAPABILITIES_MAX)
			return -EBADMSG;
		if (!read(user, at, value))
			return -ENODATA;
		if ((*value & 0xff) == id)
			return (int)at;
		at = *value >> 8 & 0xfc;
	}
	return 0;
}

int pci_capability_extended(pci_read_register *read, void *user, unsigned int id)
{
	uint32_t at = PCI_CFG_SPACE_SIZE, value;

	for (int i = 0; at >= PCI_CFG_SPACE_SIZE; i++) {
		if (i == EXTENDED_MAX)
			return -EBADMSG;
		if (!read(user, at, &value))
			return -ENODATA;
		if (PCI_EXT_CAP_ID(value) == id && value)
			return (int)at;
		at = PCI_EXT_CAP_NEXT(value);
	}
	return 0;
}
