/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bdf.h - PCI addresses as sysfs writes them: 0000:1b:00.0 (drivers/pci/probe.c, pci_setup_device).
 * A domain has four digits or more: VMD and Hyper-V number theirs from 0x10000 on. */
#ifndef PARSE_BDF_H
#define PARSE_BDF_H

#include <stdbool.h>

#include "base/span.h"

bool bdf_is(struct span name);
/* Finds the last part of a device's path that is a PCI address: the function that the device is, or belongs to (a
 * virtio device, a sub-function). False: none. */
bool bdf_in_path(struct span path, struct span *bdf);

#endif
