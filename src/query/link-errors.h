/* SPDX-License-Identifier: GPL-2.0-or-later */
/* link-errors.h - PCIe errors in the kernel log of the links that lead to a device. Pure: facts in, answer out. */
#ifndef LINK_ERRORS_H
#define LINK_ERRORS_H

#include "facts/facts.h"

/* For a device that was lost, and whose links had errors. */
#define LINK_ERRORS_REMEDY                                                                                                     \
	"The link had errors before: reseat the device, and its riser or cable, or replace them. Check that the power supply " \
	"delivers what the device needs, at its peaks too. If errors come again, "                                             \
	"boot with pcie_aspm=off, and set the slot to a lower PCIe generation in the firmware setup."

struct link_errors {
	uint64_t count; /* 0: there is no such line */
	bool uncorrected;
	const char *bdf;  /* the device or port of its path that has most of them */
	const char *last; /* the last line */
	const char *fact; /* their number */
};

/* Finds the errors of the links that lead to a device: uncorrected ones before corrected ones. */
struct link_errors link_errors_find(struct arena *arena, const struct node *node,
				    const struct pci_device *device);

/* "; its link had 4213 corrected PCIe errors in this boot (0000:00:03.1)", in ARENA; "": there is no such line. FACT, which
 * may be NULL, is set to their number. */
const char *link_errors_text(struct arena *arena, const struct node *node,
			     const struct pci_device *device, const char **fact);

#endif
