// SPDX-License-Identifier: GPL-2.0
/*
 * fakepci - a PCI root bus for hardware that is not there. Its config space is memory, filled from
 * a file of records; the kernel scans, sizes and assigns it like any other bus, so that everything
 * below /sys/bus/pci is its own. Nothing stands behind the BARs: no real driver may bind here.
 *
 * What can be written is data too: each byte of config space has a mask of the bits that change. A
 * BAR of 16 MiB is four bytes with 0xff000000 for a mask, as in hardware (PCI 3.0, 6.2.5.1).
 */
#include <linux/fs.h>
#include <linux/kernel_read_file.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/vmalloc.h>

#define CONFIG_BYTES 4096

/* One function. Little-endian, as written by pci.py. */
struct record {
	s32 parent; /* index of the bridge above, -1: on the root bus */
	u32 devfn;
	u8 config[CONFIG_BYTES];
	u8 writable[CONFIG_BYTES];
};

static char *file = "/etc/fakepci";
module_param(file, charp, 0444);
MODULE_PARM_DESC(file, "the records");

static int first_bus = 0x90;
module_param(first_bus, int, 0444);
static int last_bus = 0xfe;
module_param(last_bus, int, 0444);

static int node = NUMA_NO_NODE;
module_param(node, int, 0444);
MODULE_PARM_DESC(node, "NUMA node of the bus");

static unsigned long long window_start = 1ULL << 44;
module_param(window_start, ullong, 0444);
static unsigned long long window_bytes = 1ULL << 43;
module_param(window_bytes, ullong, 0444);
MODULE_PARM_DESC(window_bytes, "room for BARs, all of them 64-bit and prefetchable");

static int lost_bus = -1, lost_devfn;
module_param(lost_bus, int, 0644);
module_param(lost_devfn, int, 0644);
MODULE_PARM_DESC(lost_bus, "a function that answers no more, as one that fell off the bus");

static struct record *records;
static size_t records_count;
static struct pci_bus *root;
static struct pci_sysdata sysdata;
static struct resource buses = { .name = "fakepci bus", .flags = IORESOURCE_BUS };
static struct resource window = {
	.name = "fakepci memory",
	.flags = IORESOURCE_MEM | IORESOURCE_PREFETCH | IORESOURCE_MEM_64,
};

/* The kernel numbers the buses, so where a function stands follows from its bridge's registers. */
static struct record *find_record(struct pci_bus *bus, unsigned int devfn)
{
	size_t i;

	for (i = 0; i < records_count; i++) {
		struct record *r = &records[i];
		int on = r->parent < 0 ? first_bus : records[r->parent].config[PCI_SECONDARY_BUS];

		if (on == bus->number && r->devfn == devfn)
			return r;
	}
	return NULL;
}

static int read_config(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	struct record *r = find_record(bus, devfn);

	*value = ~0U;
	if (!r || where + size > CONFIG_BYTES)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (bus->number == lost_bus && devfn == lost_devfn)
		return PCIBIOS_SUCCESSFUL;
	*value = 0;
	memcpy(value, r->config + where, size);
	return PCIBIOS_SUCCESSFUL;
}

static int write_config(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	struct record *r = find_record(bus, devfn);
	int i;

	if (!r || where + size > CONFIG_BYTES)
		return PCIBIOS_DEVICE_NOT_FOUND;
	for (i = 0; i < size; i++, value >>= 8) {
		u8 mask = r->writable[where + i];

		r->config[where + i] = (r->config[where + i] & ~mask) | (value & mask);
	}
	return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops config_ops = { .read = read_config, .write = write_config };

static int scan(void)
{
	LIST_HEAD(resources);
	int rc;

	rc = request_resource(&iomem_resource, &window);
	if (rc)
		return rc;
	pci_add_resource(&resources, &buses);
	pci_add_resource(&resources, &window);
	pci_lock_rescan_remove();
	root = pci_create_root_bus(NULL, first_bus, &config_ops, &sysdata, &resources);
	if (root) {
		pci_scan_child_bus(root);
		pci_assign_unassigned_bus_resources(root);
		pcie_bus_configure_settings(root);
		pci_bus_add_devices(root);
	} else {
		pci_free_resource_list(&resources);
		release_resource(&window);
		rc = -ENODEV;
	}
	pci_unlock_rescan_remove();
	return rc;
}

static int __init fakepci_init(void)
{
	void *content = NULL;
	ssize_t size = kernel_read_file_from_path(file, 0, &content, 64 << 20, NULL,
						  READING_UNKNOWN);
	int rc;

	if (size < 0)
		return size;
	records = content;
	records_count = size / sizeof(*records);
	sysdata.node = node;
	buses.start = first_bus;
	buses.end = last_bus;
	window.start = window_start;
	window.end = window_start + window_bytes - 1;
	rc = scan();
	if (rc)
		vfree(records);
	return rc;
}

static void __exit fakepci_exit(void)
{
	pci_lock_rescan_remove();
	pci_stop_root_bus(root);
	pci_remove_root_bus(root);
	pci_unlock_rescan_remove();
	release_resource(&window);
	vfree(records);
}

module_init(fakepci_init);
module_exit(fakepci_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("PCI functions from a file, for tests");
/* kernel_read_file_from_path() */
MODULE_IMPORT_NS(VFS_internal_I_am_really_a_filesystem_and_am_NOT_a_driver);
