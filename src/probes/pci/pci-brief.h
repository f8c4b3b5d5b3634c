/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pci-brief.h - reads the PCI functions for preflight, with as few reads as it can: GPUs, NVSwitches, NICs with RDMA,
 * and the bridges above them. A server has hundreds of other functions. Each of their files costs some microseconds,
 * and each register a bus transaction.
 *
 * It reads the identity, place and driver of each function. It reads whether GPUs, NVSwitches and NICs answer and may
 * start transfers, the BARs of GPUs, and the kind and ACS of bridges below another bridge. (The ports of the CPU are
 * left out: what they do with traffic is never worse than a warning.) Everything else stays unknown.
 */
#ifndef PCI_BRIEF_H
#define PCI_BRIEF_H

#include "probes/probe.h"

/* When this tree does not say enough (folders for links, no uevent files), nothing is filled, and the functions are to
 * be read in full. */
void pci_read_briefly(struct probe_context *ctx);

/* Fills identity and driver of the function BDF from its uevent file, in which the kernel says all
 * of them: for who reads in full as well. 0, or negative errno with D as it was. */
int pci_read_uevent(struct probe_context *ctx, const char *bdf, struct pci_device *d);

#endif
