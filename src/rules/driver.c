/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver.c - the NVIDIA driver itself: loaded, of the right flavour and version, and of the same version as its file on
 * disk. */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/dkms.h"
#include "query/driver-files.h"
#include "query/gpus.h"
#include "query/guests.h"
#include "query/mmio-window.h"
#include "query/module-block.h"
#include "query/names.h"
#include "query/pci-device.h"
#include "query/peermem.h"
#include "query/ports.h"
#include "query/refusal.h"
#include "query/topology.h"

/* NCCL 2.30.7, deviceapi.rst: the oldest driver for the device API. */
#define VERSION_FLOOR "510.40.3"
#define OPEN_SINCE "515.43.04" /* the first release of open-gpu-kernel-modules */

/* Returns true if no GPU of this node has a driver in the branch of the module on disk. */
static bool is_wrong_branch(struct rule_context *ctx, struct refusal *refusal)
{
	const struct node *node = ctx->node;
	const struct module_file *file = is_known(node->os.kernel)
						 ? driver_file(node, node->os.kernel.value)
						 : NULL;
	bool wrong = false;

	if (!file || !is_known(file->version))
		return false;
	for_each(d, &node->pci.devices) {
		if (!pci_is_gpu(d))
			continue;
		wrong = refusal_by_branch(
			ctx->arena, d, file->version.value,
			fact_path(ctx->arena, "modules.files", file->path.value, "version"),
			refusal);
		if (!wrong)
			break;
	}
	return wrong;
}

/* modules.files was read, and no nvidia.ko is there for the running kernel. */
static bool has_no_module_file(const struct node *node)
{
	return was_read(node->modules.files) && is_known(node->os.kernel) &&
	       !driver_file(node, node->os.kernel.value);
}

/* The known reason why the driver cannot be loaded. */
struct obstacle {
	const char *text;
	const char *remedy;
	const char *fact;
	unsigned int then; /* enum remedy_end */
	bool blocked;	   /* by a setting */
};

/* Another driver of the kernel has every GPU: nvidia finds none that it may take. */
static bool find_holder(struct rule_context *ctx, struct obstacle *obstacle)
{
	const struct pci_device *held = NULL;

	for_each(d, &ctx->node->pci.devices) {
		if (!pci_is_gpu(d))
			continue;
		if (!is_known(d->driver) || pci_is_for_guest(d) || str_is(d->driver, "nvidia"))
			return false;
		held = d;
	}
	if (!held)
		return false;
	*obstacle = (struct obstacle){
		.text = text_printf(ctx, "%s has %s", held->driver.value,
				    subject_name(ctx->node, held->bdf.value, ctx->arena)),
		.remedy = text_printf(
			ctx, "Blacklist %s. Install the NVIDIA driver if it is not installed.",
			held->driver.value),
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.fact = fact_path(ctx->arena, "pci.devices", held->bdf.value, "driver"),
	};
	return true;
}

/* nv_pci_probe() refuses a GPU whose BARs have no address: loading the driver changes nothing. */
static bool find_no_address(struct rule_context *ctx, struct obstacle *obstacle)
{
	const struct pci_device *without = NULL;
	const char *remedy = mmio_window_remedy(ctx->node);

	for_each(d, &ctx->node->pci.devices) {
		const struct pci_bar *bar = pci_is_gpu(d) ? gpu_bar1(d) : NULL;

		if (!pci_is_gpu(d))
			continue;
		if (!is_known(d->bars) ||
		    (bar && !known_is(bar->start, 0) && !known_is(bar->size_bytes, 0)))
			return false;
		without = d;
	}
	if (!without)
		return false;
	*obstacle = (struct obstacle){
		.text = text_printf(ctx,
				    "BAR1 of %s has no address, and the driver refuses such a GPU",
				    without->bdf.value),
		.remedy =
			remedy ? remedy
			       : "Give BAR1 an address first: see pci/bar1-unassigned. Loading the driver does "
				 "not help before that.",
		.fact = fact_path(ctx->arena, "pci.devices", without->bdf.value, "bars"),
	};
	return true;
}

static struct obstacle find_obstacle(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	struct obstacle o = { 0 };
	struct dkms_reason dkms;
	struct refusal refusal;

	o.text = module_block_find(ctx->arena, node, "nvidia", &o.fact);
	o.blocked = o.text != NULL;
	if (o.text) {
		o.remedy = text_printf(
			ctx,
			"Remove this: %s. Rebuild the initramfs if it holds a copy. Then load the driver.",
			o.text);
		return o;
	}
	if (find_holder(ctx, &o) || find_no_address(ctx, &o))
		return o;
	if (is_wrong_branch(ctx, &refusal) || refusal_of_driver(ctx->arena, node, &refusal))
		return (struct obstacle){ .text = refusal.text,
					  .remedy = refusal.cure.text,
					  .then = refusal.cure.then,
					  .fact = refusal.fact };
	if (!has_no_module_file(node))
		return (struct obstacle){ 0 };
	if (dkms_reason_for(ctx->arena, node, "driver-source", node->os.kernel.value, &dkms))
		return (struct obstacle){ .text = dkms.text,
					  .remedy = dkms.remedy,
					  .fact = dkms.fact };
	o.text = text_printf(ctx, "no nvidia.ko for kernel %s", node->os.kernel.value);
	o.remedy =
		"Install the driver for this kernel: its packages, with the kernel headers if DKMS "
		"builds the module. Then load it.";
	o.fact = "modules.files";
	return o;
}

static void fail_loaded(struct rule_context *ctx)
{
	size_t gpus = topology_gpus(ctx->node);
	struct obstacle o = find_obstacle(ctx);

	FAIL(ctx,
	     .observed = text_printf(ctx, "%zu NVIDIA GPU%s, no driver%s%s", gpus,
				     gpus == 1 ? "" : "s", o.text ? ": " : "",
				     o.text ? o.text : ""),
	     .title =
		     o.blocked
			     ? "No CUDA program runs: a setting keeps the NVIDIA driver from loading"
			     : NULL,
	     .expected = "the nvidia kernel module loaded", .remedy = o.remedy, .then = o.then,
	     /* modprobe would fail, the driver would refuse the GPU again, or the next boot would be without it. */
	     .has_fix = o.text, .evidence = { "driver.loaded", o.fact });
}

/* A host that keeps no GPU for itself needs no driver for them. */
static void check_not_loaded(struct rule_context *ctx)
{
	struct guest_gpus guests = guest_gpus(ctx->node);

	if (skip_without_own_gpu(ctx))
		return;
	if (guests.unread && guests.bound == guests.gpus)
		UNKNOWN(ctx,
			.observed =
				"vfio-pci or pci-stub holds every GPU; whether that is on purpose "
				"was not read",
			.evidence = { guests.fact, "driver.loaded" });
	else
		fail_loaded(ctx);
}

static void check_loaded(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (known_is(node->driver.loaded, true))
		PASS(ctx, .evidence = { "driver.version", "driver.loaded" });
	else if (skip_without_gpu(ctx))
		return;
	else if (!is_known(node->driver.loaded))
		UNKNOWN(ctx, .evidence = { "driver.loaded" });
	else
		check_not_loaded(ctx);
}

/* Every GPU is older than the open kernel modules support. */
static enum fact_state is_all_before_turing(const struct node *node, bool *old)
{
	size_t gpus = 0, unread = 0;

	*old = true;
	for_each(d, &node->pci.devices) {
		unread += is_unknown(d->vendor_id) || is_unknown(d->class_id);
		if (!pci_is_gpu(d))
			continue;
		gpus++;
		unread += is_unknown(d->device_id);
		*old &= !is_known(d->device_id) || gpu_is_before_turing(d);
	}
	return *old && (unread || !gpus) ? FACT_UNKNOWN : FACT_KNOWN;
}

/* The module that lets NICs reach GPU memory without DMA-BUF; NULL: none is loaded. */
static const char *peer_memory_module(const struct node *node)
{
	return node_module(node, "nvidia_peermem") ? "nvidia_peermem"
	       : node_module(node, "nv_peer_mem")  ? "nv_peer_mem"
						   : NULL;
}

static void fail_flavour(struct rule_context *ctx, const struct rdma_device *efa)
{
	const struct driver_facts *driver = &ctx->node->driver;
	/* driver/library-mismatch asks for one version, and does not say which. */
	const char *version = driver_libraries(ctx->node).other
				      ? "the same release as the driver's libraries"
				      : text_printf(ctx, "driver %s", driver->version.value);

	if (efa)
		FAIL(ctx,
		     .observed =
			     "proprietary kernel modules; the EFA driver has not reached their memory",
		     .expected = "open kernel modules",
		     .impact = "EFA cannot register GPU memory. NCCL copies through host memory.",
		     .then = THEN_REBOOT,
		     .remedy = text_printf(
			     ctx,
			     "Install the open kernel modules of %s, or an EFA driver that works "
			     "with the proprietary ones.",
			     version),
		     .evidence = { "driver.banner",
				   fact_path(ctx->arena, "rdma.devices", efa->name.value, "p2p") });
	else if (version_compare(driver->version.value, OPEN_SINCE) < 0)
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "proprietary kernel modules; driver %s has no open ones",
			     driver->version.value),
		     .expected = "driver " OPEN_SINCE " or later with open kernel modules",
		     .then = THEN_REBOOT,
		     .remedy = text_printf(
			     ctx,
			     "%sInstall driver " OPEN_SINCE
			     " or later with its open kernel modules.",
			     node_module(ctx->node, "nvidia_peermem") ||
					     node_module(ctx->node, "nv_peer_mem")
				     ? "While its peer-memory module is loaded, this can wait. "
				     : ""),
		     .evidence = { "driver.banner" });
	else
		FAIL(ctx, .observed = "proprietary kernel modules",
		     .expected = "open kernel modules", .then = THEN_REBOOT,
		     .remedy =
			     text_printf(ctx, "%sInstall the open kernel modules of %s.",
					 node_module(ctx->node, "nvidia_peermem")
						 ? "While nvidia_peermem is loaded, this can wait. "
						 : "",
					 version),
		     .evidence = { "driver.banner" });
}

static void check_proprietary(struct rule_context *ctx)
{
	const struct rdma_device *efa = node_efa_alone(ctx->node);
	bool old;

	if (is_all_before_turing(ctx->node, &old) != FACT_KNOWN)
		UNKNOWN(ctx, .observed = "proprietary kernel modules; the GPU models were not read",
			.evidence = { "pci.devices" });
	else if (old)
		NOT_APPLICABLE(
			ctx,
			.observed =
				"GPUs before Turing, which the open kernel modules do not support",
			.evidence = { "driver.banner", "pci.devices" });
	else if (known_is(node_efa_reaches_gpus(ctx->node, NULL), true))
		NOTE(ctx,
		     .observed = "proprietary kernel modules; the EFA driver reaches their memory "
				 "without DMA-BUF",
		     .evidence = { "driver.banner", "rdma.devices" });
	else if (efa && node_is_efa_without_gpudirect(ctx->node))
		NOTE(ctx,
		     .observed =
			     "proprietary kernel modules; this instance type has no GPUDirect RDMA",
		     .evidence = { "driver.banner", "os.product" });
	else if (efa && is_unknown(efa->p2p) && !is_known(efa->gdr))
		UNKNOWN(ctx,
			.observed =
				"proprietary kernel modules; whether the EFA driver reaches their memory was not read",
			.evidence = {
				fact_path(ctx->arena, "rdma.devices", efa->name.value, "p2p") });
	else if (!was_read(ctx->node->modules.loaded))
		UNKNOWN(ctx, .evidence = { "modules.loaded" });
	else if (peer_memory_module(ctx->node))
		NOTE(ctx,
		     .observed = text_printf(
			     ctx, "proprietary kernel modules; NICs reach GPU memory through %s",
			     peer_memory_module(ctx->node)),
		     .evidence = { "driver.banner", "modules.loaded" });
	else if (!efa && kernel_lacks_dmabuf(ctx->node))
		NOTE(ctx,
		     .observed = text_printf(ctx,
					     "proprietary kernel modules; with kernel %s the open "
					     "ones bring no DMA-BUF either",
					     ctx->node->os.kernel.value),
		     .evidence = { "driver.banner", "os.kernel" });
	else
		fail_flavour(ctx, efa);
}

static void check_flavour(struct rule_context *ctx)
{
	const struct driver_facts *driver = &ctx->node->driver;

	if (skip_without_driver(ctx))
		return;
	if (!is_known(driver->flavour))
		UNKNOWN(ctx, .evidence = { "driver.flavour" });
	else if (driver->flavour.value == FLAVOUR_OPEN)
		PASS(ctx, .evidence = { "driver.banner" });
	else
		check_proprietary(ctx);
}

static void check_version_floor(struct rule_context *ctx)
{
	const struct driver_facts *driver = &ctx->node->driver;

	if (skip_without_driver(ctx))
		return;
	if (version_compare(driver->version.value, VERSION_FLOOR) >= 0)
		PASS(ctx, .evidence = { "driver.version" });
	else
		FAIL(ctx, .observed = text_printf(ctx, "driver %s", driver->version.value),
		     .expected = VERSION_FLOOR " or later", .evidence = { "driver.version" });
}

/* ---- the module's file ---- */

static bool same_build(const struct module_file *file, const struct module *loaded)
{
	if (is_known(file->srcversion) && loaded && is_known(loaded->srcversion))
		return str_is(file->srcversion, loaded->srcversion.value);
	return true;
}

static const char *library_text(struct rule_context *ctx, const struct module_file *file)
{
	struct driver_libraries found = driver_libraries(ctx->node);
	const struct software_item *library = found.other ? found.other : found.same;

	if (!library)
		return " The libraries were not found.";
	if (str_is(library->version, file->version.value))
		return "";
	return text_printf(ctx, " The installed %s is %s, and does not match it.",
			   library->name.value, library->version.value);
}

static void check_module_on_disk(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct module_file *file = is_known(node->os.kernel)
						 ? driver_file(node, node->os.kernel.value)
						 : NULL;
	const struct module *loaded = node_module(node, "nvidia");
	const char *fact;

	if (skip_without_driver(ctx))
		return;
	if (!file && skip_without_module_files(ctx))
		return;
	if (!file) {
		NOT_APPLICABLE(ctx, .observed = "no nvidia.ko for this kernel under /lib/modules",
			       .evidence = { "modules.files" });
		return;
	}
	if (!is_known(file->version)) {
		UNKNOWN(ctx, .evidence = { fact_path(ctx->arena, "modules.files", file->path.value,
						     "version") });
		return;
	}
	fact = fact_path(ctx->arena, "modules.files", file->path.value, "version");
	if (strcmp(file->version.value, node->driver.version.value) != 0)
		FAIL(ctx,
		     .observed = text_printf(ctx, "%s on disk, %s loaded", file->version.value,
					     node->driver.version.value),
		     .expected = "one version, loaded and on disk",
		     .impact = text_printf(ctx, "The next boot or reload loads driver %s.%s",
					   file->version.value, library_text(ctx, file)),
		     .evidence = { fact, "driver.version" });
	else if (!same_build(file, loaded))
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "a different build of %s on disk (srcversion %s, loaded %s)",
			     file->version.value, file->srcversion.value, loaded->srcversion.value),
		     .expected = "the loaded build on disk",
		     .evidence = {
			     fact_path(ctx->arena, "modules.files", file->path.value, "srcversion"),
			     "modules.loaded[nvidia].srcversion" });
	else
		PASS(ctx, .evidence = { fact, "driver.version" });
}

static void check_proprietary_no_dmabuf(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	const struct rdma_device *efa = node_efa_alone(node);

	if (skip_without_driver(ctx))
		return;
	if (known_is(node->driver.flavour, FLAVOUR_OPEN))
		NOT_APPLICABLE(ctx, .observed = "open kernel modules",
			       .evidence = { "driver.flavour" });
	else if (efa)
		NOT_APPLICABLE(
			ctx,
			.observed = "the EFA driver decides: rdma/dmabuf-unsupported reports it",
			.evidence = { fact_path(ctx->arena, "rdma.devices", efa->name.value,
						is_known(efa->gdr) ? "gdr" : "p2p") });
	else if (!is_known(node->driver.flavour) || !was_read(node->modules.loaded))
		UNKNOWN(ctx, .evidence = { is_known(node->driver.flavour) ? "modules.loaded"
									  : "driver.flavour" });
	else if (peer_memory_module(node))
		NOTE(ctx,
		     .observed =
			     "A peer-memory module is loaded. cuMemCreate memory registers only if it was "
			     "allocated with gpuDirectRDMACapable.",
		     .evidence = { "driver.flavour", "modules.loaded" });
	else if (known_is(driver_has_peermem(node), false))
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "proprietary modules of driver %s, and nv_peer_mem is not loaded",
			     node->driver.version.value),
		     .expected = "nv_peer_mem loaded, or driver 470 or later",
		     .remedy = peermem_remedy(ctx->arena, ctx->node), .has_fix = true,
		     .evidence = { "driver.flavour", "driver.version", "modules.loaded" });
	else
		FAIL(ctx,
		     .observed =
			     "proprietary modules; neither nvidia_peermem nor nv_peer_mem is loaded",
		     .expected = "nvidia_peermem loaded, or the open kernel modules",
		     .evidence = { "driver.flavour", "modules.loaded" });
}

static const struct rule driver_rules[] = {
	{
		.id = "driver/loaded",
		.title = "No CUDA program runs: the NVIDIA driver is not loaded",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.needs_module = "nvidia",
		.evaluate = check_loaded,
		.impact = "No CUDA program runs.",
		.remedy = "Load the driver, then read the lines that it leaves in the kernel log.",
		.command = "sudo modprobe nvidia && sudo dmesg | grep -E 'NVRM|nvidia' | tail",
		.fix = { "load-module", { "nvidia" } },
		.activation = ACTIVATION_NOW,
		.follows = { "modules/nouveau-loaded", "modules/wrong-driver-bound",
			     "boot/module-signature-rejected",
			     "modules/nvidia-not-built-for-kernel", "modules/gpu-bound-vfio",
			     "log/access-refused" },
		.reads =
			"/proc/driver/nvidia/version, /sys/module/nvidia and the PCI bus. For the cause: "
			"modprobe.d, the kernel command line, the kernel log, and nvidia.ko on disk.",
		.why = "Most other checks of the driver need a loaded driver. A host that gives every GPU to"
		       " virtual machines needs no driver.",
		.check = "cat /proc/driver/nvidia/version; lspci -d 10de:",
		.sources = "open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-procfs.c, "
			   "kernel-open/nvidia/nv-pci.c (nv_pci_probe)",
	},
	{
		.id = "driver/flavour",
		.title = "GPUDirect RDMA has no DMA-BUF: the proprietary kernel modules are loaded",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_flavour,
		.impact = "NICs reach GPU memory only through nvidia_peermem.",
		.then = THEN_REBOOT,
		.remedy = "Install the open kernel modules of the same driver version (for Turing "
			  "and later GPUs).",
		.activation = ACTIVATION_REBOOT,
		.reads = "The NVRM version line in /proc/driver/nvidia/version.",
		.why = "Only the open kernel modules export GPU memory as a DMA-BUF. NCCL, UCX and NVSHMEM "
		       "prefer DMA-BUF, which needs no peer-memory module.",
		.check = "head -1 /proc/driver/nvidia/version",
		.cost = "Other packages and a reboot. GPUs before Turing have no open modules.",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-dmabuf.c "
			"(nv_dma_buf_export), README.md (Compatible GPUs)\n"
			"NVIDIA GPU Operator 25.10: GPUDirect RDMA and GPUDirect Storage, prerequisites\n"
			"NCCL 2.30.7: src/transport/net.cc (useDmaBuf); NVSHMEM 3.5.1: "
			"src/modules/transport/common/transport_ib_common.cpp; UCX 9466d10 (2026-08-21): "
			"src/ucp/core/ucp_mm.c",
	},
	{
		.id = "driver/version-floor",
		.title =
			"DeepEP does not start: the driver is too old for GPU-initiated networking",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_ERR,
		.evaluate = check_version_floor,
		.impact = "NVSHMEM IBGDA and NCCL GIN do not start.",
		.then = THEN_REBOOT,
		.remedy = "Install driver " VERSION_FLOOR " or later.",
		.activation = ACTIVATION_REBOOT,
		.reads = "The version in /proc/driver/nvidia/version.",
		.why = "NCCL's device API documentation requires driver " VERSION_FLOOR
		       ". GPUDirect RDMA "
		       "without GPU-initiated networking works with older drivers.",
		.check = "cat /sys/module/nvidia/version",
		.sources = "NCCL 2.30.7: docs/userguide/source/usage/deviceapi.rst, requirements\n"
			   "NVSHMEM 3.4.5: installation guide, hardware and software requirements",
	},
	{
		.id = "driver/module-on-disk-differs",
		.follows = { "modules/nvidia-versions-differ", "driver/library-mismatch" },
		.title = "The next boot loads another build of the NVIDIA driver",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_module_on_disk,
		.impact =
			"The next boot or reload changes the driver. The installed libraries may not match "
			"it.",
		.remedy = "Reboot in a maintenance window, then run nvnodecheck again.",
		.action = ACTION_REBOOT,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Version and srcversion of nvidia.ko on disk for the running kernel, and of the "
			"loaded module in /sys/module/nvidia.",
		.why = "/proc/driver/nvidia/version and /sys/module/nvidia/version both describe the loaded "
		       "module. Neither describes the file on disk.",
		.check = "modinfo -F version nvidia; cat /sys/module/nvidia/version",
		.sources =
			"Linux 6.12.117: Documentation/ABI/stable/sysfs-module, kernel/module/main.c "
			"(MODINFO_ATTR)",
	},
	{
		.id = "driver/proprietary-no-dmabuf",
		.title = "NICs cannot reach GPU memory: no DMA-BUF and no peer-memory module",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_proprietary_no_dmabuf,
		.impact =
			"NCCL and UCX copy through host memory. NVSHMEM does not start between nodes.",
		.remedy =
			"Load nvidia-peermem, and load it again at every boot. Or install the open kernel modules.",
		.command = "sudo modprobe nvidia-peermem && echo nvidia-peermem | sudo tee "
			   "/etc/modules-load.d/nvidia-peermem.conf",
		.fix = { "load-module", { "nvidia_peermem", "boot" } },
		.activation = ACTIVATION_NOW,
		.follows = { "modules/peermem-stub", "modules/peermem-unloadable",
			     "modules/peermem-symbol-mismatch",
			     "modules/peermem-not-built-for-kernel", "modules/peermem-not-loaded" },
		.trial = TRIAL_REGISTRATION,
		.reads = "The flavour of the driver and the loaded modules.",
		.why = "The proprietary modules export no DMA-BUF. Then only a peer-memory module gives NICs"
		       " access to GPU memory. It registers cudaMalloc memory, and cuMemCreate memory that "
		       "was allocated with gpuDirectRDMACapable.",
		.check = "head -1 /proc/driver/nvidia/version; lsmod | grep peer",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-dmabuf.c, "
			"kernel-open/nvidia-peermem/nvidia-peermem.c\n"
			"NCCL 2.30.7: docs/userguide/source/usage/bufferreg.rst (gpuDirectRDMACapable)\n"
			"github.com/NVIDIA/gdrcopy issue 257",
	},
};

RULE_TABLE(driver);
