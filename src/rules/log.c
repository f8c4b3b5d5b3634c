/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.c - lines of the kernel log that name their cause. */
#include <string.h>

#include "base/span.h"
#include "evaluate/skip.h"
#include "query/endpoints.h"
#include "query/kind.h"
#include "query/log-age.h"
#include "query/topology.h"

static void check_allow_peermapping(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "allow-peermapping");

	if (skip_without_driver(ctx))
		return;
	if (line)
		FAIL(ctx, .observed = line->last.value,
		     .expected = "PeerMappingOverride=1: see driver/peer-mapping-override",
		     .evidence = { "log.lines[allow-peermapping].last",
				   "driver.params[RegistryDwords].value" });
	else
		pass_if_log_whole(ctx);
}

/* ---- RmInitAdapter ---- */

/* osinit.c, RM_INIT_REPORT: the first of the three numbers in "(0x24:0xffff:1464)" says where. */
static const char *init_stage(const char *line)
{
	const char *code = strstr(line, "failed! (0x");
	uint64_t number;

	if (!code || span_u64((struct span){ code + strlen("failed! (0x"), 2 }, 16, &number))
		return NULL;
	switch (number >> 4) {
	case 1:
		return "while setting up the driver (registry, operating system)";
	case 2:
		return "while setting up the GPU";
	case 3:
		return "in the video BIOS";
	case 4:
		return "for lack of resources";
	case 6:
		return "in the GSP firmware";
	default:
		return NULL;
	}
}

/* Until 545.23.06 the open modules took GPUs that are not data-centre ones only where they were told to
 * (nv-reg.h, NV_REG_OPENRM_ENABLE_UNSUPPORTED_GPUS). */
static const char *init_remedy(const struct node *node)
{
	if (!node_log(node, "open-unsupported-gpu"))
		return NULL;
	return "Set NVreg_OpenRmEnableUnsupportedGpus=1 (options nvidia, in modprobe.d) and load the driver again, "
	       "or install the proprietary modules, or a driver from 545 on, whose open modules need no option.";
}

static const char *say_init(struct rule_context *ctx, const char *line, const char *remedy)
{
	const char *stage = remedy ? "because these open kernel modules take data-centre GPUs alone"
				   : init_stage(line);

	return stage ? text_printf(ctx, "%s: it failed %s", line, stage) : line;
}

/* GPU NULL: the lines name none. An attempt that failed says nothing of a driver that was loaded since. */
static void fail_rm_init(struct rule_context *ctx, const struct log_line *line,
			 const struct log_subject *gpu)
{
	const char *name = gpu ? gpu->name.value : NULL;
	const char *remedy = init_remedy(ctx->node);
	const char *last = gpu ? gpu->last.value : line->last.value;
	const char *fact = gpu ? log_device_fact(ctx->arena, line, name, "last")
			       : "log.lines[rm-init-failed].last";
	const char *since = log_new_life(ctx->arena, ctx->node, name,
					 gpu ? gpu->last_us : line->last_us);

	if (since)
		NOTE(ctx, .subject = name,
		     .observed = text_printf(ctx, "%s; since then %s", last, since),
		     .evidence = { fact });
	else
		FAIL(ctx, .subject = name, .observed = say_init(ctx, last, remedy),
		     .expected = "the driver initialises every GPU", .remedy = remedy,
		     .evidence = { fact,
				   gpu ? log_device_fact(ctx->arena, line, name, "count") : NULL,
				   remedy ? "log.lines[open-unsupported-gpu].last" : NULL });
}

static void check_rm_init(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "rm-init-failed");

	if (!line) {
		if (!skip_without_gpu(ctx))
			pass_if_log_whole(ctx);
		return;
	}
	for_each(gpu, &line->devices)
		fail_rm_init(ctx, line, gpu);
	if (!line->devices.count)
		fail_rm_init(ctx, line, NULL);
}

/* ---- DMA-BUF ---- */

/* The kernel itself turned a mapping of a GPU's memory away (drivers/pci/p2pdma.c): "mlx5_core 0000:18:00.0: cannot
 * be used for peer-to-peer DMA as the client and provider (0000:19:00.0) do not share an upstream bridge". */
static const struct log_subject *p2pdma_refused(const struct node *node)
{
	const struct log_line *line = node_log(node, "p2pdma-refused");

	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && log_of_device(line, d->bdf.value))
			return log_of_device(line, d->bdf.value);
	return NULL;
}

static void check_dmabuf(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "dmabuf-attach-failed");
	const struct log_subject *p2pdma = p2pdma_refused(ctx->node);

	if (skip_without_driver(ctx))
		return;
	if (line)
		FAIL(ctx, .observed = line->last.value,
		     .expected = "the NIC attaches to GPU memory",
		     .remedy =
			     node_is(ctx->node, KIND_GRACE)
				     ? "Load the driver with NVreg_GrdmaPciTopoCheckOverride=1, or use a "
				       "driver from R595 on, and compare ACS with rdma-core's rdma_topo."
				     : NULL,
		     .evidence = { "log.lines[dmabuf-attach-failed].last",
				   "log.lines[dmabuf-attach-failed].count",
				   "driver.params[GrdmaPciTopoCheckOverride].value" });
	else if (p2pdma)
		FAIL(ctx, .observed = p2pdma->last.value,
		     .expected = "the NIC attaches to GPU memory",
		     .remedy =
			     "Use a NIC below the same root complex as the GPU, or below one switch with it.",
		     .evidence = { "log.lines[p2pdma-refused].last",
				   "log.lines[p2pdma-refused].count" });
	else
		pass_if_log_whole(ctx);
}

static void check_invalid_context(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "peermem-invalid-context");

	if (skip_without_driver(ctx))
		return;
	if (line)
		FAIL(ctx, .observed = line->last.value, .expected = "no such line",
		     .evidence = { "log.lines[peermem-invalid-context].last",
				   "log.lines[peermem-invalid-context].count" });
	else
		pass_if_log_whole(ctx);
}

/* ---- HMM ---- */

/* A parameter of the nvidia_uvm that is loaded; absent where there is none, unknown where sysfs does not tell. */
static struct fact_str uvm_param(const struct node *node, const char *name)
{
	const struct module *uvm = node_module(node, "nvidia_uvm");

	if (!was_read(node->modules.loaded) || (uvm && !was_read(uvm->params)))
		return (struct fact_str){ 0 };
	for (uint32_t i = 0; uvm && i < uvm->params.count; i++)
		if (str_is(uvm->params.items[i].name, name))
			return uvm->params.items[i].value;
	return FACT_NONE(fact_str);
}

/* The line of modprobe's configuration by which the next load has HMM off: the kernel takes 1, y and Y. */
static const struct modprobe_assignment *hmm_off_next(const struct node *node)
{
	for_each(a, &node->modprobe.assignments)
		if (str_is(a->module, "nvidia_uvm") && str_is(a->param, "uvm_disable_hmm") &&
		    known_is(a->effective, true) && is_known(a->value) &&
		    strchr("1yY", a->value.value[0]))
			return a;
	return NULL;
}

static void fail_hmm(struct rule_context *ctx, const struct log_line *line, const char *param)
{
	static const char expected[] = "addresses for the GPU's memory, or HMM switched off";
	static const char fact[] = "log.lines[uvm-hmm-failed].last";
	const struct modprobe_assignment *next = hmm_off_next(ctx->node);

	if (next)
		PENDING(ctx,
			.observed = text_printf(ctx,
						"%s has it off from the next load of nvidia_uvm on",
						next->file.value),
			.expected = expected, .evidence = { param, fact });
	else
		FAIL(ctx, .observed = line->last.value, .expected = expected,
		     .evidence = { fact, param });
}

static void check_hmm(struct rule_context *ctx)
{
	static const char param[] = "modules.loaded[nvidia_uvm].params[uvm_disable_hmm].value";
	const struct log_line *line = node_log(ctx->node, "uvm-hmm-failed");
	struct fact_str prints = uvm_param(ctx->node, "uvm_debug_prints");
	struct fact_str off = uvm_param(ctx->node, "uvm_disable_hmm");

	if (skip_without_driver(ctx))
		return;
	if (str_is(off, "Y"))
		PASS(ctx, .observed = "HMM is switched off", .evidence = { param });
	else if (line && is_unknown(off))
		UNKNOWN(ctx,
			.observed =
				"the log says that it failed; whether it is switched off by now was not read",
			.evidence = { param, "log.lines[uvm-hmm-failed].last" });
	else if (line)
		fail_hmm(ctx, line, param);
	else if (is_known(prints) && !str_is(prints, "0"))
		pass_if_log_whole(ctx);
	else if (!was_read(ctx->node->log.lines))
		UNKNOWN(ctx, .evidence = { "log.lines" });
	else
		NOT_APPLICABLE(ctx,
			       .observed = "nothing in the log, where nvidia_uvm says it only with "
					   "uvm_debug_prints=1",
			       .evidence = { "log.lines" });
}

/* ---- the NIC's own events ---- */

struct nic_event {
	const char *pattern; /* in probes/log.c */
	const char *expected;
};

/* Linux: drivers/net/ethernet/mellanox/mlx5/core/events.c */
static const struct nic_event nic_events[] = {
	{ "nic-module-error", "a cable or module that the NIC can read" },
	{ "nic-temperature", "a NIC that is cooled" },
	{ "nic-insufficient-power", "a slot that gives the power that the NIC asks for" },
};
#define NIC_EVENTS (sizeof(nic_events) / sizeof(nic_events[0]))

/* Has one of the events before the N-th spoken of it? */
static bool was_said(const struct rule_context *ctx, size_t n, const char *bdf)
{
	for (size_t i = 0; i < n; i++)
		if (log_of_device(node_log(ctx->node, nic_events[i].pattern), bdf))
			return true;
	return false;
}

static void check_event(struct rule_context *ctx, size_t n)
{
	const struct nic_event *event = &nic_events[n];
	const struct log_line *line = node_log(ctx->node, event->pattern);
	bool slot = strcmp(event->pattern, "nic-insufficient-power") == 0;

	if (!line)
		return;
	for_each(nic, &line->devices)
		if (!was_said(ctx, n, nic->name.value))
			FAIL_AS(ctx,
				slot && endpoints_are_integrated(ctx->endpoints) ? SEVERITY_INFO
										 : SEVERITY_WARN,
				.subject = nic->name.value, .observed = nic->last.value,
				.expected = event->expected,
				.evidence = {
					log_device_fact(ctx->arena, line, nic->name.value, "last"),
					log_device_fact(ctx->arena, line, nic->name.value,
							"count") });
}

static void check_nic_events(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_rdma_device(ctx))
		return;
	before = ctx->findings->count;
	for (size_t i = 0; i < NIC_EVENTS; i++)
		check_event(ctx, i);
	if (ctx->findings->count == before)
		pass_if_log_whole(ctx);
}

static const struct rule log_rules[] = {
	{
		.id = "log/nic-hardware-event",
		.title = "A NIC reported a cable, heat or lack of power",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_nic_events,
		.impact =
			"The port stays down, runs below its rate or goes down under a job; a NIC without power "
			"for its modules switches them off.",
		.remedy =
			"Cable or module: reseat it, or take one that is on the NIC's list. Heat: look at fans and "
			"airflow. Power: another slot, the slot's auxiliary power cable, or the firmware's slot "
			"settings.",
		.activation = ACTIVATION_NONE,
		.mender = MENDER_FIRMWARE,
		.reads =
			"\"Port module event[error]\", \"High temperature on sensors\" and \"Detected insufficient "
			"power on the PCIe slot\" of mlx5_core in the kernel log.",
		.why = "The NIC's firmware says so to its driver, which prints it. That a slot does not advertise "
		       "its power is another line, and no fault. Whether it is still so the log does not tell. Where "
		       "GPU and NIC are on one board (GB10) lack of slot power is information.",
		.check =
			"dmesg | grep -E 'mlx5.*(module event|temperature|power)'; mlxlink -d BDF -m",
		.sources =
			"Linux: drivers/net/ethernet/mellanox/mlx5/core/events.c\n"
			"github.com/NVIDIA/gpu-operator issue 2511 (slots that advertise nothing)",
	},
	{
		.id = "log/allow-peermapping-denied",
		.title = "The driver refused to map a NIC's doorbell for the GPU",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_ERR,
		.evaluate = check_allow_peermapping,
		.impact =
			"A job without CAP_SYS_ADMIN tried GPU-initiated networking and was turned away.",
		.remedy = "See driver/peer-mapping-override.",
		.fix = { "set-registry-key", { "PeerMappingOverride", "1" } },
		.activation = ACTIVATION_REBOOT,
		.reads = "\"permission denied, allowPeermapping=0\" in the kernel log.",
		.why = "It is the line that the open driver prints for exactly this, and nothing else. Whether "
		       "the proprietary modules print it is not known.",
		.check = "dmesg | grep allowPeermapping",
		.sources = "open-gpu-kernel-modules: src/nvidia/arch/nvalloc/unix/src/osmemdesc.c",
	},
	{
		.id = "log/uvm-hmm-failed",
		.title =
			"The kernel has no addresses for the GPU's memory: HMM fails, and CUDA with it",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_hmm,
		.impact =
			"cuInit fails with CUDA_ERROR_NOT_INITIALIZED (3) in every program, and PyTorch finds no "
			"GPU, while nvidia-smi shows all of them.",
		.remedy =
			"Write \"options nvidia_uvm uvm_disable_hmm=1\" into a file of /etc/modprobe.d and load "
			"nvidia_uvm again. Booting with nokaslr, or a kernel in which it is mended, does it too.",
		.fix = { "set-option", { "nvidia_uvm", "uvm_disable_hmm", "1" } },
		.activation = ACTIVATION_RELOAD,
		.reads =
			"\"devmem_alloc_pagemap ... err\" of nvidia-uvm in the kernel log, and the parameter "
			"uvm_disable_hmm of the loaded module.",
		.why = "The open modules reserve addresses for all of the GPU's memory, where some kernels with "
		       "address space randomization (KASLR) have too few left. nvidia_uvm prints it only with "
		       "uvm_debug_prints=1: without that a log that does not have the line says nothing.",
		.check =
			"modprobe -r nvidia_uvm; modprobe nvidia_uvm uvm_debug_prints=1; start a CUDA program; "
			"dmesg | grep devmem_alloc_pagemap",
		.cost = "Programs that let the GPU read memory of malloc() need HMM; those of CUDA's own functions "
			"do not.",
		.sources =
			"docs.nvidia.com: CUDA 13.2, known issues (CUDA initialization with KASLR)\n"
			"open-gpu-kernel-modules: kernel-open/nvidia-uvm/uvm_pmm_gpu.c, uvm_hmm.c\n"
			"github.com/NVIDIA/open-gpu-kernel-modules issues 797, 901, 947",
	},
	{
		.id = "log/rm-init-failed",
		.title = "The driver could not initialise a GPU",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.evaluate = check_rm_init,
		.impact =
			"This GPU is not there for CUDA: nvidia-smi lists it not at all or with errors.",
		.remedy =
			"Look at the lines before it. Often: BAR1 without room (Above 4G Decoding), a GPU "
			"that is excluded or broken, firmware of another version, missing auxiliary power. "
			"Power the node off and on once; if it stays, run nvidia-bug-report.sh and ask the "
			"vendor.",
		.activation = ACTIVATION_POWER_CYCLE,
		.mender = MENDER_FIRMWARE,
		.reads =
			"\"RmInitAdapter failed!\" in the kernel log, and the first of the numbers after it.",
		.why = "The first number names the stage: 0x1. driver and operating system, 0x2. GPU, 0x3. video "
		       "BIOS, 0x4. resources, 0x6. GSP firmware. The log does not tell whether a later attempt "
		       "of the same driver went well. It is over when the driver was loaded again since, or the "
		       "GPU was reset or found on the bus again.",
		.check = "dmesg | grep -B5 'RmInitAdapter failed'",
		.sources = "open-gpu-kernel-modules: src/nvidia/arch/nvalloc/unix/src/osinit.c",
	},
	{
		.id = "log/dmabuf-attach-failed",
		.title = "The driver refused a NIC's access to GPU memory by DMA-BUF",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_dmabuf,
		.impact =
			"GPUDirect RDMA does not work on this path: NCCL goes through host memory or sockets.",
		.remedy =
			"Use a NIC below the same root complex as the GPU. On platforms where the driver's "
			"check is too strict, NVreg_GrdmaPciTopoCheckOverride=1 overrides it.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"\"dma-buf attach failed\" in the kernel log, and \"cannot be used for peer-to-peer DMA\" "
			"with a GPU's address.",
		.why = "The driver walks from GPU and NIC up the PCI tree and refuses where they do not meet, "
		       "and also a mapping type (FORCE_PCIE) that the platform does not have. The line names "
		       "no device. A job that was given the wrong NIC on purpose leaves it too.",
		.check = "dmesg | grep 'dma-buf attach failed'",
		.sources =
			"open-gpu-kernel-modules: kernel-open/nvidia/nv-dmabuf.c (nv_dma_buf_attach), "
			"nv-pci.c (nv_pci_is_valid_topology_for_direct_pci)\nLinux: drivers/pci/p2pdma.c",
	},
	{
		.id = "log/peermem-invalid-context",
		.title = "nvidia-peermem met a registration that was already gone",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_INFO,
		.evaluate = check_invalid_context,
		.impact =
			"As a rule none: a process ended while its memory was registered. Many of them with "
			"hanging jobs point at the pairing of driver and OFED.",
		.remedy =
			"Nothing, unless jobs fail with it: then install the OFED or DOCA that the driver was "
			"built against.",
		.activation = ACTIVATION_NONE,
		.reads =
			"\"detected invalid context, skipping further processing\" in the kernel log.",
		.why = "The free callback of the driver came for a context that the peer-memory client no "
		       "longer knows. No source says that work is lost by it.",
		.check = "dmesg | grep 'invalid context'",
		.sources =
			"open-gpu-kernel-modules: kernel-open/nvidia-peermem/nvidia-peermem.c "
			"(nv_get_p2p_free_callback)\n"
			"github.com/leptonai/gpud: components/accelerator/nvidia/peermem/kmsg_matcher.go",
	},
};

RULE_TABLE(log);
