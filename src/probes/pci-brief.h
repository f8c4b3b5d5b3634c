/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pci-brief.h - reads for preflight the PCI functions, with the fewest reads: GPUs, NVSwitches, NICs that RDMA runs
 * over, and the bridges above them. A server has hundreds of other functions, each file of each costs some
 * microseconds, and each register a bus transaction.
 *
 * Of each: identity, place, driver; whether GPUs, NVSwitches and NICs answer, and may start
 * transfers; the BARs of GPUs; kind and ACS of bridges that are below another (what the ports of
 * the CPU do with traffic is never worse than a warning). Everything else stays unknown.
 */
#ifndef PCI_BRIEF_H
#define PCI_BRIEF_H

#include "probes/probe.h"

/* False when this tree does not say enough (folders for links, no uevent files): nothing was filled,
 * and the functions are to be read in full. */
bool pci_brief_read(struct probe_context *ctx);

/* Fills identity and driver of the function BDF from its uevent file, in which the kernel says all
 * of them: for who reads in full as well. 0, or negative errno with D as it was. */
int pci_read_uevent(struct probe_context *ctx, const char *bdf, struct pci_device *d);

#endif
