/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-fork.c - GeForce cards, on which the stock driver refuses GPUDirect, and the builds that are patched
 * for peer-to-peer. */
#include <string.h>

#include "evaluate/skip.h"
#include "query/driver-files.h"
#include "query/gpus.h"
#include "query/pci-device.h"
#include "query/peer-support.h"
#include "query/topology.h"

/* Sets PATCHED. Answers the rule and returns true if that is not known. */
static bool skip_without_patch_state(struct rule_context *ctx, bool *patched, const char **signs)
{
	struct fact_bool answer = driver_is_patched(ctx->node, ctx->arena, signs);

	*patched = known_is(answer, true);
	if (is_known(answer))
		return false;
	UNKNOWN(ctx, .observed = "whether the driver is a patched build is not known",
		.evidence = { "driver.params", "pci.devices" });
	return true;
}

static void check_fork(struct rule_context *ctx)
{
	const char *signs;
	bool fork;

	if (skip_without_driver(ctx) || skip_without_patch_state(ctx, &fork, &signs))
		return;
	if (fork)
		NOTE(ctx, .observed = text_printf(ctx, "signs of a patched build: %s", signs),
		     .evidence = { "driver.banner" });
	else
		PASS(ctx, .observed = "no sign of a patched build",
		     .evidence = { "driver.banner" });
}

static void check_fork_userspace(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	struct driver_libraries found;
	const char *signs;
	bool fork;

	if (skip_without_driver(ctx) || skip_without_patch_state(ctx, &fork, &signs))
		return;
	if (!fork) {
		NOT_APPLICABLE(ctx, .observed = "no sign of a patched build");
		return;
	}
	found = driver_libraries(node);
	if (found.other)
		FAIL(ctx,
		     .observed = text_printf(ctx, "the patched kernel module is %s, %s is %s",
					     node->driver.version.value, found.other->name.value,
					     found.other->version.value),
		     .expected = "libraries of the module's version",
		     .evidence = { software_version_fact(ctx->arena, found.other),
				   "driver.version" });
	else if (found.same)
		PASS(ctx, .evidence = { software_version_fact(ctx->arena, found.same),
					"driver.version" });
	else
		UNKNOWN(ctx, .observed = "libcuda and libnvidia-ml were not found",
			.evidence = { "software.items" });
}

/* ---- GeForce ---- */

static bool is_geforce(const struct pci_device *device)
{
	const struct gpu_model *model = gpu_model(device);

	return model && model->kind == GPU_GEFORCE;
}

/* A program tried it: nvidia_p2p_get_pages() refuses a GeForce with -EINVAL. */
static const struct log_line *find_refusal(const struct node *node)
{
	const struct log_line *line = node_log(node, "gdrdrv-pin-failed");

	line = line ? line : node_log(node, "peermem-get-pages-failed");
	return line && strstr(line->last.value, "-22") ? line : NULL;
}

/* A build of this machine can be patched, but without a large BAR1 the patch has no effect. */
static const char *build_text(struct rule_context *ctx)
{
	const char *signs;

	driver_is_patched(ctx->node, ctx->arena, &signs);
	return *signs ? text_printf(ctx, ", and no sure sign of a patched driver (%s)", signs)
		      : " with the stock driver";
}

static void check_geforce_rdma(struct rule_context *ctx, const struct pci_device *d, bool fork)
{
	const char *fact = fact_path(ctx->arena, "pci.devices", d->bdf.value, "device_id");
	const struct log_line *line = find_refusal(ctx->node);
	const char *name = gpu_model(d)->name;

	if (line)
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "%s: %s", name, line->last.value),
		     .expected = "a data-centre or RTX professional GPU",
		     .evidence = { fact, fact_path(ctx->arena, "log.lines", line->pattern.value,
						   "last") });
	else if (fork)
		UNKNOWN(ctx, .subject = d->bdf.value,
			.observed = text_printf(
				ctx,
				"%s with a probably patched driver: whether its libcuda "
				"allows GPUDirect RDMA is not known",
				name),
			.remedy = "Try it: ib_write_bw --use_cuda, or gdrcopy_sanity.",
			.evidence = { fact, "driver.banner" });
	else
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "%s: no GPUDirect RDMA%s", name, build_text(ctx)),
		     .expected = "a data-centre or RTX professional GPU", .evidence = { fact });
}

static void check_geforce_p2p(struct rule_context *ctx, const struct pci_device *d, bool fork)
{
	const char *fact = fact_path(ctx->arena, "pci.devices", d->bdf.value, "device_id");
	const struct gpu_model *model = gpu_model(d);

	if (fork || gpu_is_before_turing(d))
		PASS(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "%s%s", model->name,
					     fork ? ", with a probably patched driver" : ""),
		     .evidence = { fact, "driver.banner" });
	else if (gpu_peer_support(d) == PEERS_OVER_NVLINK)
		NOTE(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "%s: peer-to-peer only over an NVLink bridge",
					     model->name),
		     .evidence = { fact });
	else
		FAIL_AS(ctx, is_asked_for(ctx, PROFILE_P2P) ? SEVERITY_ERR : SEVERITY_INFO,
			.subject = d->bdf.value,
			.observed = text_printf(ctx, "%s: no peer-to-peer%s", model->name,
						build_text(ctx)),
			.expected = "a data-centre or RTX professional GPU",
			.impact =
				"Copies between GPUs go through host memory. cudaDeviceCanAccessPeer "
				"returns 0.",
			.evidence = { fact });
}

static size_t count_geforce(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->pci.devices)
		n += pci_is_gpu(d) && is_geforce(d);
	return n;
}

/* GPUDirect Storage supports data-centre and professional GPUs. */
static void check_storage(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (node_module(node, "nvidia_fs") && count_geforce(node) == topology_gpus(node))
		FAIL_AS(ctx, SEVERITY_WARN, .subject = "nvidia-fs",
			.observed = "nvidia-fs is loaded, and all GPUs are GeForce cards",
			.expected = "a data-centre or RTX professional GPU",
			.impact =
				"GPUDirect Storage does not work. cuFile copies through host memory, "
				"or fails if its compatibility mode is off.",
			.remedy =
				"Unload nvidia-fs and uninstall it: cuFile then uses its compatibility mode, which "
				"copies through host memory.",
			.command = "sudo modprobe -r nvidia_fs", .repaired_by = BY_ADMIN,
			.action = ACTION_CONFIGURE, .activation = ACTIVATION_NOW, .ends_jobs = true,
			.is_alone = true,
			.evidence = { "modules.loaded[nvidia_fs].state", "pci.devices" });
}

static void check_geforce(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	bool p2p = topology_gpus(node) > 1, asked = p2p && is_asked_for(ctx, PROFILE_P2P), fork;
	bool rdma = is_asked_for(ctx, PROFILE_GPUDIRECT_ANY) &&
		    (node->rdma.devices.count || !asked);
	const char *signs;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (count_geforce(node) == 0) {
		NOT_APPLICABLE(ctx, .observed = "no GeForce", .evidence = { "pci.devices" });
		return;
	}
	check_storage(ctx);
	if ((rdma && skip_without_rdma(ctx)) || skip_without_params(ctx))
		return;
	if (!rdma && !p2p) {
		NOT_APPLICABLE(ctx, .observed = "one GPU", .evidence = { "pci.devices" });
		return;
	}
	if (skip_without_patch_state(ctx, &fork, &signs))
		return;
	for_each(d, &node->pci.devices) {
		if (!pci_is_gpu(d) || !is_geforce(d))
			continue;
		if (rdma)
			check_geforce_rdma(ctx, d, fork);
		else
			check_geforce_p2p(ctx, d, fork);
	}
}

/* ---- alignment ---- */

/* False: the addresses that GPUs use are those of the BARs. */
static bool may_be_translated(const struct node *node)
{
	if (!was_read(node->iommu.devices))
		return true;
	for_each(d, &node->pci.devices) {
		const struct iommu_device *i = pci_is_gpu(d) ? topology_iommu(node, d) : NULL;

		if (i && (!is_known(i->type) || str_starts(i->type, "DMA")))
			return true;
	}
	return false;
}

/* src/nvidia/src/kernel/gpu/bus/arch/maxwell/kern_bus_gm107.c: the mapping begins after the console's. */
static void fail_for_console(struct rule_context *ctx, const struct log_line *line)
{
	FAIL(ctx,
	     .observed = text_printf(
		     ctx,
		     "%s; no IOMMU translates: this GPU keeps the console at the beginning of BAR1",
		     line->last.value),
	     .expected = "peer addresses at multiples of 512 MiB",
	     .remedy =
		     "Make other graphics the first display in the firmware setup. Or install driver 580.65.06 or "
		     "later, with a patch that keeps its alignment.",
	     .has_fix = true, .repaired_by = BY_FIRMWARE,
	     .evidence = { "log.lines[peer-dma-unaligned].last", "iommu.devices" });
}

static void check_alignment(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "peer-dma-unaligned");

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (line && !may_be_translated(ctx->node))
		fail_for_console(ctx, line);
	else if (line)
		FAIL(ctx, .observed = line->last.value,
		     .expected = "peer addresses at multiples of 512 MiB",
		     .evidence = { "log.lines[peer-dma-unaligned].last" });
	else if (topology_gpus(ctx->node) < 2)
		NOT_APPLICABLE(ctx, .observed = "one GPU", .evidence = { "pci.devices" });
	else if (!skip_without_whole_log(ctx))
		PASS(ctx, .evidence = { "log.lines" });
}

static const struct rule driver_fork_rules[] = {
	{
		.id = "driver/p2p-fork-heuristic",
		.title = "The driver can be a build patched for peer-to-peer",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_INFO,
		.evaluate = check_fork,
		.impact =
			"With such a build peer-to-peer works as far as the patch supports this GPU. NVIDIA does not support "
			"it.",
		.remedy =
			"If it is one, keep the libraries at exactly this version. A package upgrade can replace the patched "
			"modules.",
		.reads =
			"The builder in the NVRM version line, EnableResizableBar and the size of BAR1, and "
			"the kernel log.",
		.why = "Patched drivers carry the version of the stock driver, so there are only signs, which can "
		       "mislead: a builder that is neither NVIDIA nor a distribution, a large BAR1 on a GeForce "
		       "although EnableResizableBar is 0, and log lines about BAR1 peer-to-peer on GeForce "
		       "cards. A DKMS build of the stock modules also shows a local builder.",
		.check =
			"head -1 /proc/driver/nvidia/version; dmesg | grep -iE 'bar1BusAddr|BAR1 P2P'",
		.sources = "github.com/tinygrad/open-gpu-kernel-modules 550.90.07-p2p: README.md\n"
			   "github.com/aikitoria/open-gpu-kernel-modules 570.86.16-p2p: "
			   "kernel-open/nvidia/nv-pci.c, src/nvidia/src/kernel/rmapi/nv_gpu_ops.c",
	},
	{
		.id = "driver/driver-userspace-fork-mismatch",
		.title = "CUDA fails: the patched driver and its libraries have different versions",
		.is_short_effect = true,
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_ERR,
		.evaluate = check_fork_userspace,
		.impact =
			"CUDA does not start (error 803), and nvidia-smi says: \"Driver/library version mismatch\".",
		.remedy =
			"Install the libraries of exactly the version that the patch was made for (.run file "
			"with --no-kernel-modules), and hold the packages.",
		.reads = "The same as driver/p2p-fork-heuristic and driver/library-mismatch.",
		.why = "The patched modules are built from one driver release. Distributions often have "
		       "a different release.",
		.check = "cat /sys/module/nvidia/version; ls /usr/lib/*/libcuda.so.*",
		.sources =
			"github.com/aikitoria/open-gpu-kernel-modules 570.86.16-p2p: README.md (How to Build)\n"
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osapi.c (API "
			"mismatch)",
	},
	{
		.id = "driver/geforce-no-gpudirect",
		.title = "GPUDirect does not work on GeForce cards",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_geforce,
		.impact =
			"No NIC can read or write GPU memory. NCCL and UCX copy through host memory. GDRCopy does not work.",
		.remedy =
			"Use a data-centre or RTX professional GPU. On GeForce let NCCL copy through host memory: with this "
			"driver, settings of the IOMMU or BAR1 do not change that.",
		.repaired_by = BY_HARDWARE,
		.action = ACTION_NONE,
		.activation = ACTIVATION_NONE,
		.reads = "PCI device ids in the table of GPU models, and the signs of "
			 "driver/p2p-fork-heuristic.",
		.why = "NVIDIA supports GPUDirect RDMA on data-centre and professional GPUs. From Turing on "
		       "the stock driver also refuses peer-to-peer over PCIe between GeForce cards. "
		       "Peer-to-peer over NVLink works on cards with a connector. Without --profile p2p the "
		       "missing peer-to-peer is a note. Ada cards with a driver before 525.105.17: "
		       "software/known-bad.",
		.check = "lspci -nnd 10de:; nvidia-smi topo -p2p r",
		.sources = "NVIDIA GPUDirect RDMA 13.0: Supported Systems\n"
			   "github.com/NVIDIA/gdrcopy issue 206\n"
			   "github.com/NVIDIA/gds-nvidia-fs v2.28.4: README.md (Requirements)\n"
			   "cuFile API Reference Guide: cuFile Compatibility Mode\n"
			   "github.com/tinygrad/open-gpu-kernel-modules 550.90.07-p2p: README.md",
	},
	{
		.id = "driver/p2p-bar1-alignment",
		.title = "Peer-to-peer fails: the address of a peer's memory is not aligned",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_WARN,
		.evaluate = check_alignment,
		.impact =
			"cudaDeviceEnablePeerAccess fails: \"mapping of buffer object failed\" (205).",
		.remedy =
			"Boot with iommu=pt: an IOMMU that translates gives out unaligned addresses.",
		.fix = { "iommu-passthrough" },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"\"The peer DMA address ... is not aligned at\" in the kernel log, and the type of the IOMMU group "
			"of each GPU.",
		.why = "Peer-to-peer through a static BAR1 can map the peer's memory with pages of 512 MiB. "
		       "The driver refuses a DMA address that is no multiple of that. An address that the IOMMU assigns need not be. Without "
		       "translation it is the BAR's, and NVIDIA's drivers before 580.65.06 begin the mapping right after the "
		       "console of the GPU that the firmware used first.",
		.check = "dmesg | grep 'is not aligned at'",
		.sources =
			"open-gpu-kernel-modules 595.45.04: "
			"src/nvidia/src/kernel/gpu/bus/arch/hopper/kern_bus_gh100.c\n"
			"open-gpu-kernel-modules 575.64.05 and 580.65.06: "
			"src/nvidia/src/kernel/gpu/bus/arch/maxwell/kern_bus_gm107.c (kbusInitBar1_GM107)\n"
			"github.com/tinygrad/open-gpu-kernel-modules issue 44, pulls 48 and 49 (2025-11)",
	},
};

RULE_TABLE(driver_fork);
