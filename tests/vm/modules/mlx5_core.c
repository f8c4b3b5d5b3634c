// SPDX-License-Identifier: GPL-2.0
/* mlx5_core - stands in for the network adapters' driver: it binds them, and makes virtual
 * functions when asked to. */
#include <linux/module.h>
#include <linux/pci.h>

static int mlx5_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int rc = pci_enable_device(pdev);

	if (!rc)
		pci_set_master(pdev);
	return rc;
}

static void mlx5_remove(struct pci_dev *pdev)
{
	pci_disable_sriov(pdev);
	pci_disable_device(pdev);
}

static const struct pci_device_id mlx5_ids[] = { { PCI_DEVICE(PCI_VENDOR_ID_MELLANOX, PCI_ANY_ID),
						   .class = PCI_BASE_CLASS_NETWORK << 16,
						   .class_mask = 0xff << 16 },
						 {} };
MODULE_DEVICE_TABLE(pci, mlx5_ids);

static struct pci_driver mlx5_driver = {
	.name = "mlx5_core",
	.id_table = mlx5_ids,
	.probe = mlx5_probe,
	.remove = mlx5_remove,
	.sriov_configure = pci_sriov_configure_simple,
};
module_pci_driver(mlx5_driver);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("stand-in for mlx5_core");
