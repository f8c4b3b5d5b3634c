/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver.c - the NVIDIA driver itself: there, of the right kind and version, and the same as its
 * file on disk and its user space. */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "query/driver-files.h"
#include "query/gpus.h"
#include "query/guests.h"
#include "query/module-block.h"
#include "query/ports.h"
#include "query/refusal.h"
#include "query/topology.h"

/* NVSHMEM's installation guide and NCCL's device API page name it as the floor for IBGDA. */
#define VERSION_FLOOR "510.40.3"

/* The module on disk is of no branch for any GPU here. */
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

/* What is known to keep the driver away; NULL: nothing. */
static const char *why_not_loaded(struct rule_context *ctx, const char **remedy, const char **fact)
{
	const char *block = module_block_find(ctx->arena, ctx->node, "nvidia", fact);
	struct refusal refusal;

	if (block) {
		*remedy =
			"Take that line or argument away (where it is in the initramfs too, rebuild that), then "
			"modprobe nvidia.";
		return block;
	}
	if (!is_wrong_branch(ctx, &refusal) && !refusal_of_driver(ctx->arena, ctx->node, &refusal))
		return NULL;
	*remedy = refusal.remedy;
	*fact = refusal.fact;
	return refusal.text;
}

static void fail_loaded(struct rule_context *ctx)
{
	size_t gpus = topology_gpus(ctx->node);
	const char *fact = NULL, *remedy = NULL;
	const char *why = why_not_loaded(ctx, &remedy, &fact);

	FAIL(ctx,
	     .observed = text_printf(ctx, "%zu NVIDIA GPU%s, no driver%s%s", gpus,
				     gpus == 1 ? "" : "s", why ? ": " : "", why ? why : ""),
	     .expected = "the nvidia kernel module loaded", .remedy = remedy,
	     .evidence = { "driver.loaded", fact });
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
				"every GPU is held back for virtual machines; whether on purpose "
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

/* No GPU here is one that the open modules take. */
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

static void check_flavour(struct rule_context *ctx)
{
	const struct driver_facts *driver = &ctx->node->driver;
	bool old;

	if (skip_without_driver(ctx))
		return;
	if (!is_known(driver->flavour))
		UNKNOWN(ctx, .evidence = { "driver.flavour" });
	else if (driver->flavour.value == FLAVOUR_OPEN)
		PASS(ctx, .evidence = { "driver.banner" });
	else if (is_all_before_turing(ctx->node, &old) != FACT_KNOWN)
		UNKNOWN(ctx,
			.observed =
				"proprietary kernel modules; whether the GPUs could have others was not "
				"read",
			.evidence = { "pci.devices" });
	else if (old)
		NOT_APPLICABLE(
			ctx,
			.observed = "GPUs before Turing, which the open kernel modules do not take",
			.evidence = { "driver.banner", "pci.devices" });
	else if (known_is(node_efa_reaches_gpus(ctx->node, NULL), true))
		NOTE(ctx,
		     .observed = "proprietary kernel modules, whose memory EFA's driver reaches "
				 "without DMA-BUF",
		     .evidence = { "driver.banner", "rdma.devices" });
	else
		FAIL(ctx, .observed = "proprietary kernel modules",
		     .expected = "open kernel modules", .evidence = { "driver.banner" });
}

static void check_version_floor(struct rule_context *ctx)
{
	const struct driver_facts *driver = &ctx->node->driver;

	if (skip_without_driver(ctx))
		return;
	if (version_compare(driver->version.value, VERSION_FLOOR) >= 0)
		PASS(ctx, .evidence = { "driver.version" });
	else
		FAIL_AS(ctx, is_asked_for(ctx, PROFILE_DEEPEP) ? SEVERITY_ERR : SEVERITY_INFO,
			.observed = text_printf(ctx, "%s is older than " VERSION_FLOOR,
						driver->version.value),
			.expected = VERSION_FLOOR " or later", .evidence = { "driver.version" });
}

/* ---- user space ---- */

static const char *library_fact(struct rule_context *ctx, const struct software_item *item)
{
	return fact_path(ctx->arena, "software.items", item->path.value, "version");
}

static bool is_stub(const struct software_item *item)
{
	return str_is(item->name, "libcuda") && strstr(item->path.value, "/stubs/libcuda.so");
}

/* One of the driver. */
static bool has_libcuda(const struct node *node, struct span folder)
{
	while (folder.n > 1 && folder.p[folder.n - 1] == '/')
		folder.n--;
	for_each(item, &node->software.items)
		if (str_is(item->name, "libcuda") && !is_stub(item) &&
		    strlen(item->path.value) > folder.n &&
		    strncmp(item->path.value, folder.p, folder.n) == 0 &&
		    strchr(item->path.value + folder.n + 1, '/') == NULL &&
		    item->path.value[folder.n] == '/')
			return true;
	return false;
}

/* A toolkit's stub is for linking. Programs that open libcuda.so by that name take the one of the first folder. */
static const char *stub_folder(struct rule_context *ctx)
{
	const char *path = node_env(ctx->node, "LD_LIBRARY_PATH");
	struct span rest = span_of(path ? path : ""), folder;

	while (span_cut(&rest, ':', &folder) && !has_libcuda(ctx->node, folder))
		if (span_ends(folder, "/stubs") || span_ends(folder, "/stubs/"))
			return text_printf(ctx, "%.*s", SPAN_FMT(folder));
	return NULL;
}

/* Such a folder is only looked into where the loader is told of it: in LD_LIBRARY_PATH or in ld.so.conf.d. */
static const struct software_item *loader_stub(const struct node *node)
{
	for (const char *at = node_env(node, "LD_LIBRARY_PATH"); at && (at = strstr(at, "/stubs"));
	     at++)
		if (!at[6] || strchr("/:", at[6]))
			return NULL;
	for_each(item, &node->software.items)
		if (is_stub(item))
			return item;
	return NULL;
}

static void fail_loader_stub(struct rule_context *ctx, const struct software_item *stub)
{
	bool soname = strstr(stub->path.value, "/libcuda.so.1");

	if (!was_read(ctx->node->env.variables)) {
		UNKNOWN(ctx,
			.observed = text_printf(
				ctx,
				"the loader is told of the folder of %s; whether another comes "
				"before it was not read",
				stub->path.value),
			.evidence = { "env.variables", library_fact(ctx, stub) });
		return;
	}
	FAIL_AS(ctx, SEVERITY_WARN, .subject = "ld.so.conf.d",
		.observed = text_printf(
			ctx, "the loader is told of the folder of %s, which is for linking",
			stub->path.value),
		.expected = "no folder of stubs in /etc/ld.so.conf.d",
		.impact =
			soname ? "Where it comes before the driver's, every CUDA program gets the stub: \"CUDA "
				 "driver is a stub library\" (34), or no device."
			       : "Programs that load libcuda.so by that name can get the stub: \"CUDA driver is "
				 "a stub library\" (34). The next ldconfig makes a libcuda.so.1 of it.",
		.remedy =
			soname ? "Take the line out of /etc/ld.so.conf.d, remove the link libcuda.so.1 from the "
				 "folder of stubs, and run ldconfig. ldconfig -p shows which comes first."
			       : "Take the line out of /etc/ld.so.conf.d and run ldconfig; for linking there is "
				 "LIBRARY_PATH.",
		.evidence = { library_fact(ctx, stub) });
}

static void check_library_mismatch(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	struct driver_libraries found;
	const struct software_item *stub;
	const char *stubs;

	if (skip_without_driver(ctx))
		return;
	found = driver_libraries(node);
	stubs = stub_folder(ctx);
	stub = loader_stub(node);
	if (found.other)
		FAIL(ctx,
		     .observed = text_printf(ctx, "%s %s, kernel module %s",
					     found.other->name.value, found.other->version.value,
					     node->driver.version.value),
		     .expected = "the same version in the kernel and in user space",
		     .evidence = { library_fact(ctx, found.other), "driver.version" });
	else if (stubs)
		FAIL_AS(ctx, SEVERITY_WARN, .subject = "LD_LIBRARY_PATH",
			.observed = text_printf(
				ctx, "it has %s, where the toolkit keeps a libcuda.so to link with",
				stubs),
			.expected = "no such folder where programs run",
			.impact =
				"Programs that load libcuda.so by that name get the stub: \"CUDA driver is a stub "
				"library\" (34). Those that load libcuda.so.1 do not.",
			.remedy =
				"Take it out of LD_LIBRARY_PATH; for linking there is LIBRARY_PATH.",
			.evidence = { "env.variables[LD_LIBRARY_PATH].value" });
	else if (stub)
		fail_loader_stub(ctx, stub);
	else if (found.same)
		PASS(ctx, .evidence = { library_fact(ctx, found.same), "driver.version" });
	else if (node_log(node, "api-mismatch"))
		FAIL(ctx, .observed = node_log(node, "api-mismatch")->last.value,
		     .expected = "the same version in the kernel and in user space",
		     .evidence = { "log.lines[api-mismatch].last", "driver.version" });
	else if (!skip_unless_software_whole(ctx))
		NOT_APPLICABLE(ctx, .observed = "no libcuda or libnvidia-ml was found on this node",
			       .evidence = { "software.items" });
}

/* ---- the module's file ---- */

static bool same_build(const struct module_file *file, const struct module *loaded)
{
	if (is_known(file->srcversion) && loaded && is_known(loaded->srcversion))
		return str_is(file->srcversion, loaded->srcversion.value);
	return true;
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
		     .expected = "the loaded driver's own file on disk",
		     .evidence = { fact, "driver.version" });
	else if (!same_build(file, loaded))
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "another build of %s on disk (srcversion %s, loaded %s)",
			     file->version.value, file->srcversion.value, loaded->srcversion.value),
		     .expected = "the loaded driver's own file on disk",
		     .evidence = {
			     fact_path(ctx->arena, "modules.files", file->path.value, "srcversion"),
			     "modules.loaded[nvidia].srcversion" });
	else
		PASS(ctx, .evidence = { fact, "driver.version" });
}

static void check_proprietary_no_dmabuf(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	const struct rdma_device *efa = NULL;

	if (skip_without_driver(ctx))
		return;
	if (known_is(node->driver.flavour, FLAVOUR_OPEN))
		NOT_APPLICABLE(ctx, .observed = "open kernel modules",
			       .evidence = { "driver.flavour" });
	else if (is_known(node_efa_reaches_gpus(node, &efa)))
		NOT_APPLICABLE(ctx,
			       .observed = "EFA has a way of its own: see rdma/dmabuf-unsupported",
			       .evidence = { fact_path(ctx->arena, "rdma.devices", efa->name.value,
						       is_known(efa->p2p) ? "p2p" : "gdr") });
	else if (!is_known(node->driver.flavour) || !was_read(node->modules.loaded))
		UNKNOWN(ctx, .evidence = { is_known(node->driver.flavour) ? "modules.loaded"
									  : "driver.flavour" });
	else if (node_module(node, "nvidia_peermem") || node_module(node, "nv_peer_mem"))
		NOTE(ctx,
		     .observed =
			     "peer memory is the only way: it takes cudaMalloc memory, and not that of "
			     "cuMemCreate (CUDA virtual memory management)",
		     .expected = "nothing, unless a program registers such memory",
		     .impact =
			     "Registering cuMemCreate memory, as PyTorch's expandable segments make it, "
			     "fails.",
		     .remedy = "The open kernel modules export DMA-BUF, which takes both.",
		     .evidence = { "driver.flavour", "modules.loaded" });
	else
		FAIL(ctx,
		     .observed = "proprietary modules, and neither nvidia_peermem nor nv_peer_mem",
		     .expected = "nvidia_peermem loaded, or the open kernel modules",
		     .evidence = { "driver.flavour", "modules.loaded" });
}

static const struct rule driver_rules[] = {
	{
		.id = "driver/loaded",
		.title = "The NVIDIA driver is not loaded",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.needs_module = "nvidia",
		.evaluate = check_loaded,
		.impact = "No CUDA program can see a GPU.",
		.remedy =
			"modprobe nvidia, and read what the kernel log says about it. If there is "
			"no module for this kernel, install or rebuild the driver.",
		.fix = { "load-module", { "nvidia" } },
		.activation = ACTIVATION_NOW,
		.follows = { "modules/nouveau-loaded", "modules/wrong-driver-bound",
			     "boot/module-signature-rejected",
			     "modules/nvidia-not-built-for-kernel", "modules/gpu-bound-vfio" },
		.reads =
			"/proc/driver/nvidia/version, /sys/module/nvidia, and the PCI bus for NVIDIA "
			"display controllers; why it is not there: modprobe.d, the kernel's command line and log, "
			"the version of nvidia.ko on disk.",
		.why = "Every other answer about the driver depends on it. A host that gives every GPU to virtual "
		       "machines needs no driver.",
		.check = "cat /proc/driver/nvidia/version; lspci -d 10de:",
		.sources = "open-gpu-kernel-modules: kernel-open/nvidia/nv-procfs.c",
	},
	{
		.id = "driver/flavour",
		.title = "The proprietary kernel modules are loaded",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_flavour,
		.impact =
			"No DMA-BUF export: GPUDirect RDMA works through nvidia-peermem only, and "
			"Blackwell GPUs do not work at all.",
		.remedy =
			"Install the open kernel modules (Turing and later), the default since 560.",
		.activation = ACTIVATION_REBOOT,
		.reads = "The NVRM version line in /proc/driver/nvidia/version.",
		.why = "Only the open kernel modules export GPU memory as DMA-BUF, which NCCL, UCX and "
		       "NVSHMEM prefer and which needs no peer-memory module.",
		.check = "head -1 /proc/driver/nvidia/version   (\"Open Kernel Module\" or not)",
		.cost = "A change of packages and a reboot. GPUs before Turing have no open modules.",
		.sources = "open-gpu-kernel-modules: kernel-open/nvidia/nv-dmabuf.c\n"
			   "docs.nvidia.com: GPU Operator, GPUDirect RDMA",
	},
	{
		.id = "driver/version-floor",
		.title = "The driver is older than GPU-initiated networking supports",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_version_floor,
		.impact = "NVSHMEM IBGDA and NCCL GIN do not start.",
		.remedy = "Install driver " VERSION_FLOOR " or later.",
		.activation = ACTIVATION_REBOOT,
		.reads = "The version in /proc/driver/nvidia/version.",
		.why = "nvidia.ko " VERSION_FLOOR
		       " is the floor that NVSHMEM's installation guide and "
		       "NCCL's device API documentation give. Work without GPU-initiated networking does not "
		       "need it: outside of the profile deepep it is a note.",
		.check = "cat /sys/module/nvidia/version",
		.sources = "NVSHMEM installation guide, host requirements\n"
			   "NCCL user guide, device API",
	},
	{
		.id = "driver/library-mismatch",
		.title = "User space and the loaded kernel module have different versions",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_library_mismatch,
		.impact =
			"nvidia-smi and every CUDA program fail: \"Driver/library version mismatch\".",
		.remedy =
			"Reboot, or unload and load the kernel modules with nothing using the GPUs. If "
			"the mismatch comes back, the file under /lib/modules or the initramfs is the "
			"old one: see driver/module-on-disk-differs and boot/initramfs-stale.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The loaded version, and the version suffix of libcuda.so and libnvidia-ml.so "
			"in the library folders; a toolkit's folder of stubs in LD_LIBRARY_PATH or "
			"/etc/ld.so.conf.d.",
		.why = "The kernel module refuses clients of another version. An upgrade of the packages "
		       "changes user space at once and the loaded module only at the next load.",
		.check = "cat /sys/module/nvidia/version; ls /usr/lib/*/libcuda.so.*",
		.sources = "open-gpu-kernel-modules: src/nvidia/arch/nvalloc/unix/src/osapi.c (API "
			   "mismatch)\n"
			   "github.com/NVIDIA/warp/issues/219 (the stub)",
	},
	{
		.id = "driver/module-on-disk-differs",
		.title = "The module on disk is not the one that is loaded",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_module_on_disk,
		.impact =
			"The next boot or reload brings another driver, perhaps one that user space "
			"does not fit.",
		.remedy = "Reboot at a time of your choosing, before it happens at another.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Version and srcversion of nvidia.ko for the running kernel, and of the loaded "
			"module in /sys/module/nvidia.",
		.why = "/proc/driver/nvidia/version and /sys/module/nvidia/version both show the loaded "
		       "module; comparing these two proves nothing about the disk.",
		.check = "modinfo -F version nvidia; cat /sys/module/nvidia/version",
		.sources = "Linux: Documentation/ABI/stable/sysfs-module",
	},
	{
		.id = "driver/proprietary-no-dmabuf",
		.title = "These kernel modules do not export GPU memory as a DMA-BUF",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_proprietary_no_dmabuf,
		.impact = "NCCL, UCX and NVSHMEM copy through host memory, or do not start.",
		.remedy =
			"modprobe nvidia-peermem and have it loaded at boot, or install the open kernel "
			"modules.",
		.fix = { "load-module", { "nvidia_peermem", "boot" } },
		.activation = ACTIVATION_NOW,
		.follows = { "modules/peermem-stub", "modules/peermem-unloadable",
			     "modules/peermem-symbol-mismatch",
			     "modules/peermem-not-built-for-kernel" },
		.trial = TRIAL_REGISTRATION,
		.reads = "The flavour of the driver and the loaded modules.",
		.why = "The proprietary modules export no DMA-BUF, so only a peer-memory module can give "
		       "the NIC access to GPU memory.",
		.check = "head -1 /proc/driver/nvidia/version; lsmod | grep peer",
		.sources = "open-gpu-kernel-modules: kernel-open/nvidia/nv-dmabuf.c",
	},
};

RULE_TABLE(driver);
