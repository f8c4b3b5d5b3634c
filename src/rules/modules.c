/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules.c - kernel modules other than peer memory: the right ones loaded, the wrong ones not. */
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/known.h"
#include "evaluate/skip.h"
#include "parse/kparam.h"
#include "parse/version.h"
#include "query/distribution.h"
#include "query/gpus.h"
#include "query/guests.h"
#include "query/job-env.h"
#include "query/module-block.h"
#include "query/module-find.h"
#include "query/module-load.h"
#include "query/pci-device.h"
#include "query/refusal.h"

/* LINES for a file in modprobe.d, and the initramfs that takes it over: otherwise the driver in the image is
 * loaded before the root file system is there. printf(1) makes lines of the two characters \n. */
static const char *shell_block(struct rule_context *ctx, const char *file, const char *lines)
{
	const struct node *node = ctx->node;
	const char *rebuild = is_known(node->os.kernel)
				      ? shell_rebuild_initramfs(ctx->arena, node,
								node->os.kernel.value)
				      : NULL;

	return shell_join(
		ctx->arena,
		text_printf(ctx, "printf '%s' | sudo tee /etc/modprobe.d/%s", lines, file),
		rebuild);
}

#define SEE_CONFIGURED "meant for a virtual machine: see pci/driver-not-as-configured"

/* A GPU of a host of virtual machines needs vfio-pci, not nvidia. */
static bool skip_meant_for_guest(struct rule_context *ctx, const struct pci_device *d)
{
	const char *fact;

	if (!guest_lacks(ctx->node, d, &fact))
		return false;
	NOT_APPLICABLE(
		ctx, .subject = d->bdf.value, .observed = SEE_CONFIGURED,
		.evidence = { fact_path(ctx->arena, "pci.devices", d->bdf.value, "driver"), fact });
	return true;
}

/* Without nouveau the GPUs would have no driver. */
static bool lacks_driver(const struct node *node)
{
	return was_read(node->modules.files) && is_known(node->os.kernel) &&
	       !module_file_running(node, "nvidia");
}

/* Whether NVIDIA's driver is there to be loaded instead; "" if that is not known. */
static const char *driver_on_disk(struct rule_context *ctx)
{
	const struct module_file *file;

	if (!was_read(ctx->node->modules.files) || !is_known(ctx->node->os.kernel))
		return "";
	file = module_file_running(ctx->node, "nvidia");
	if (!file)
		return "; NVIDIA's module is not on disk for this kernel";
	return text_printf(ctx, "; NVIDIA's module%s%s is on disk for this kernel",
			   is_known(file->version) ? " " : "",
			   is_known(file->version) ? file->version.value : "");
}

#define DRIVER_FIRST                                                                       \
	"Install the NVIDIA driver for this kernel first. Then blacklist nouveau: before " \
	"that, the GPUs would have no driver."

static void check_nouveau(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *remedy = lacks_driver(node) ? DRIVER_FIRST : NULL;
	const char *command = shell_block(ctx, "blacklist-nouveau.conf",
					  "blacklist nouveau\\noptions nouveau modeset=0\\n");
	size_t bound = 0;

	if (skip_without_gpu(ctx))
		return;
	for_each(d, &node->pci.devices) {
		if (!pci_is_gpu(d) || !str_is(d->driver, "nouveau"))
			continue;
		bound++;
		if (skip_meant_for_guest(ctx, d))
			continue;
		FAIL(ctx, .subject = d->bdf.value,
		     .title = "CUDA cannot use a GPU: nouveau drives it",
		     .observed = text_printf(ctx, "bound to nouveau%s", driver_on_disk(ctx)),
		     .expected = "bound to nvidia", .remedy = remedy, .command = command,
		     .then = THEN_INITRAMFS | THEN_REBOOT,
		     .evidence = { fact_path(ctx->arena, "pci.devices", d->bdf.value, "driver"),
				   "modules.loaded[nouveau].state" });
	}
	if (bound || skip_without_modules(ctx))
		return;
	if (!node_module(node, "nouveau"))
		PASS(ctx, .evidence = { "modules.loaded" });
	else if (guests_have_all_gpus(node))
		NOT_APPLICABLE(ctx, .observed = "every GPU is for virtual machines",
			       .evidence = { "pci.devices" });
	else if (known_is(node->driver.loaded, true))
		/* It came too late, or another tool loaded it. */
		FAIL_AS(ctx, SEVERITY_WARN, .observed = "nouveau is loaded; no GPU is bound to it",
			.expected = "nouveau not loaded", .command = command,
			.impact = "None now. At the next boot nouveau can take a GPU first.",
			.evidence = { "modules.loaded[nouveau].state" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx,
					     "nouveau is loaded, and the NVIDIA driver is not%s",
					     driver_on_disk(ctx)),
		     .expected = "nouveau not loaded", .remedy = remedy, .command = command,
		     .then = THEN_INITRAMFS | THEN_REBOOT,
		     .evidence = { "modules.loaded[nouveau].state" });
}

/* nouveau and those of virtual machines have rules of their own; nvgpu is NVIDIA's for Tegra. */
static bool is_wrong_driver(const char *driver)
{
	static const char *const others[] = { "nvidia", "nouveau", "nvgpu" };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(others[i], driver) == 0)
			return false;
	return !strstr(driver, "vfio") && strcmp(driver, "pciback") != 0;
}

/* nova-core registers itself under another name, and nova_drm loads it (drivers/gpu/nova-core/nova_core.rs). */
static const char *module_of_driver(const char *driver)
{
	return strcmp(driver, "NovaCore") == 0 ? "nova_core" : driver;
}

static void fail_other_driver(struct rule_context *ctx, const struct pci_device *d,
			      const char *fact)
{
	const char *module = module_of_driver(d->driver.value);
	bool nova = starts_with(module, "nova");
	const char *lines = shell_printf(
		ctx->arena, nova ? "blacklist %s\\nblacklist nova_drm\\n" : "blacklist %s\\n",
		module);

	FAIL(ctx, .subject = d->bdf.value,
	     .title = "CUDA cannot use a GPU: another driver is bound to it",
	     .observed = text_printf(ctx, "bound to %s", d->driver.value),
	     .expected = "bound to nvidia", .then = THEN_INITRAMFS | THEN_REBOOT,
	     .remedy = text_printf(ctx, "Blacklist %s%s.", module, nova ? " and nova_drm" : ""),
	     .command = lines ? shell_block(ctx, "blacklist-gpu.conf", lines) : NULL,
	     .evidence = { fact });
}

/* The NVIDIA driver is loaded and has not taken this GPU: its probe failed, or the GPU was unbound by hand. */
static void fail_unbound(struct rule_context *ctx, const struct pci_device *d, const char *fact)
{
	struct refusal refusal = { 0 };
	bool reason = (is_known(ctx->node->driver.version) &&
		       refusal_by_branch(ctx->arena, d, ctx->node->driver.version.value,
					 "driver.version", &refusal)) ||
		      refusal_of_gpu(ctx->arena, ctx->node, d, &refusal);

	FAIL(ctx, .subject = d->bdf.value,
	     .title = "CUDA cannot use a GPU: no driver is bound to it",
	     .observed = reason ? text_printf(ctx, "no driver is bound: %s", refusal.text)
				: "no driver is bound; nvidia is loaded",
	     .expected = "bound to nvidia",
	     .remedy = reason ? refusal.cure.text : "Bind the GPU to nvidia.",
	     .then = refusal.cure.then,
	     .command = reason ? NULL
			       : shell_printf(ctx->arena,
					      "echo %s | sudo tee /sys/bus/pci/drivers/nvidia/bind",
					      d->bdf.value),
	     .activation = reason ? ACTIVATION_NONE : ACTIVATION_NOW,
	     .evidence = { fact, refusal.fact });
}

static void fail_open_flavour(struct rule_context *ctx, const struct pci_device *d,
			      const char *fact)
{
	FAIL(ctx, .subject = d->bdf.value,
	     .title = "CUDA cannot use a GPU: the open kernel modules do not support it",
	     .observed = text_printf(
		     ctx, "%s with the open kernel modules, which support Turing and later only",
		     gpu_model(d)->name),
	     .expected = "the proprietary kernel modules",
	     .impact =
		     "This GPU does not initialize: RmInitAdapter fails, and nvidia-smi finds no device.",
	     .remedy =
		     "Install the proprietary kernel modules of branch 580, the last one for Maxwell, Pascal and "
		     "Volta.",
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
		else if (skip_meant_for_guest(ctx, d))
			continue;
		else if (pci_is_for_guest(d))
			NOT_APPLICABLE(
				ctx, .subject = d->bdf.value,
				.observed =
					"held for a virtual machine: see modules/gpu-bound-vfio",
				.evidence = { fact });
		else if (is_known(d->driver) && is_wrong_driver(d->driver.value))
			fail_other_driver(ctx, d, fact);
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

/* Returns the kernel argument that gives devices to DRIVER, or NULL. */
static const char *binding_argument(const struct rule_context *ctx, const char *driver)
{
	struct span name = span_of(driver);

	for_each(a, &ctx->node->cmdline.args) {
		struct span key = span_of(a->key.value);

		if (key.n > name.n && key.p[name.n] == '.' &&
		    kparam_name_is((struct span){ key.p, name.n }, driver))
			return a->key.value;
	}
	return NULL;
}

static void fail_held(struct rule_context *ctx, const struct pci_device *d, const char *fact)
{
	const char *argument = binding_argument(ctx, d->driver.value);

	FAIL(ctx, .subject = d->bdf.value,
	     .observed = text_printf(ctx, "bound to %s", d->driver.value),
	     .expected = "bound to nvidia",
	     .remedy =
		     argument
			     ? text_printf(
				       ctx,
				       "If no virtual machine is to have the GPU, remove %s= from the "
				       "kernel command line.",
				       argument)
			     : NULL,
	     .then = argument ? THEN_REBOOT : 0,
	     .evidence = { fact, "modules.loaded[vfio_pci].refcnt", "cmdline.running" });
}

/* On purpose for one of them, maybe: the host has the driver, which no GPU is left for. */
static void fail_twins(struct rule_context *ctx, const struct pci_device *d, const char *fact)
{
	FAIL_AS(ctx, SEVERITY_WARN, .subject = d->bdf.value,
		.observed =
			"bound to vfio-pci: the option ids= of vfio-pci names its model, so it takes all GPUs of "
			"the model. The host's NVIDIA driver has no GPU",
		.expected = "a GPU for the installed NVIDIA driver",
		.remedy =
			"If the host is to have one of these GPUs, remove ids= of their model and bind the "
			"others by address (driverctl, or driver_override).",
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.evidence = { fact, "modprobe.assignments", "modules.files" });
}

static void check_guests(struct rule_context *ctx, const struct pci_device *d, const char *fact)
{
	const char *why = NULL, *reason;
	struct fact_bool given = guest_function(ctx->node, d, &why, &reason);

	if (!is_known(given))
		UNKNOWN(ctx, .subject = d->bdf.value,
			.observed = text_printf(
				ctx, "bound to %s; whether this is on purpose was not read",
				d->driver.value),
			.evidence = { reason, fact });
	else if (guests_have_all_by_ids(ctx->node, d) &&
		 !module_block_find(ctx->arena, ctx->node, "nvidia", &reason))
		fail_twins(ctx, d, fact);
	else if (given.value)
		NOTE(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "bound to %s: %s", d->driver.value, why),
		     .evidence = { fact, reason });
	else
		fail_held(ctx, d, fact);
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
		     .expected = "one memory type for the BAR of the GPU",
		     .evidence = { "log.lines[memory-type-conflict].last",
				   "modules.loaded[nvidia_drm].state" });
	else if (!bars_are_known(ctx->node))
		UNKNOWN(ctx,
			.observed =
				"the log has a conflict of memory types, and the BARs of the GPUs are not "
				"known",
			.evidence = { "log.lines[memory-type-conflict].last", "pci.devices" });
	else
		PASS(ctx,
		     .observed = "the conflict of memory types in the log is not about a GPU's BAR",
		     .evidence = { "log.lines[memory-type-conflict].last", "pci.devices" });
}

static void fail_uvm(struct rule_context *ctx)
{
	struct module_load load = module_load_of(ctx->node, "nvidia_uvm", ctx->arena);

	FAIL(ctx,
	     .observed = text_printf(ctx, "nvidia_uvm is not loaded%s%s", load.why_not ? ": " : "",
				     load.why_not ? load.why_not : ""),
	     .expected = "nvidia_uvm loaded", .remedy = load.remedy,
	     .command = load.no_file ? load.command
				     : shell_join(ctx->arena, load.command,
						  "sudo nvidia-modprobe -u -c 0"),
	     .has_fix = load.no_file, .evidence = { "modules.loaded", load.fact });
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
	else if (node_is(node, KIND_VGPU_HOST))
		/* gpu-driver-container: vgpu-manager loads nvidia and nvidia_vgpu_vfio alone. */
		NOT_APPLICABLE(ctx,
			       .observed = "a vGPU host: its driver lends the GPUs to virtual "
					   "machines and runs no CUDA",
			       .evidence = { "modules.loaded[nvidia_vgpu_vfio].state" });
	else
		fail_uvm(ctx);
}

/* GDRCopy from 2.6 on maps GPU memory by DMA-BUF without gdrdrv, where the CUDA driver is 13.3 or later. */
#define GDRCOPY_DMABUF "2.6"

/* An explicit CPU handler, and NVSHMEM up to 3.2.5, with which DeepEP was first released. */
static const char *needs_gdrdrv(struct rule_context *ctx)
{
	struct job_value handler = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_IBGDA_NIC_HANDLER");
	const struct software_item *nvshmem = node_software(ctx->node, "nvshmem");

	if (handler.value && strcmp(handler.value, "cpu") == 0)
		return "NVSHMEM_IBGDA_NIC_HANDLER=cpu needs it";
	if (nvshmem && is_known(nvshmem->version) && is_asked_for(ctx, PROFILE_DEEPEP) &&
	    version_compare(nvshmem->version.value, "3.2.5") <= 0)
		return text_printf(ctx, "DeepEP's guide for NVSHMEM %s requires it",
				   nvshmem->version.value);
	return NULL;
}

static bool may_map_by_dmabuf(const struct node *node)
{
	const struct software_item *gdrcopy = node_software(node, "gdrcopy");

	return gdrcopy && is_known(gdrcopy->version) &&
	       version_compare(gdrcopy->version.value, GDRCOPY_DMABUF) >= 0;
}

static void fail_gdrdrv(struct rule_context *ctx, const char *why)
{
	struct module_load load = module_load_of(ctx->node, "gdrdrv", ctx->arena);
	struct known_cause cause = known_cause(
		ctx, text_printf(ctx, "gdrdrv is not loaded%s%s, and %s", load.why_not ? ": " : "",
				 load.why_not ? load.why_not : "", why));

	FAIL(ctx, .observed = cause.observed, .expected = "gdrdrv loaded",
	     .remedy = cause.remedy ? cause.remedy : load.remedy,
	     .command = cause.remedy ? NULL : load.command, .source = cause.source,
	     .has_fix = load.no_file, .follows = "modules/dkms-failed",
	     .follows_subject = is_known(ctx->node->os.kernel)
					? text_printf(ctx, "gdrdrv, kernel %s",
						      ctx->node->os.kernel.value)
					: "gdrdrv",
	     .evidence = { "modules.loaded", "software.items", load.fact });
}

static void check_gdrdrv(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	struct known_cause cause;
	const char *why;

	if (skip_without_gpu(ctx) || skip_without_modules(ctx))
		return;
	why = needs_gdrdrv(ctx);
	if (node_module(node, "gdrdrv"))
		PASS(ctx, .evidence = { "modules.loaded[gdrdrv].state" });
	else if (why && may_map_by_dmabuf(node))
		UNKNOWN(ctx,
			.observed = "gdrdrv is not loaded; GDRCopy " GDRCOPY_DMABUF
				    " uses DMA-BUF instead if the CUDA driver is 13.3 or later",
			.evidence = { "driver.version", "software.items" });
	else if (why)
		fail_gdrdrv(ctx, why);
	else if (!was_read(node->modules.files))
		UNKNOWN(ctx, .evidence = { "modules.files" });
	else if (module_file_running(node, "gdrdrv"))
		fail_gdrdrv(ctx, text_printf(ctx, "%s is installed for this kernel",
					     module_file_running(node, "gdrdrv")->path.value));
	else if (!was_read(node->software.items))
		UNKNOWN(ctx, .evidence = { "software.items" });
	else if (!is_asked_for(ctx, PROFILE_DEEPEP))
		NOT_APPLICABLE(ctx, .observed = "gdrdrv is not installed for this kernel",
			       .evidence = { "modules.files" });
	else {
		cause = known_cause(ctx, "gdrdrv is not loaded; no software found here needs it");
		NOTE(ctx, .observed = cause.observed, .remedy = cause.remedy,
		     .source = cause.source, .evidence = { "modules.loaded" });
	}
}

static const struct rule modules_rules[] = {
	{
		.id = "modules/nouveau-loaded",
		.title = "nouveau is loaded: it can take GPUs from the NVIDIA driver",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.evaluate = check_nouveau,
		.impact = "CUDA cannot use a GPU.",
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy = "Blacklist nouveau.",
		.fix = { "block-nouveau" },
		.activation = ACTIVATION_REBOOT,
		.reads = "The driver of each NVIDIA GPU, and the loaded modules.",
		.why = "The driver that probes a GPU first keeps it. nouveau can be in the initramfs, and then probes "
		       "first.",
		.check = "lspci -k -d 10de:; lsmod | grep nouveau",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv.c (\"probe routine was not called\")\n"
			"kmod 30: modprobe.d(5)",
	},
	{
		.id = "modules/wrong-driver-bound",
		.title = "A GPU has no driver, or one that does not support it",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.needs_driver = true,
		.follows = { "pci/bar1-unassigned" },
		.evaluate = check_wrong_driver,
		.impact = "CUDA programs on this host cannot use this GPU.",
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy = "Blacklist the other driver.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Driver and device id of each NVIDIA display controller, and flavour and version of the loaded driver.",
		.why = "nova-core and nvidiafb can take a GPU before nvidia does. The open kernel modules do not "
		       "support GPUs before Turing. Branch 580 is the last for Maxwell, Pascal and Volta. Branch 570 is the "
		       "first for Blackwell.",
		.check = "lspci -k -d 10de:; dmesg | grep -A4 'NVRM: The NVIDIA GPU'",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv.c, README.md (Compatible GPUs), "
			"src/nvidia/arch/nvalloc/unix/src/osinit.c; 565.77 and 570.86.15: README.md\n"
			"Linux 0242623384c7: drivers/gpu/nova-core/driver.rs; Linux 05909cd9a0c8: drivers/video/fbdev/nvidia/nvidia.c\n"
			"GLFS book (2026): NVIDIA driver revisions (r590)\n"
			"github.com/NVIDIA/open-gpu-kernel-modules issues 322, 393",
	},
	{
		.id = "modules/gpu-bound-vfio",
		.title = "CUDA on this host cannot use a GPU: it is held for virtual machines",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_vfio,
		.impact = "CUDA programs on this host cannot use this GPU.",
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy =
			"If no virtual machine is to have the GPU, remove the setting that binds it "
			"(vfio-pci.ids= on the kernel command line, options vfio-pci in "
			"modprobe.d, or driverctl).",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"driver and driver_override of each NVIDIA display controller, whether vfio_pci is in use, its option "
			"ids=, and whether the NVIDIA driver is installed.",
		.why = "vfio-pci and pci-stub hold a device for a virtual machine. This is a note where it is on purpose: a "
		       "virtual machine has devices open, or driver_override or ids= names the GPU. It is on purpose too where "
		       "all GPUs are held and the host has no NVIDIA driver. ids= names a model, not a card: it takes all GPUs "
		       "of the model, which is a warning where no GPU is left for an installed driver.",
		.check =
			"lspci -k -d 10de:; grep -o 'vfio[^ ]*' /proc/cmdline; driverctl list-overrides",
		.sources =
			"Linux 6.1.192: Documentation/driver-api/vfio.rst, drivers/vfio/pci/vfio_pci.c (ids)\n"
			"Linux 6.1.192: Documentation/ABI/testing/sysfs-bus-pci (driver_override)",
	},
	{
		.id = "modules/nvidia-drm-loaded",
		.title = "A module cannot map GPU memory: nvidia_drm holds a conflicting mapping",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_drm,
		.impact =
			"Modules that map GPU memory themselves, such as third-party GPU-direct storage, do not load: "
			"operation not permitted.",
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy = "Blacklist nvidia-drm.",
		.fix = { "block-nvidia-drm" },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"\"x86/PAT: conflicting memory types\" in the kernel log, the BARs of the GPUs, and the loaded modules.",
		.why = "The kernel keeps one memory type for each physical range. nvidia_drm alone is no fault: this needs a "
		       "line about the BAR of a GPU. The remedy is known from one report.",
		.check = "dmesg | grep 'conflicting memory types'; lsmod | grep nvidia_drm",
		.cost = "No console or desktop on the GPU.",
		.is_risk = true,
		.sources =
			"github.com/nicexlab/phoenix issue 4\nLinux 6.1.192: arch/x86/mm/pat/memtype_interval.c",
	},
	{
		.id = "modules/nvidia-uvm-not-loaded",
		.title = "CUDA can fail in containers and jobs: nvidia_uvm is not loaded",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.needs_module = "nvidia_uvm",
		.evaluate = check_uvm,
		.impact =
			"cuInit fails with error 999 (unknown error) where nothing loads it. nvidia-smi works.",
		.remedy = "Load nvidia-uvm, and make it load at every boot.",
		.fix = { "load-module", { "nvidia_uvm", "boot" } },
		.activation = ACTIVATION_NOW,
		.reads = "The loaded modules.",
		.why = "CUDA starts nvidia-modprobe, which loads nvidia_uvm where it is installed setuid root. A container "
		       "without CAP_SYS_MODULE cannot load it. A vGPU host needs nvidia and nvidia_vgpu_vfio alone.",
		.check = "lsmod | grep nvidia_uvm; ls -l /dev/nvidia-uvm",
		.sources =
			"nvidia-modprobe 565.57.01 (2024-10-10): nvidia-modprobe(1)\n"
			"github.com/NVIDIA/gpu-driver-container, 0c1f411: vgpu-manager/ubuntu22.04/nvidia-driver "
			"(_load_driver)\n"
			"github.com/ggml-org/llama.cpp issue 7218 (2024-05-23)\n"
			"github.com/NVIDIA/gpu-operator issue 2685",
	},
	{
		.id = "modules/gdrdrv-not-loaded",
		.title = "GDRCopy does not work: gdrdrv is not loaded",
		.is_reason_name = true,
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "gdrdrv",
		.severity = SEVERITY_WARN,
		.needs_module = "gdrdrv",
		.evaluate = check_gdrdrv,
		.impact = "GDRCopy does not work, nor does the CPU handler of IBGDA.",
		.remedy = "Load gdrdrv, and make it load at every boot.",
		.fix = { "load-module", { "gdrdrv", "boot" } },
		.activation = ACTIVATION_NOW,
		.reads =
			"The loaded modules, gdrdrv.ko, NVSHMEM and GDRCopy on disk, and NVSHMEM_IBGDA_NIC_HANDLER of the process that "
			"was asked about.",
		.why = "DeepEP's guide offers GDRCopy as the way without the registry key. A module that is "
		       "installed for this kernel and not loaded at boot is a warning too. Where it is not installed and no "
		       "software needs it, this is a note. GDRCopy 2.6 works without gdrdrv if the CUDA driver is 13.3 or later.",
		.check = "lsmod | grep gdrdrv; ls -l /dev/gdrdrv",
		.sources =
			"DeepEP 2.1.0: docs/nvshmem.md\n"
			"github.com/deepseek-ai/DeepEP e995aa2 (NVSHMEM 3.2.5): third-party/README.md, Prerequisites\n"
			"github.com/NVIDIA/gdrcopy 2.6 (2026-05-21): CHANGELOG.md, README.md (DMA-BUF mmap backend)",
	},
};

RULE_TABLE(modules);
