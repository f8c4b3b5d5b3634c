// SPDX-License-Identifier: GPL-2.0
/* nouveau - stands in for the driver that must not have the GPUs: it binds them, no more. */
#include <linux/module.h>
#include <linux/pci.h>

static int nouveau_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return pci_enable_device(pdev);
}

static void nouveau_remove(struct pci_dev *pdev)
{
	pci_disable_device(pdev);
}

static const struct pci_device_id nouveau_ids[] = { { PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, PCI_ANY_ID),
						      .class = PCI_BASE_CLASS_DISPLAY << 16,
						      .class_mask = 0xff << 16 },
						    {} };
MODULE_DEVICE_TABLE(pci, nouveau_ids);

static struct pci_driver nouveau_driver = {
	.name = "nouveau",
	.id_table = nouveau_ids,
	.probe = nouveau_probe,
	.remove = nouveau_remove,
};
module_pci_driver(nouveau_driver);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("stand-in for nouveau");
