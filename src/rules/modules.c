/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules.c - kernel modules other than peer memory: the right ones loaded, the wrong ones not. */
#include <string.h>

#include "evaluate/known.h"
#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "query/gpus.h"
#include "query/guests.h"
#include "query/module-block.h"
#include "query/module-find.h"
#include "query/refusal.h"

static void check_nouveau(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t bound = 0;

	if (skip_without_gpu(ctx))
		return;
	for_each(d, &node->pci.devices) {
		if (!pci_is_gpu(d) || !str_is(d->driver, "nouveau"))
			continue;
		FAIL(ctx, .subject = d->bdf.value, .observed = "bound to nouveau",
		     .expected = "bound to nvidia",
		     .evidence = { fact_path(ctx->arena, "pci.devices", d->bdf.value, "driver"),
				   "modules.loaded[nouveau].state" });
		bound++;
	}
	if (bound)
		return;
	if (skip_without_modules(ctx))
		return;
	if (!node_module(node, "nouveau"))
		PASS(ctx, .evidence = { "modules.loaded" });
	else if (known_is(node->driver.loaded, true))
		/* Loaded, and no GPU is its: another vendor's tool asked for it, or it came too late. */
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed = "nouveau is loaded, though no GPU is bound to it",
			.expected = "nouveau not loaded",
			.evidence = { "modules.loaded[nouveau].state" });
	else
		FAIL(ctx, .observed = "nouveau is loaded and the NVIDIA driver is not",
		     .expected = "nouveau not loaded",
		     .evidence = { "modules.loaded[nouveau].state" });
}

static bool is_wrong_driver(const char *driver)
{
	static const char *const wrong[] = { "nova_core", "nova-core",		"nova_drm",
					     "simpledrm", "simple-framebuffer", "nvidiafb" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (strcmp(wrong[i], driver) == 0)
			return true;
	return false;
}

/* The NVIDIA driver is loaded and has not taken this GPU: its probe failed, or somebody unbound it. */
static void fail_unbound(struct rule_context *ctx, const struct pci_device *d, const char *fact)
{
	struct refusal refusal = { 0 };
	bool told = (is_known(ctx->node->driver.version) &&
		     refusal_by_branch(ctx->arena, d, ctx->node->driver.version.value,
				       "driver.version", &refusal)) ||
		    refusal_of_gpu(ctx->arena, ctx->node, d, &refusal);

	FAIL(ctx, .subject = d->bdf.value,
	     .observed = told ? text_printf(ctx, "no driver is bound: %s", refusal.text)
			      : "no driver is bound, though nvidia is loaded",
	     .expected = "bound to nvidia",
	     .remedy =
		     told ? refusal.remedy
			  : "Read what the driver says of it in the kernel log. Where nothing is said, bind it: "
			    "echo BDF > /sys/bus/pci/drivers/nvidia/bind",
	     .evidence = { fact, refusal.fact });
}

static void fail_open_flavour(struct rule_context *ctx, const struct pci_device *d,
			      const char *fact)
{
	FAIL(ctx, .subject = d->bdf.value,
	     .observed = text_printf(
		     ctx, "%s with the open kernel modules, which take Turing and later alone",
		     gpu_model(d)->name),
	     .expected = "the proprietary kernel modules",
	     .impact =
		     "This GPU does not initialise: RmInitAdapter failed, and nvidia-smi finds no device.",
	     .remedy =
		     "Install the proprietary kernel modules of a branch that supports this GPU. 580 is the "
		     "last one for Maxwell, Pascal and Volta.",
	     .evidence = { "driver.banner", fact,
			   fact_path(ctx->arena, "pci.devices", d->bdf.value, "device_id") });
}

/* The driver lists those that it has bound (nv-procfs.c): a copy that lacks the link in /sys may say so there. */
static bool driver_has(const struct node *node, const struct pci_device *d)
{
	for_each(gpu, &node->gpu.devices)
		if (str_is(gpu->bdf, d->bdf.value) && is_known(gpu->model))
			return true;
	return false;
}

static void check_wrong_driver(struct rule_context *ctx)
{
	size_t right = 0, before = ctx->findings->count;

	if (skip_without_gpu(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const char *fact;

		if (!pci_is_gpu(d))
			continue;
		fact = fact_path(ctx->arena, "pci.devices", d->bdf.value, "driver");
		if (is_unknown(d->driver) || (is_absent(d->driver) && driver_has(ctx->node, d)))
			UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
		else if (pci_is_for_guest(d))
			NOT_APPLICABLE(
				ctx, .subject = d->bdf.value,
				.observed =
					"held for a virtual machine: see modules/gpu-bound-vfio",
				.evidence = { fact });
		else if (is_known(d->driver) && is_wrong_driver(d->driver.value))
			FAIL(ctx, .subject = d->bdf.value,
			     .observed = text_printf(ctx, "bound to %s", d->driver.value),
			     .expected = "bound to nvidia", .evidence = { fact });
		else if (known_is(ctx->node->driver.loaded, true) && gpu_is_before_turing(d) &&
			 known_is(ctx->node->driver.flavour, FLAVOUR_OPEN))
			fail_open_flavour(ctx, d, fact);
		else if (known_is(ctx->node->driver.loaded, true) && is_absent(d->driver))
			fail_unbound(ctx, d, fact);
		else
			right++;
	}
	if (right && ctx->findings->count == before)
		PASS(ctx, .evidence = { "pci.devices" });
}

static void check_guests(struct rule_context *ctx, const struct pci_device *d, const char *fact)
{
	const char *why = NULL, *reason;
	struct fact_bool given = guest_function(ctx->node, d, &why, &reason);

	if (!is_known(given))
		UNKNOWN(ctx, .subject = d->bdf.value,
			.observed = text_printf(ctx, "bound to %s; whether on purpose was not read",
						d->driver.value),
			.evidence = { reason, fact });
	else if (given.value)
		NOTE(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "bound to %s: %s", d->driver.value, why),
		     .evidence = { fact, reason });
	else
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "bound to %s", d->driver.value),
		     .expected = "bound to nvidia",
		     .evidence = { fact, "modules.loaded[vfio_pci].refcnt", "cmdline.running" });
}

static void check_vfio(struct rule_context *ctx)
{
	size_t ours = 0, before = ctx->findings->count;

	if (skip_without_gpu(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const char *fact;

		if (!pci_is_gpu(d))
			continue;
		fact = fact_path(ctx->arena, "pci.devices", d->bdf.value, "driver");
		if (is_unknown(d->driver))
			UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
		else if (pci_is_for_guest(d))
			check_guests(ctx, d, fact);
		else
			ours++;
	}
	if (ours && ctx->findings->count == before)
		PASS(ctx, .evidence = { "pci.devices" });
}

/* ---- nvidia_drm ---- */

/* x86/PAT: "PROG:PID conflicting memory types 12000000000-12020000000 write-combining<->uncached-minus" */
static bool conflict_range(const char *line, uint64_t *start, uint64_t *end)
{
	static const char words[] = "conflicting memory types ";
	const char *at = strstr(line, words), *dash, *blank;

	if (!at)
		return false;
	at += strlen(words);
	dash = strchr(at, '-');
	blank = dash ? strchr(dash, ' ') : NULL;
	return blank && span_u64((struct span){ at, (size_t)(dash - at) }, 16, start) == 0 &&
	       span_u64((struct span){ dash + 1, (size_t)(blank - dash - 1) }, 16, end) == 0;
}

/* The GPU whose BAR the conflict is in. */
static const struct pci_device *conflicting_gpu(const struct node *node, const char *line)
{
	uint64_t start, end;

	if (!conflict_range(line, &start, &end))
		return NULL;
	for_each(d, &node->pci.devices) {
		if (!pci_is_gpu(d))
			continue;
		for_each(bar, &d->bars)
			if (is_known(bar->start) && is_known(bar->size_bytes) && bar->start.value &&
			    start < bar->start.value + bar->size_bytes.value &&
			    end > bar->start.value)
				return d;
	}
	return NULL;
}

static bool bars_are_known(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && !is_known(d->bars))
			return false;
	return true;
}

static void check_drm(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "memory-type-conflict");
	const struct pci_device *gpu;

	if (skip_without_gpu(ctx) || skip_without_modules(ctx))
		return;
	if (!node_module(ctx->node, "nvidia_drm")) {
		NOT_APPLICABLE(ctx, .observed = "nvidia_drm is not loaded",
			       .evidence = { "modules.loaded" });
		return;
	}
	if (!line) {
		pass_if_log_whole(ctx);
		return;
	}
	gpu = conflicting_gpu(ctx->node, line->last.value);
	if (!gpu)
		gpu = conflicting_gpu(ctx->node, line->first.value);
	if (gpu)
		FAIL(ctx, .subject = gpu->bdf.value,
		     .observed = text_printf(ctx, "nvidia_drm is loaded, and: %s",
					     line->last.value),
		     .expected = "nobody maps a BAR of the GPU in another way",
		     .evidence = { "log.lines[memory-type-conflict].last",
				   "modules.loaded[nvidia_drm].state" });
	else if (!bars_are_known(ctx->node))
		UNKNOWN(ctx,
			.observed =
				"there is a conflict of memory types, and the BARs of the GPUs are not "
				"known",
			.evidence = { "log.lines[memory-type-conflict].last", "pci.devices" });
	else
		PASS(ctx,
		     .observed = "the conflict of memory types in the log is not about a GPU's BAR",
		     .evidence = { "log.lines[memory-type-conflict].last", "pci.devices" });
}

static void fail_uvm(struct rule_context *ctx)
{
	const char *fact = NULL;
	const char *block = module_block_find(ctx->arena, ctx->node, "nvidia_uvm", &fact);

	FAIL(ctx,
	     .observed = text_printf(ctx, "nvidia_uvm is not loaded%s%s", block ? ": " : "",
				     block ? block : ""),
	     .expected = "nvidia_uvm loaded",
	     .remedy =
		     block ? "Take that line away, then modprobe nvidia-uvm; nvidia-modprobe -u -c 0 creates "
			     "its device nodes."
			   : NULL,
	     .evidence = { "modules.loaded", fact });
}

static void check_uvm(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (skip_without_gpu(ctx))
		return;
	if (known_is(node->driver.loaded, false))
		NOT_APPLICABLE(ctx, .observed = "the NVIDIA driver is not loaded",
			       .evidence = { "driver.loaded" });
	else if (skip_without_modules(ctx))
		return;
	else if (node_module(node, "nvidia_uvm"))
		PASS(ctx, .evidence = { "modules.loaded[nvidia_uvm].state" });
	else if (!is_known(node->driver.loaded))
		UNKNOWN(ctx, .evidence = { "driver.loaded" });
	else
		fail_uvm(ctx);
}

/* Who needs gdrdrv: an explicit CPU handler, and NVSHMEM up to 3.2.5 (with which DeepEP was first
 * released). */
static bool needs_gdrdrv(struct rule_context *ctx, const char **why)
{
	const char *handler = node_env(ctx->node, "NVSHMEM_IBGDA_NIC_HANDLER");
	const struct software_item *nvshmem = node_software(ctx->node, "nvshmem");

	if (handler && strcmp(handler, "cpu") == 0) {
		*why = "NVSHMEM_IBGDA_NIC_HANDLER=cpu asks for it";
		return true;
	}
	if (nvshmem && version_compare(nvshmem->version.value, "3.2.5") <= 0) {
		*why = text_printf(ctx, "NVSHMEM %s needs it", nvshmem->version.value);
		return true;
	}
	return false;
}

static void check_gdrdrv(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	struct known_cause cause;
	const char *why;

	if (skip_without_gpu(ctx))
		return;
	if (skip_without_modules(ctx))
		return;
	if (node_module(node, "gdrdrv")) {
		PASS(ctx, .evidence = { "modules.loaded[gdrdrv].state" });
	} else if (needs_gdrdrv(ctx, &why)) {
		cause = known_cause(ctx, text_printf(ctx, "gdrdrv is not loaded, and %s", why));
		FAIL(ctx, .observed = cause.observed, .expected = "gdrdrv loaded",
		     .remedy = cause.remedy, .source = cause.source,
		     .evidence = { "modules.loaded", "software.items" });
	} else if (!was_read(node->software.items)) {
		UNKNOWN(ctx, .evidence = { "software.items" });
	} else {
		cause = known_cause(ctx, "gdrdrv is not loaded; nothing found here needs it");
		NOTE(ctx, .observed = cause.observed, .expected = "nothing; it is a fallback",
		     .remedy = cause.remedy, .source = cause.source,
		     .evidence = { "modules.loaded" });
	}
}

static const struct rule modules_rules[] = {
	{
		.id = "modules/nouveau-loaded",
		.title = "The nouveau driver has the GPU",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.evaluate = check_nouveau,
		.impact = "The NVIDIA driver cannot take the GPU: no CUDA.",
		.remedy =
			"Blacklist nouveau (blacklist nouveau; options nouveau modeset=0), rebuild the "
			"initramfs, reboot.",
		.fix = { "block-nouveau" },
		.activation = ACTIVATION_REBOOT,
		.reads = "The driver bound to each NVIDIA GPU, and the loaded modules.",
		.why = "Whichever driver probes first keeps the GPU, and nouveau is often in the initramfs. "
		       "That nouveau could drive a GPU that nvidia has is no fault.",
		.check = "lspci -k -d 10de:; lsmod | grep nouveau",
		.sources =
			"open-gpu-kernel-modules: kernel-open/nvidia/nv.c (probe routine not called)\n"
			"modprobe.d(5)",
	},
	{
		.id = "modules/wrong-driver-bound",
		.title = "A GPU has not the driver that it needs",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.needs_driver = true,
		.evaluate = check_wrong_driver,
		.impact = "This GPU is not there for CUDA on this host.",
		.remedy = "Blacklist that driver, rebuild the initramfs, reboot.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The driver link and the device id of each NVIDIA display controller, and flavour and "
			"version of the driver that is loaded.",
		.why = "nova-core, nvidiafb and simpledrm take it before nvidia does. A driver that does not "
		       "support the GPU does not take it, or fails at its first use: the open kernel modules "
		       "before Turing, a branch that has dropped the architecture (580 is the last for Maxwell, "
		       "Pascal and Volta) or is older than it (570 is the first for Blackwell). What is held for a virtual "
		       "machine is modules/gpu-bound-vfio's.",
		.check = "lspci -k -d 10de:; dmesg | grep -A4 'NVRM: The NVIDIA GPU'",
		.sources =
			"open-gpu-kernel-modules: kernel-open/nvidia/nv.c, README.md (Compatible GPUs); "
			"src/nvidia/arch/nvalloc/unix/src/osinit.c\n"
			"github.com/NVIDIA/open-gpu-kernel-modules issues 322, 393",
	},
	{
		.id = "modules/gpu-bound-vfio",
		.title = "A GPU is held for virtual machines",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_vfio,
		.impact = "This GPU is not there for CUDA on this host.",
		.remedy =
			"If it is not meant for a virtual machine, remove what binds it (vfio-pci.ids= on the "
			"command line, options vfio-pci in modprobe.d, driverctl), rebuild the initramfs, "
			"reboot.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Driver and driver_override of each NVIDIA display controller, whether vfio_pci is in use, "
			"its option ids=, and whether the NVIDIA driver is installed.",
		.why = "vfio-pci and pci-stub hold a device for a guest. It is a note where that is on purpose: a "
		       "guest has functions open, driver_override or the ids= of vfio-pci name the GPU (and no GPU "
		       "of its model has another driver), or no GPU is left for the host, which has no NVIDIA "
		       "driver.",
		.check =
			"lspci -k -d 10de:; grep -o 'vfio[^ ]*' /proc/cmdline; driverctl list-overrides",
		.sources =
			"open-gpu-kernel-modules: kernel-open/nvidia/nv.c (probe routine not called)\n"
			"Linux: Documentation/driver-api/vfio.rst",
	},
	{
		.id = "modules/nvidia-drm-loaded",
		.title =
			"nvidia_drm holds a mapping of the GPU's BAR that another module wants otherwise",
		.profiles = PROFILE_P2P | PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_drm,
		.impact =
			"Modules that map GPU memory themselves (GPU-direct storage of third parties) cannot be "
			"loaded: operation not permitted.",
		.remedy =
			"On a compute node do not load nvidia_drm: blacklist nvidia-drm (and nvidia-modeset), "
			"rebuild the initramfs, reboot.",
		.fix = { "block-nvidia-drm" },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"\"x86/PAT: conflicting memory types\" in the kernel log, the BARs of the GPUs, and "
			"whether nvidia_drm is loaded.",
		.why = "The kernel keeps one memory type for each physical range. That nvidia_drm is loaded is no "
		       "fault by itself; only together with such a line about a GPU's BAR. One report, in which "
		       "blacklisting it helped.",
		.check = "dmesg | grep 'conflicting memory types'; lsmod | grep nvidia_drm",
		.cost = "No console or desktop on the GPU.",
		.sources = "github.com/nicexlab/phoenix issue 4\nLinux: arch/x86/mm/pat/memtype.c",
	},
	{
		.id = "modules/nvidia-uvm-not-loaded",
		.title = "nvidia_uvm is not loaded",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.needs_module = "nvidia_uvm",
		.evaluate = check_uvm,
		.impact =
			"cuInit fails with error 999 or 3 where the caller may not load modules: in "
			"containers, in jobs.",
		.remedy =
			"modprobe nvidia-uvm; nvidia-modprobe -u -c 0 creates its device nodes. Have it "
			"loaded at boot (modules-load.d, nvidia-persistenced).",
		.fix = { "load-module", { "nvidia_uvm", "boot" } },
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
		.needs_module = "gdrdrv",
		.evaluate = check_gdrdrv,
		.impact = "NVSHMEM up to 3.2.5 and its CPU handler do not start.",
		.remedy =
			"Where something needs it: install GDRCopy's kernel module and load gdrdrv, or use "
			"NVSHMEM 3.3.9 or later with PeerMappingOverride.",
		.fix = { "load-module", { "gdrdrv", "boot" } },
		.activation = ACTIVATION_NOW,
		.reads =
			"The loaded modules, the NVSHMEM found on disk, NVSHMEM_IBGDA_NIC_HANDLER of the "
			"process asked for.",
		.why = "DeepEP's guide offers GDRCopy as the way without the registry key. With DeepEP's own "
		       "kernels that way does not work (an open report); NVSHMEM's needs it only where "
		       "stated above.",
		.check = "lsmod | grep gdrdrv; ls -l /dev/gdrdrv",
		.sources = "github.com/deepseek-ai/DeepEP docs/nvshmem.md",
	},
};

RULE_TABLE(modules);
