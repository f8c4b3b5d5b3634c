/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-fork.c - GeForce cards, which the stock driver shuts out of GPUDirect, and the builds that
 * are patched for peer-to-peer. */
#include "evaluate/skip.h"
#include "query/driver-files.h"
#include "query/gpus.h"
#include "query/peer-support.h"
#include "query/topology.h"

#include <string.h>

static const char *library_fact(struct rule_context *ctx, const struct software_item *item)
{
	return fact_path(ctx->arena, "software.items", item->path.value, "version");
}

/* Whether it is one. Where that could not be told, this answers the rule, and is true. */
static bool skip_without_patch_state(struct rule_context *ctx, bool *patched, const char **signs)
{
	struct fact_bool answer = driver_is_patched(ctx->node, ctx->arena, signs);

	*patched = known_is(answer, true);
	if (is_known(answer))
		return false;
	UNKNOWN(ctx, .observed = "whether the driver is a patched build could not be told",
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
		FAIL(ctx, .observed = text_printf(ctx, "probably a patched build: %s", signs),
		     .expected = "nothing; for your information", .evidence = { "driver.banner" });
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
		     .observed = text_printf(ctx, "patched kernel module %s, %s %s",
					     node->driver.version.value, found.other->name.value,
					     found.other->version.value),
		     .expected = "user space of exactly the version the patch was made for",
		     .evidence = { library_fact(ctx, found.other), "driver.version" });
	else if (found.same)
		PASS(ctx, .evidence = { library_fact(ctx, found.same), "driver.version" });
	else
		UNKNOWN(ctx, .observed = "no libcuda or libnvidia-ml was found",
			.evidence = { "software.items" });
}

/* ---- GeForce ---- */

static bool is_geforce(const struct pci_device *device)
{
	const struct gpu_model *model = gpu_model(device);

	return model && model->kind == GPU_GEFORCE;
}

/* Somebody tried it: -EINVAL is how nvidia_p2p_get_pages() turns a GeForce away. */
static const struct log_line *turned_away(const struct node *node)
{
	const struct log_line *line = node_log(node, "gdrdrv-pin-failed");

	line = line ? line : node_log(node, "peermem-get-pages-failed");
	return line && strstr(line->last.value, "-22") ? line : NULL;
}

static void check_geforce_rdma(struct rule_context *ctx, const struct pci_device *d, bool fork)
{
	const char *fact = fact_path(ctx->arena, "pci.devices", d->bdf.value, "device_id");
	const struct log_line *line = turned_away(ctx->node);
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
				"%s with a probably patched driver: libcuda decides, and "
				"nothing on disk tells",
				name),
			.remedy = "Try it: ib_write_bw --use_cuda, or gdrcopy_sanity.",
			.evidence = { fact, "driver.banner" });
	else
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "%s with the stock driver: no GPUDirect RDMA",
					     name),
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
		     .observed = text_printf(ctx, "%s: over an NVLink bridge only", model->name),
		     .expected = "an NVLink bridge between the cards, or copies through the host",
		     .evidence = { fact });
	else
		FAIL_AS(ctx, is_asked_for(ctx, PROFILE_P2P) ? SEVERITY_ERR : SEVERITY_INFO,
			.subject = d->bdf.value,
			.observed = text_printf(ctx, "%s with the stock driver: no peer-to-peer",
						model->name),
			.expected = "a data-centre or RTX professional GPU",
			.impact =
				"Copies between GPUs go through host memory; cudaDeviceCanAccessPeer "
				"says no.",
			.evidence = { fact });
}

static size_t count_geforce(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->pci.devices)
		n += pci_is_gpu(d) && is_geforce(d);
	return n;
}

static void check_geforce(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	bool p2p = topology_gpus(node) > 1, asked = p2p && is_asked_for(ctx, PROFILE_P2P), fork;
	bool rdma = is_asked_for(ctx, PROFILE_RDMA_ANY) && (node->rdma.devices.count || !asked);
	const char *signs;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (count_geforce(node) == 0) {
		NOT_APPLICABLE(ctx, .observed = "no GeForce", .evidence = { "pci.devices" });
		return;
	}
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

static void check_alignment(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "peer-dma-unaligned");

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (line)
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
		.title = "The driver is probably a build patched for peer-to-peer",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_INFO,
		.evaluate = check_fork,
		.impact =
			"None by itself: peer-to-peer works with such a build as far as its patch goes.",
		.remedy =
			"Keep user space at exactly this version, and know that a package upgrade "
			"replaces the patched modules.",
		.reads =
			"The builder in the NVRM version line, EnableResizableBar against the size of "
			"BAR1, and the kernel log.",
		.why = "The patched drivers carry the version of the stock driver, so there are only "
		       "signs: a builder that is neither NVIDIA nor a distribution, a large BAR1 on a "
		       "GeForce without EnableResizableBar, a log line of the 550 branch. A DKMS build "
		       "of the stock open modules shows the first as well. What is uncertain stays so.",
		.check = "head -1 /proc/driver/nvidia/version; dmesg | grep bar1BusAddr",
		.sources = "github.com/tinygrad/open-gpu-kernel-modules\n"
			   "github.com/aikitoria/open-gpu-kernel-modules",
	},
	{
		.id = "driver/driver-userspace-fork-mismatch",
		.title = "A patched driver runs with user space of another version",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_ERR,
		.evaluate = check_fork_userspace,
		.impact = "CUDA does not start: \"Driver/library version mismatch\".",
		.remedy =
			"Install the user space (.run) of exactly the version the patch was made for, "
			"and hold the packages.",
		.reads = "As driver/p2p-fork-heuristic and driver/library-mismatch.",
		.why = "The patched modules are built from one release; distributions offer neighbours "
		       "of it.",
		.check = "cat /sys/module/nvidia/version; ls /usr/lib/*/libcuda.so.*",
		.sources = "github.com/aikitoria/open-gpu-kernel-modules README",
	},
	{
		.id = "driver/geforce-no-gpudirect",
		.title = "GeForce cards are shut out of GPUDirect",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_geforce,
		.impact =
			"No NIC can read or write GPU memory: nvidia_p2p_get_pages() answers -EINVAL and "
			"libcuda exports no DMA-BUF. NCCL and UCX copy through host memory; NVSHMEM and "
			"gdrcopy do not start.",
		.remedy =
			"Use a data-centre or RTX professional GPU. For copies between GPUs, not for RDMA, "
			"there are patched kernel modules, which NVIDIA does not support.",
		.activation = ACTIVATION_NONE,
		.reads = "PCI device ids, in NVIDIA's list of supported GPUs, and the signs of "
			 "driver/p2p-fork-heuristic.",
		.why = "GPUDirect RDMA is for data-centre and professional GPUs; the gate is in libcuda and "
		       "in the kernel module's capability of the board. From Turing on the stock driver "
		       "also refuses peer-to-peer over PCIe between GeForce cards; over NVLink it works "
		       "where the card has a connector. Where nobody asks for peer-to-peer (--profile p2p) that is a "
		       "note. An id that is not in the table is not judged.",
		.check = "lspci -nnd 10de:; nvidia-smi topo -p2p r",
		.sources = "docs.nvidia.com: GPUDirect RDMA, supported systems\n"
			   "github.com/NVIDIA/gdrcopy/issues/206\n"
			   "github.com/tinygrad/open-gpu-kernel-modules README",
	},
	{
		.id = "driver/p2p-bar1-alignment",
		.title = "The driver refused to map a peer's memory: its address is not aligned",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_WARN,
		.evaluate = check_alignment,
		.impact =
			"cudaDeviceEnablePeerAccess fails: \"mapping of buffer object failed\" (205).",
		.remedy =
			"Have the IOMMU not translate (iommu=pt, or off in the firmware): the addresses that "
			"it hands out are the ones not aligned. See iommu/translation-enabled.",
		.fix = { "iommu-passthrough" },
		.activation = ACTIVATION_REBOOT,
		.reads = "\"The peer DMA address ... is not aligned at\" in the kernel log.",
		.why = "Peer-to-peer through a static BAR1 maps the peer with pages of 512 MiB, so the DMA "
		       "address has to be a multiple of that. A large BAR itself is; an address made up by the "
		       "IOMMU need not be. Cards that carry such traffic by default, and patched drivers, "
		       "show it.",
		.check = "dmesg | grep 'is not aligned at'",
		.sources =
			"open-gpu-kernel-modules: src/nvidia/src/kernel/gpu/bus/arch/hopper/kern_bus_gh100.c\n"
			"github.com/tinygrad/open-gpu-kernel-modules/issues/44",
	},
};

RULE_TABLE(driver_fork);
