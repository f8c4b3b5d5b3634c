/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bios.c - what only the firmware's setup changes, as far as it shows in the running system. */
#include <inttypes.h>
#include <string.h>

#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/kind.h"
#include "query/topology.h"

/* ---- NUMA nodes per socket ---- */

/* Their numbers may have gaps: those that no node before has. */
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

static void check_nps(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t per_socket;

	if (skip_without_gpu(ctx))
		return;
	/* Copies between GPUs over PCIe meet it as transfers of NICs do. */
	if (!(is_asked_for(ctx, PROFILE_P2P) && topology_gpus(node) > 1) && skip_without_rdma(ctx))
		return;
	if (node_is(node, KIND_VIRTUAL_MACHINE)) {
		NOT_APPLICABLE(ctx, .observed = "a virtual machine",
			       .evidence = { "os.hypervisor" });
		return;
	}
	if (is_unknown(node->os.cpu_model) || is_unknown(node->os.hypervisor)) {
		UNKNOWN(ctx, .evidence = { is_unknown(node->os.cpu_model) ? "os.cpu_model"
									  : "os.hypervisor" });
		return;
	}
	if (!str_is(node->os.cpu_vendor, "AuthenticAMD") ||
	    (is_known(node->os.cpu_model) && !strstr(node->os.cpu_model.value, "EPYC"))) {
		NOT_APPLICABLE(ctx, .observed = "no EPYC processor",
			       .evidence = { "os.cpu_model" });
		return;
	}
	if (!sockets_known(node)) {
		UNKNOWN(ctx, .evidence = { "numa.nodes" });
		return;
	}
	per_socket = processor_nodes(node) / sockets(node);
	if (per_socket == 1)
		FAIL(ctx, .observed = "one NUMA node a socket (NPS1)",
		     .expected = "what the system's vendor recommends for GPUs; often NPS4",
		     .evidence = { "numa.nodes", "os.cpu_model" });
	else if (per_socket > 4)
		FAIL(ctx,
		     .observed = text_printf(ctx, "%zu NUMA nodes a socket: each L3 cache is one",
					     per_socket),
		     .expected = "NPS4 at most", .evidence = { "numa.nodes", "os.cpu_model" });
	else
		PASS(ctx, .observed = text_printf(ctx, "NPS%zu", per_socket),
		     .evidence = { "numa.nodes" });
}

/* ---- where the BARs lie ---- */

/* From here on virtual machines with passed-through devices did not start, or failed, on systems whose
 * setup has "memory mapped I/O base" at 56 TB (Dell's article; the other choice is 12 TB). */
#define MMIO_HIGH (UINT64_C(56) << 40)

/* The GPU that reaches least far; 0 when no GPU says. */
static uint64_t reach_bits(const struct node *node)
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
			       .observed = "no address at all: see pci/bar1-unassigned",
			       .evidence = { fact });
	else if (beyond(bar, bits))
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(
			     ctx, "BAR1 at 0x%" PRIx64 ", and a GPU reaches %" PRIu64 " bits",
			     bar->start.value, bits),
		     .expected = text_printf(ctx, "below 0x%" PRIx64, UINT64_C(1) << bits),
		     .evidence = { fact });
	else if (bar->start.value >= MMIO_HIGH)
		NOTE(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "BAR1 at 0x%" PRIx64 ", above 56 TB",
					     bar->start.value),
		     .expected = "lower, where virtual machines or GPUDirect RDMA fail",
		     .evidence = { fact });
	else
		PASS(ctx, .subject = d->bdf.value, .evidence = { fact });
}

static void check_mmio_base(struct rule_context *ctx)
{
	uint64_t bits = reach_bits(ctx->node);

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
		.title = "Check the number of NUMA nodes per socket",
		.profiles = PROFILE_P2P | PROFILE_RDMA_ANY,
		.severity = SEVERITY_INFO,
		.evaluate = check_nps,
		.impact =
			"Bandwidth between GPUs over PCIe, between NIC and host memory, and between sockets can be "
			"far below what the links give.",
		.remedy =
			"Compare NPS1 and NPS4 in the firmware's setup (AMD CBS, DF Common Options) with "
			"nccl-tests, and keep what is faster.",
		.activation = ACTIVATION_REBOOT,
		.mender = MENDER_FIRMWARE,
		.reads = "NUMA nodes and sockets under /sys/devices/system, on EPYC processors.",
		.why = "Two reports have NPS4 several times faster for two nodes with PCIe GPUs; vendors of HGX "
		       "systems recommend other values. Nothing here says which is right for this board, so it is "
		       "information.",
		.check = "lscpu | grep -i numa; numactl -H",
		.cost = "A change needs a reboot, and changes every job's NUMA numbers.",
		.sources = "AMD EPYC tuning guides, NUMA nodes per socket\n"
			   "github.com/NVIDIA/nccl-tests/issues/293",
	},
	{
		.id = "bios/mmio-base-too-high",
		.title = "The firmware placed GPU memory at addresses that peers may not reach",
		.profiles = PROFILE_P2P | PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_mmio_base,
		.impact =
			"Peer transfers fail with remote access errors (perftest: syndrome 0x51) or virtual "
			"machines with the GPU do not start.",
		.remedy =
			"In the firmware's setup lower \"memory mapped I/O base\", on Dell systems from 56 TB to "
			"12 TB.",
		.activation = ACTIVATION_REBOOT,
		.mender = MENDER_FIRMWARE,
		.reads =
			"Where BAR1 of each GPU lies, and \"DMA Size\" in /proc/driver/nvidia/gpus/*/information.",
		.why = "A device can only reach addresses of its own width: a BAR beyond that is out of reach for "
		       "its peers. Above 56 TB there is a report of failing transfers that the maintainer suspected "
		       "the address for, and one of virtual machines that do not start; bare metal mostly works "
		       "there, so that alone is information.",
		.check =
			"lspci -vd 10de: | grep 64-bit; grep -r 'DMA Size' /proc/driver/nvidia/gpus",
		.sources =
			"github.com/linux-rdma/perftest/issues/173\n"
			"dell.com/support: virtual machines fail to power on when system BIOS has MMIO set to 56 "
			"TB\nopen-gpu-kernel-modules: kernel-open/nvidia/nv-procfs.c, DMA Size",
	},
};

RULE_TABLE(bios);
