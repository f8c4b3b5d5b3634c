/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bdf.c - PCI addresses as sysfs writes them: 0000:1b:00.0 (drivers/pci/probe.c, pci_setup_device). */
#include "parse/bdf.h"

#include "parse/pcie.h"

bool bdf_is(struct span name)
{
	struct pci_address address;

	return pci_address_parse(name, &address);
}

bool bdf_in_path(struct span path, struct span *bdf)
{
	struct span part;
	bool found = false;

	while (span_cut(&path, '/', &part)) {
		if (!bdf_is(part))
			continue;
		*bdf = part;
		found = true;
	}
	return found;
}
