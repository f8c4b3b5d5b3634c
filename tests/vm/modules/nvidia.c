// SPDX-License-Identifier: GPL-2.0
/*
 * nvidia - stands in for NVIDIA's driver: the same module and parameter names, the same text below
 * /proc/driver/nvidia, the same character device numbers; it binds GPUs and NVSwitches by class and
 * does nothing with them. Facts from open-gpu-kernel-modules: nv-reg.h (parameters, all of them
 * with permission 0, so that /sys/module/nvidia/parameters is not there), nv-procfs.c,
 * nv-pci-table.c.
 */
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "nvidia.h"

/* The name after NVreg_, the name in "params", and the value when nobody sets it. */
#define NUMBERS(X)                                                                                \
	X(ResmanDebugLevel, ResmanDebugLevel, ~0)                                                 \
	X(RmLogonRC, RmLogonRC, 1)                                                                \
	X(ModifyDeviceFiles, ModifyDeviceFiles, 1)                                                \
	X(DeviceFileUID, DeviceFileUID, 0)                                                        \
	X(DeviceFileGID, DeviceFileGID, 0)                                                        \
	X(DeviceFileMode, DeviceFileMode, 0666)                                                   \
	X(InitializeSystemMemoryAllocations, InitializeSystemMemoryAllocations, 1)                \
	X(UsePageAttributeTable, UsePageAttributeTable, ~0)                                       \
	X(EnableMSI, EnableMSI, 1)                                                                \
	X(EnablePCIeGen3, EnablePCIeGen3, 0)                                                      \
	X(MemoryPoolSize, MemoryPoolSize, 0)                                                      \
	X(KMallocHeapMaxSize, KMallocHeapMaxSize, 0)                                              \
	X(VMallocHeapMaxSize, VMallocHeapMaxSize, 0)                                              \
	X(IgnoreMMIOCheck, IgnoreMMIOCheck, 0)                                                    \
	X(EnableStreamMemOPs, EnableStreamMemOPs, 0)                                              \
	X(EnableUserNUMAManagement, EnableUserNUMAManagement, 1)                                  \
	X(NvLinkDisable, NvLinkDisable, 0)                                                        \
	X(RestrictProfilingToAdminUsers, RmProfilingAdminOnly, 1)                                 \
	X(PreserveVideoMemoryAllocations, PreserveVideoMemoryAllocations, 0)                      \
	X(EnableS0ixPowerManagement, EnableS0ixPowerManagement, 0)                                \
	X(S0ixPowerManagementVideoMemoryThreshold, S0ixPowerManagementVideoMemoryThreshold, 256)  \
	X(DynamicPowerManagement, DynamicPowerManagement, 3)                                      \
	X(DynamicPowerManagementVideoMemoryThreshold, DynamicPowerManagementVideoMemoryThreshold, \
	  200)                                                                                    \
	X(RegisterPCIDriver, RegisterPCIDriver, 1)                                                \
	X(EnablePCIERelaxedOrderingMode, EnablePCIERelaxedOrderingMode, 0)                        \
	X(EnableResizableBar, EnableResizableBar, 0)                                              \
	X(EnableGpuFirmware, EnableGpuFirmware, 18)                                               \
	X(EnableGpuFirmwareLogs, EnableGpuFirmwareLogs, 2)                                        \
	X(RmNvlinkBandwidthLinkCount, RmNvlinkBandwidthLinkCount, 0)                              \
	X(EnableDbgBreakpoint, EnableDbgBreakpoint, 0)                                            \
	X(OpenRmEnableUnsupportedGpus, OpenRmEnableUnsupportedGpus, 1)                            \
	X(DmaRemapPeerMmio, DmaRemapPeerMmio, 1)                                                  \
	X(ImexChannelCount, ImexChannelCount, 2048)                                               \
	X(CreateImexChannel0, CreateImexChannel0, 0)                                              \
	X(GrdmaPciTopoCheckOverride, GrdmaPciTopoCheckOverride, 0)

#define STRINGS(X)                 \
	X(CoherentGPUMemoryMode)   \
	X(RegistryDwords)          \
	X(RegistryDwordsPerDevice) \
	X(RmMsg)                   \
	X(GpuBlacklist)            \
	X(TemporaryFilePath)       \
	X(ExcludedGpus)

#define DEFINE_NUMBER(name, shown, value)       \
	static int NVreg_##name = (int)(value); \
	module_param(NVreg_##name, int, 0);
NUMBERS(DEFINE_NUMBER)

#define DEFINE_STRING(name)        \
	static char *NVreg_##name; \
	module_param(NVreg_##name, charp, 0);
STRINGS(DEFINE_STRING)

/* Of the stand-in only: what a real driver of another kind or version would show. */
static char *standin_version = NVIDIA_VERSION;
module_param(standin_version, charp, 0);
static bool standin_proprietary;
module_param(standin_proprietary, bool, 0);

#define NVIDIA_MAJOR 195
#define CONTROL_MINOR 255
#define GPUS_MAX 64

static struct proc_dir_entry *root, *gpus;
static struct pci_dev *found[GPUS_MAX]; /* by minor */

int nvidia_standin(void)
{
	return 0;
}
EXPORT_SYMBOL_GPL(nvidia_standin);

int nvidia_p2p_get_pages(u64 token, u32 space, u64 address, u64 length,
			 struct nvidia_p2p_page_table **table, void (*freed)(void *data),
			 void *data)
{
	return -EINVAL;
}
EXPORT_SYMBOL_GPL(nvidia_p2p_get_pages);

/* ---- /proc/driver/nvidia ---- */

static int show_params(struct seq_file *s, void *unused)
{
#define SHOW_NUMBER(name, shown, value) seq_printf(s, #shown ": %u\n", NVreg_##name);
	NUMBERS(SHOW_NUMBER)
#define SHOW_STRING(name) seq_printf(s, #name ": \"%s\"\n", NVreg_##name ?: "");
	STRINGS(SHOW_STRING)
	return 0;
}

static int show_version(struct seq_file *s, void *unused)
{
	if (standin_proprietary)
		seq_printf(s, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  %s\n",
			   standin_version, "Tue Feb 27 22:06:54 UTC 2024");
	else
		seq_printf(s, "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  %s  %s\n",
			   standin_version, "Release Build  (builder@example)  ");
	seq_puts(s, "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14+deb12u1) \n");
	return 0;
}

static int show_information(struct seq_file *s, void *unused)
{
	unsigned int minor = (unsigned long)s->private;
	struct pci_dev *pdev = found[minor];

	seq_puts(s, "Model: \t\t NVIDIA H200\n");
	seq_puts(s, "IRQ:   \t\t 16\n");
	seq_printf(s, "GPU UUID: \t GPU-00000000-0000-0000-0000-%012x\n", minor);
	seq_puts(s, "Video BIOS: \t 96.00.a5.00.1a\n");
	seq_puts(s, "Bus Type: \t PCIe\n");
	seq_puts(s, "DMA Size: \t 52 bits\n");
	seq_puts(s, "DMA Mask: \t 0xfffffffffffff\n");
	seq_printf(s, "Bus Location: \t %s\n", pci_name(pdev));
	seq_printf(s, "Device Minor: \t %u\n", minor);
	seq_printf(s, "GPU Firmware: \t %s\n", NVreg_EnableGpuFirmware ? standin_version : "N/A");
	seq_puts(s, "GPU Excluded:\t No\n");
	return 0;
}

static int show_empty_registry(struct seq_file *s, void *unused)
{
	seq_puts(s, "Binary: \"\"\n");
	return 0;
}

static int show_capability(struct seq_file *s, void *unused)
{
	unsigned long minor = (unsigned long)s->private;

	seq_printf(s, "DeviceFileMinor: %lu\nDeviceFileMode: %u\nDeviceFileModify: 1\n", minor,
		   minor == 2 ? 0444 : 0400);
	return 0;
}

static int make_proc(void)
{
	struct proc_dir_entry *mig;

	root = proc_mkdir("driver/nvidia", NULL);
	gpus = root ? proc_mkdir("gpus", root) : NULL;
	if (!gpus)
		return -ENOMEM;
	proc_create_single("params", 0444, root, show_params);
	proc_create_single("version", 0444, root, show_version);
	proc_create_single("registry", 0644, root, show_empty_registry);
	mig = proc_mkdir("capabilities", root);
	mig = mig ? proc_mkdir("mig", mig) : NULL;
	if (!mig)
		return -ENOMEM;
	proc_create_single_data("config", 0400, mig, show_capability, (void *)1);
	proc_create_single_data("monitor", 0444, mig, show_capability, (void *)2);
	return 0;
}

/* ---- binding ---- */

static int gpu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	unsigned long minor = 0;
	struct proc_dir_entry *folder;
	int rc;

	while (minor < GPUS_MAX && found[minor])
		minor++;
	if (minor == GPUS_MAX)
		return -ENOSPC;
	rc = pci_enable_device(pdev);
	if (rc)
		return rc;
	pci_set_master(pdev);
	found[minor] = pdev;
	folder = proc_mkdir(pci_name(pdev), gpus);
	if (folder) {
		proc_create_single_data("information", 0444, folder, show_information,
					(void *)minor);
		proc_create_single("registry", 0644, folder, show_empty_registry);
	}
	return 0;
}

static void gpu_remove(struct pci_dev *pdev)
{
	size_t i;

	remove_proc_subtree(pci_name(pdev), gpus);
	for (i = 0; i < GPUS_MAX; i++)
		if (found[i] == pdev)
			found[i] = NULL;
	pci_disable_device(pdev);
}

static int switch_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return pci_enable_device(pdev);
}

static void switch_remove(struct pci_dev *pdev)
{
	pci_disable_device(pdev);
}

#define NVIDIA_CLASS(code) \
	PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, PCI_ANY_ID), .class = (code) << 8, .class_mask = ~0

static const struct pci_device_id all_ids[] = { { NVIDIA_CLASS(PCI_CLASS_DISPLAY_VGA) },
						{ NVIDIA_CLASS(PCI_CLASS_DISPLAY_3D) },
						{ NVIDIA_CLASS(PCI_CLASS_BRIDGE_OTHER) },
						{} };
MODULE_DEVICE_TABLE(pci, all_ids);

static const struct pci_device_id gpu_ids[] = { { NVIDIA_CLASS(PCI_CLASS_DISPLAY_VGA) },
						{ NVIDIA_CLASS(PCI_CLASS_DISPLAY_3D) },
						{} };
static const struct pci_device_id switch_ids[] = { { NVIDIA_CLASS(PCI_CLASS_BRIDGE_OTHER) }, {} };

static struct pci_driver gpu_driver = {
	.name = "nvidia",
	.id_table = gpu_ids,
	.probe = gpu_probe,
	.remove = gpu_remove,
};
static struct pci_driver switch_driver = {
	.name = "nvidia-nvswitch",
	.id_table = switch_ids,
	.probe = switch_probe,
	.remove = switch_remove,
};

static const struct file_operations no_operations = { .owner = THIS_MODULE };

static int register_drivers(void)
{
	int rc;

	if (!NVreg_RegisterPCIDriver)
		return 0;
	rc = pci_register_driver(&switch_driver);
	if (rc)
		return rc;
	rc = pci_register_driver(&gpu_driver);
	if (rc)
		pci_unregister_driver(&switch_driver);
	return rc;
}

static void unregister_numbers(void)
{
	__unregister_chrdev(NVIDIA_MAJOR, CONTROL_MINOR, 1, "nvidiactl");
	__unregister_chrdev(NVIDIA_MAJOR, 0, CONTROL_MINOR - 1, "nvidia");
}

static int __init nvidia_init(void)
{
	int rc = __register_chrdev(NVIDIA_MAJOR, 0, CONTROL_MINOR - 1, "nvidia", &no_operations);

	if (rc)
		return rc;
	rc = __register_chrdev(NVIDIA_MAJOR, CONTROL_MINOR, 1, "nvidiactl", &no_operations);
	if (rc) {
		__unregister_chrdev(NVIDIA_MAJOR, 0, CONTROL_MINOR - 1, "nvidia");
		return rc;
	}
	rc = make_proc();
	if (!rc)
		rc = register_drivers();
	if (rc) {
		proc_remove(root);
		unregister_numbers();
	}
	return rc;
}

static void __exit nvidia_exit(void)
{
	if (NVreg_RegisterPCIDriver) {
		pci_unregister_driver(&gpu_driver);
		pci_unregister_driver(&switch_driver);
	}
	proc_remove(root);
	unregister_numbers();
}

module_init(nvidia_init);
module_exit(nvidia_exit);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION(NVIDIA_VERSION);
MODULE_DESCRIPTION("stand-in for NVIDIA's driver");
