// SPDX-License-Identifier: GPL-2.0
/* nvidia-uvm - stands in for NVIDIA's module of that name: its character device, and that it needs
 * nvidia. */
#include <linux/fs.h>
#include <linux/module.h>

#include "nvidia.h"

static dev_t base;

static int __init uvm_init(void)
{
	int rc = nvidia_standin();

	return rc ? rc : alloc_chrdev_region(&base, 0, 2, "nvidia-uvm");
}

static void __exit uvm_exit(void)
{
	unregister_chrdev_region(base, 2);
}

module_init(uvm_init);
module_exit(uvm_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION(NVIDIA_VERSION);
MODULE_DESCRIPTION("stand-in for nvidia-uvm");
