/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules.c - kernel modules other than peer memory: the right ones loaded, the wrong ones not. */
#include <string.h>

#include "gate.h"
#include "parse/nvidia.h"

static void judge_nouveau(struct judge *j)
{
	const struct node *node = j->node;
	size_t bound = 0;

	if (gate_no_gpu(j))
		return;
	for_each(d, &node->pci.devices) {
		if (!pci_is_gpu(d) || !str_is(d->driver, "nouveau"))
			continue;
		FAIL(j, .subject = d->bdf.value, .observed = "bound to nouveau",
		     .expected = "bound to nvidia",
		     .evidence = { say(j, "pci.devices[%s].driver", d->bdf.value),
				   "modules.loaded[nouveau].state" });
		bound++;
	}
	if (bound)
		return;
	if (gate_no_modules(j))
		return;
	if (!node_module(node, "nouveau"))
		PASS(j, .evidence = { "modules.loaded" });
	else if (known_is(node->driver.loaded, true))
		/* Loaded, and no GPU is its: another vendor's tool asked for it, or it came too late. */
		FAIL_AS(j, SEVERITY_WARN, .observed = "nouveau is loaded, though no GPU is bound to it",
			.expected = "nouveau not loaded",
			.evidence = { "modules.loaded[nouveau].state" });
	else
		FAIL(j, .observed = "nouveau is loaded and the NVIDIA driver is not",
		     .expected = "nouveau not loaded",
		     .evidence = { "modules.loaded[nouveau].state" });
}

static bool is_wrong_driver(const char *driver)
{
	static const char *const wrong[] = { "nova_core", "nova-core", "simpledrm", "simple-framebuffer",
					     "vfio-pci",  "pci-stub",  "nvidiafb",  "nova_drm" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (strcmp(wrong[i], driver) == 0)
			return true;
	return false;
}

static void judge_wrong_driver(struct judge *j)
{
	size_t right = 0, before = j->findings->count;

	if (gate_no_gpu(j))
		return;
	for_each(d, &j->node->pci.devices) {
		const char *fact;

		if (!pci_is_gpu(d))
			continue;
		fact = say(j, "pci.devices[%s].driver", d->bdf.value);
		if (is_unknown(d->driver))
			UNKNOWN(j, .subject = d->bdf.value, .evidence = { fact });
		else if (is_known(d->driver) && is_wrong_driver(d->driver.value))
			FAIL(j, .subject = d->bdf.value,
			     .observed = say(j, "bound to %s", d->driver.value),
			     .expected = "bound to nvidia", .evidence = { fact });
		else
			right++;
	}
	if (right && j->findings->count == before)
		PASS(j, .evidence = { "pci.devices" });
}

static void judge_uvm(struct judge *j)
{
	const struct node *node = j->node;

	if (gate_no_gpu(j))
		return;
	if (known_is(node->driver.loaded, false))
		NOT_APPLICABLE(j, .observed = "the NVIDIA driver is not loaded",
			       .evidence = { "driver.loaded" });
	else if (gate_no_modules(j))
		return;
	else if (node_module(node, "nvidia_uvm"))
		PASS(j, .evidence = { "modules.loaded[nvidia_uvm].state" });
	else
		FAIL(j, .observed = "nvidia_uvm is not loaded", .expected = "nvidia_uvm loaded",
		     .evidence = { "modules.loaded" });
}

/* Who needs gdrdrv: an explicit CPU handler, and NVSHMEM up to 3.2.5 (with which DeepEP was first
 * released). */
static bool needs_gdrdrv(struct judge *j, const char **why)
{
	const char *handler = node_env(j->node, "NVSHMEM_IBGDA_NIC_HANDLER");
	const struct software_item *nvshmem = node_software(j->node, "nvshmem");

	if (handler && strcmp(handler, "cpu") == 0) {
		*why = "NVSHMEM_IBGDA_NIC_HANDLER=cpu asks for it";
		return true;
	}
	if (nvshmem && version_compare(nvshmem->version.value, "3.2.5") <= 0) {
		*why = say(j, "NVSHMEM %s needs it", nvshmem->version.value);
		return true;
	}
	return false;
}

static void judge_gdrdrv(struct judge *j)
{
	const struct node *node = j->node;
	const char *why;

	if (gate_no_gpu(j))
		return;
	if (gate_no_modules(j))
		return;
	if (node_module(node, "gdrdrv"))
		PASS(j, .evidence = { "modules.loaded[gdrdrv].state" });
	else if (needs_gdrdrv(j, &why))
		FAIL(j, .observed = say(j, "gdrdrv is not loaded, and %s", why),
		     .expected = "gdrdrv loaded", .evidence = { "modules.loaded", "software.items" });
	else
		FAIL_AS(j, SEVERITY_INFO, .observed = "gdrdrv is not loaded; nothing found here needs it",
			.expected = "nothing; it is a fallback", .evidence = { "modules.loaded" });
}

static const struct rule modules_rules[] = {
	{
		.id = "modules/nouveau-loaded",
		.title = "The nouveau driver has the GPU",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.judge = judge_nouveau,
		.impact = "The NVIDIA driver cannot take the GPU: no CUDA.",
		.remedy = "Blacklist nouveau (blacklist nouveau; options nouveau modeset=0), rebuild the "
			  "initramfs, reboot.",
		.fix = "blacklist",
		.activation = ACTIVATION_REBOOT,
		.reads = "The driver bound to each NVIDIA GPU, and the loaded modules.",
		.why = "Whichever driver probes first keeps the GPU, and nouveau is often in the initramfs. "
		       "That nouveau could drive a GPU that nvidia has is no fault.",
		.check = "lspci -k -d 10de:; lsmod | grep nouveau",
		.sources = "open-gpu-kernel-modules: kernel-open/nvidia/nv.c (probe routine not called)\n"
			   "modprobe.d(5)",
	},
	{
		.id = "modules/wrong-driver-bound",
		.title = "Another driver has the GPU",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_wrong_driver,
		.impact = "This GPU is not there for CUDA on this host.",
		.remedy = "If the GPU is not meant for a virtual machine, remove what binds it (vfio-pci.ids= "
			  "on the command line, driverctl, modprobe.d) and reboot.",
		.activation = ACTIVATION_REBOOT,
		.reads = "The driver link of each NVIDIA display controller.",
		.why = "vfio-pci and pci-stub hold a GPU for a guest; nova-core and simpledrm take it before "
		       "nvidia does.",
		.check = "lspci -k -d 10de:",
		.sources = "open-gpu-kernel-modules: kernel-open/nvidia/nv.c",
	},
	{
		.id = "modules/nvidia-uvm-not-loaded",
		.title = "nvidia_uvm is not loaded",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_uvm,
		.impact = "cuInit fails with error 999 or 3 where the caller may not load modules: in "
			  "containers, in jobs.",
		.remedy = "modprobe nvidia-uvm; nvidia-modprobe -u -c 0 creates its device nodes. Have it "
			  "loaded at boot (modules-load.d, nvidia-persistenced).",
		.fix = "modules-load",
		.activation = ACTIVATION_NOW,
		.reads = "The loaded modules.",
		.why = "The setuid helper nvidia-modprobe loads it on first use, where it is installed and "
		       "allowed to; a container cannot.",
		.check = "lsmod | grep nvidia_uvm; ls -l /dev/nvidia-uvm",
		.sources = "NVIDIA driver README, chapter on device nodes\n"
			   "github.com/NVIDIA/gpu-operator issue 2685",
	},
	{
		.id = "modules/gdrdrv-not-loaded",
		.title = "gdrdrv (GDRCopy) is not loaded",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.judge = judge_gdrdrv,
		.impact = "NVSHMEM up to 3.2.5 and its CPU handler do not start.",
		.remedy = "Install GDRCopy's kernel module and load gdrdrv, or use NVSHMEM 3.3.9 or later "
			  "with PeerMappingOverride.",
		.fix = "modules-load",
		.activation = ACTIVATION_NOW,
		.reads = "The loaded modules, the NVSHMEM found on disk, NVSHMEM_IBGDA_NIC_HANDLER of the "
			 "process asked for.",
		.why = "DeepEP's guide offers GDRCopy as the way without the registry key. With DeepEP's own "
		       "kernels that way does not work (an open report); NVSHMEM's needs it only where "
		       "stated above.",
		.check = "lsmod | grep gdrdrv; ls -l /dev/gdrdrv",
		.sources = "github.com/deepseek-ai/DeepEP docs/nvshmem.md",
	},
};

RULE_TABLE(modules);
