/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bios.c - settings of the firmware setup, as far as the running system shows them. */
#include <inttypes.h>
#include <string.h>

#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/kind.h"
#include "query/pci-device.h"
#include "query/topology.h"

/* ---- NUMA nodes per socket ---- */

/* Socket numbers can have gaps: counts those that no earlier node has. */
static size_t sockets(const struct node *node)
{
	size_t count = 0;

	for (uint32_t i = 0; i < node->numa.nodes.count; i++) {
		const struct numa_node *n = &node->numa.nodes.items[i];
		bool seen = !is_known(n->socket);

		for (uint32_t k = 0; k < i && !seen; k++)
			seen = known_is(node->numa.nodes.items[k].socket, n->socket.value);
		count += !seen;
	}
	return count;
}

static bool sockets_known(const struct node *node)
{
	for_each(n, &node->numa.nodes)
		if (is_unknown(n->socket))
			return false;
	return sockets(node) > 0;
}

/* Nodes with processors: expanders have memory alone. */
static size_t processor_nodes(const struct node *node)
{
	size_t n = 0;

	for_each(numa, &node->numa.nodes)
		n += is_known(numa->socket);
	return n;
}

/* Returns true if the rule has answered. */
static bool skip_without_epyc(struct rule_context *ctx)
{
	const struct os_facts *os = &ctx->node->os;

	if (node_is(ctx->node, KIND_VIRTUAL_MACHINE))
		NOT_APPLICABLE(ctx, .observed = "a virtual machine",
			       .evidence = { "os.hypervisor" });
	else if (is_unknown(os->cpu_model) || is_unknown(os->hypervisor))
		UNKNOWN(ctx, .evidence = { is_unknown(os->cpu_model) ? "os.cpu_model"
								     : "os.hypervisor" });
	else if (!str_is(os->cpu_vendor, "AuthenticAMD") ||
		 (is_known(os->cpu_model) && !strstr(os->cpu_model.value, "EPYC")))
		NOT_APPLICABLE(ctx, .observed = "no EPYC processor",
			       .evidence = { "os.cpu_model" });
	else
		return false;
	return true;
}

static void check_nps(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t per_socket;

	if (skip_without_gpu(ctx))
		return;
	/* Concerns copies between GPUs over PCIe as well as transfers of NICs. */
	if (!(is_asked_for(ctx, PROFILE_P2P) && topology_gpus(node) > 1) && skip_without_rdma(ctx))
		return;
	if (skip_without_epyc(ctx))
		return;
	if (!sockets_known(node)) {
		UNKNOWN(ctx, .evidence = { "numa.nodes" });
		return;
	}
	per_socket = processor_nodes(node) / sockets(node);
	if (per_socket == 1)
		NOTE(ctx, .observed = "1 NUMA node per socket (NPS1)",
		     .evidence = { "numa.nodes", "os.cpu_model" });
	else if (per_socket > 4)
		NOTE(ctx,
		     .observed = text_printf(
			     ctx, "%zu NUMA nodes per socket: each L3 cache is a NUMA node",
			     per_socket),
		     .evidence = { "numa.nodes", "os.cpu_model" });
	else
		PASS(ctx, .observed = text_printf(ctx, "NPS%zu", per_socket),
		     .evidence = { "numa.nodes" });
}

/* ---- addresses of the BARs ---- */

/* Dell's article: virtual machines with passed-through devices did not start, or failed, on systems whose setup has
 * "memory mapped I/O base" at 56 TB. The other choice there is 12 TB. */
#define MMIO_HIGH (UINT64_C(56) << 40)

/* The smallest DMA address width of the GPUs; 0 where none is known. */
static uint64_t least_dma_bits(const struct node *node)
{
	uint64_t least = 0;

	for_each(g, &node->gpu.devices)
		if (is_known(g->dma_bits) && (!least || g->dma_bits.value < least))
			least = g->dma_bits.value;
	return least;
}

static bool beyond(const struct pci_bar *bar, uint64_t bits)
{
	return bits && bits < 64 && bar->start.value + bar->size_bytes.value > UINT64_C(1) << bits;
}

static void check_bar(struct rule_context *ctx, const struct pci_device *d, uint64_t bits)
{
	const struct pci_bar *bar = gpu_bar1(d);
	const char *fact = bar ? text_printf(ctx, "pci.devices[%s].bars[%" PRIu64 "].start",
					     d->bdf.value, bar->index.value)
			       : fact_path(ctx->arena, "pci.devices", d->bdf.value, "bars");

	if (!bar || !is_known(bar->start) || !is_known(bar->size_bytes))
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
	else if (bar->start.value == 0)
		NOT_APPLICABLE(ctx, .subject = d->bdf.value,
			       .observed = "BAR1 has no address: see pci/bar1-unassigned",
			       .evidence = { fact });
	else if (beyond(bar, bits))
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(
			     ctx, "BAR1 is at 0x%" PRIx64 "; a GPU can address %" PRIu64 " bits",
			     bar->start.value, bits),
		     .expected = text_printf(ctx, "below 0x%" PRIx64, UINT64_C(1) << bits),
		     .evidence = { fact });
	else if (bar->start.value >= MMIO_HIGH)
		NOTE(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "BAR1 is at 0x%" PRIx64 ", above 56 TB",
					     bar->start.value),
		     .evidence = { fact });
	else
		PASS(ctx, .subject = d->bdf.value, .evidence = { fact });
}

static void check_mmio_base(struct rule_context *ctx)
{
	uint64_t bits = least_dma_bits(ctx->node);

	if (skip_without_gpu(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		if (gpu_is_integrated(d))
			NOT_APPLICABLE(
				ctx, .subject = d->bdf.value,
				.observed = text_printf(ctx, "%s has no BAR1", gpu_model(d)->name),
				.evidence = { fact_path(ctx->arena, "pci.devices", d->bdf.value,
							"device_id") });
		else if (pci_is_gpu(d))
			check_bar(ctx, d, bits);
	}
}

static const struct rule bios_rules[] = {
	{
		.id = "bios/nps-setting",
		.title = "The number of NUMA nodes per socket can cost bandwidth",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_INFO,
		.evaluate = check_nps,
		.impact =
			"Bandwidth between GPUs over PCIe, between NIC and host memory, and between sockets can be far below "
			"that of the links.",
		.remedy =
			"Compare NPS1 and NPS4 (firmware setup: AMD CBS, DF Common Options) with nccl-tests, and keep the faster.",
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.reads = "NUMA nodes and sockets under /sys/devices/system, on EPYC processors.",
		.why = "In three reports with PCIe GPUs NPS4 cured a low bandwidth. The right value depends on the board, so "
		       "this is a note.",
		.check = "lscpu | grep -i numa; numactl -H",
		.cost = "A change needs a reboot, and changes the NUMA numbers of every job.",
		.sources =
			"github.com/NVIDIA/nccl: issue 1285 (2024-12-17)\n"
			"github.com/NVIDIA/nccl-tests: issues 74 (2021-03-05) and 293 (2025-03-08)\n"
			"HPC Advisory Council, AMD 2nd Gen EPYC CPU Tuning Guide for InfiniBand HPC (page 1280442391): NPS Configuration",
	},
	{
		.id = "bios/mmio-base-too-high",
		.title = "Peers cannot reach GPU memory: the firmware placed BAR1 too high",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_mmio_base,
		.impact =
			"RDMA transfers of GPU memory fail with a local protection error (perftest: status 4, syndrome 0x51), or "
			"virtual machines with the GPU do not start.",
		.then = THEN_REBOOT,
		.remedy = "Lower the memory mapped I/O base in the firmware setup (Dell: from 56 "
			  "TB to 12 TB).",
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.reads =
			"The address of BAR1 of each GPU, and \"DMA Size\" in /proc/driver/nvidia/gpus/*/information.",
		.why = "A device can only address as many bits as it has. A BAR beyond that is out of reach for its peers. "
		       "At 56 TB Dell reports virtual machines that do not start, and a maintainer of perftest suspects it behind "
		       "failing transfers. That alone is a note.",
		.check =
			"lspci -vd 10de: | grep 64-bit; grep -r 'DMA Size' /proc/driver/nvidia/gpus",
		.sources =
			"github.com/linux-rdma/perftest issue 173\n"
			"dell.com/support: virtual machines fail to power on when system BIOS has MMIO set to 56 TB\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-procfs.c (DMA Size)",
	},
};

RULE_TABLE(bios);
