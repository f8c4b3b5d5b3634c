/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-claims.h - the owners of the BARs of display controllers, and the devices that driverctl binds. */
#ifndef PCI_CLAIMS_H
#define PCI_CLAIMS_H

#include "probes/probe.h"

/* Fills pci.claims, after pci.devices. */
void pci_read_claims(struct probe_context *ctx);
/* Fills pci.overrides. */
void pci_read_overrides(struct probe_context *ctx);

#endif
