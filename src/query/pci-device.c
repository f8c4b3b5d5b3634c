/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-device.c - what a PCI device is, and its BARs. */
#include "query/pci-device.h"

bool pci_is_gpu(const struct pci_device *device)
{
	return known_is(device->vendor_id, 0x10de) && is_known(device->class_id) &&
	       device->class_id.value >> 16 == 0x03;
}

bool pci_is_nvswitch(const struct pci_device *device)
{
	return known_is(device->vendor_id, 0x10de) && is_known(device->class_id) &&
	       device->class_id.value >> 8 == 0x0680;
}

bool pci_is_mlx(const struct pci_device *device)
{
	return known_is(device->vendor_id, 0x15b3) && is_known(device->class_id) &&
	       device->class_id.value >> 16 == 0x02;
}

bool pci_is_data_direct(const struct pci_device *device)
{
	return known_is(device->vendor_id, 0x15b3) && known_is(device->device_id, 0x2100);
}

bool pci_is_for_guest(const struct pci_device *device)
{
	return str_is(device->driver, "vfio-pci") || str_is(device->driver, "pci-stub");
}

const struct pci_bar *pci_bar(const struct pci_device *device, unsigned int index)
{
	for_each(bar, &device->bars)
		if (known_is(bar->index, index))
			return bar;
	return NULL;
}
