/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-device.h - what a PCI device is, and its BARs. */
#ifndef PCI_DEVICE_H
#define PCI_DEVICE_H

#include "facts/facts.h"

/* Returns true for a display controller of NVIDIA (10de; VGA or 3D). */
bool pci_is_gpu(const struct pci_device *device);
/* Returns true for a bridge of NVIDIA of class 0680. */
bool pci_is_nvswitch(const struct pci_device *device);
/* Returns true for a NIC of NVIDIA (Mellanox, 15b3): a network or InfiniBand controller. */
bool pci_is_mlx(const struct pci_device *device);
/* Returns true for the second PCI function of a ConnectX-8, on the GPU's side (rdma-core: kernel-boot/rdma_topo). */
bool pci_is_data_direct(const struct pci_device *device);
/* Returns true if vfio-pci or pci-stub has the device: a guest uses it, and the host cannot. */
bool pci_is_for_guest(const struct pci_device *device);
/* Returns the BAR with that register's number, or NULL. */
const struct pci_bar *pci_bar(const struct pci_device *device, unsigned int index);

#endif
