/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu.c - the GPUs themselves. Their counters and modes would have to be asked of the driver through
 * NVML, which opens the device and can change its state; only what the kernel shows without that is
 * judged here, and what it does not show is unknown.
 */
#include <inttypes.h>
#include <string.h>

#include "base/span.h"
#include "evaluate/settings.h"
#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/kind.h"
#include "query/log-age.h"
#include "query/topology.h"

#define NOT_ASKED "NVML is not asked, because it opens the device; the kernel log"

static size_t nvswitches(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->pci.devices)
		n += pci_is_nvswitch(d);
	return n;
}

/* The first of PATTERNS (NULL-terminated) whose lines name the GPU, or NULL. */
static const struct log_line *logged(const struct node *node, const char *const *patterns,
				     const char *bdf)
{
	for (size_t i = 0; patterns[i]; i++) {
		const struct log_line *line = node_log(node, patterns[i]);

		if (log_of_device(line, bdf))
			return line;
	}
	return NULL;
}

/* The same, of lines after which the GPU was not reset, nor the driver loaded again. */
static const struct log_line *still_so(struct rule_context *ctx, const char *const *patterns,
				       const char *bdf)
{
	for (size_t i = 0; patterns[i]; i++) {
		const struct log_line *line = node_log(ctx->node, patterns[i]);
		const struct log_subject *own = log_of_device(line, bdf);

		if (own && !log_new_life(ctx->arena, ctx->node, bdf, own->last_us))
			return line;
	}
	return NULL;
}

/*
 * Nothing was logged: that is no proof. With the whole log read there is nothing more that could be known
 * without the device, so this is no gap that has to be closed, and weighs as information.
 */
static void nothing_logged(struct rule_context *ctx, const char *what)
{
	const struct log_facts *log = &ctx->node->log;

	if (!was_read(log->lines))
		UNKNOWN(ctx, .observed = NOT_ASKED " could not be read",
			.evidence = { "log.lines" });
	else if (!known_is(log->complete, true))
		UNKNOWN(ctx,
			.observed = text_printf(
				ctx, NOT_ASKED " does not reach back to the boot and names no %s",
				what),
			.evidence = { "log.complete" });
	else
		UNKNOWN(ctx, .graded = true, .severity = SEVERITY_INFO,
			.observed = text_printf(ctx, NOT_ASKED " names no %s since the boot", what),
			.remedy = "nvidia-smi -q, at a time when no job runs.",
			.evidence = { "log.lines" });
}

/* ---- memory errors ---- */

/* nverror.h: 64 and 157 are retirements or row remaps that failed, 140 an error that escaped; 161 is the
 * same of a channel. */
static const char *const memory_failed[] = { "xid-64", "xid-140", "xid-157", "xid-161", NULL };
/* 63, 156, 160: marked for retirement or remapping, which a reset of the GPU makes true. 48, 95, 171, 172:
 * the uncorrectable errors that lead there. */
static const char *const memory_pending[] = { "xid-63", "xid-156", "xid-160", "xid-48",
					      "xid-95", "xid-171", "xid-172", NULL };

static bool has_ecc(const struct pci_device *device)
{
	const struct gpu_model *model = gpu_model(device);

	return pci_is_gpu(device) && (!model || model->kind != GPU_GEFORCE);
}

static void check_ecc(struct rule_context *ctx)
{
	size_t before = ctx->findings->count, candidates = 0;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const struct log_line *failed, *pending;

		if (!has_ecc(d))
			continue;
		candidates++;
		failed = logged(ctx->node, memory_failed, d->bdf.value);
		pending = still_so(ctx, memory_pending, d->bdf.value);
		if (failed)
			FAIL(ctx, .subject = d->bdf.value,
			     .observed = log_of_device(failed, d->bdf.value)->last.value,
			     .expected = "no failed retirement or remap",
			     .remedy =
				     "Take the GPU out of service and have it examined: its spare memory is "
				     "used up or could not be written down.",
			     .activation = ACTIVATION_NONE,
			     .evidence = {
				     log_device_fact(ctx->arena, failed, d->bdf.value, "last") });
		else if (pending)
			FAIL_AS(ctx, SEVERITY_WARN, .subject = d->bdf.value,
				.observed = log_of_device(pending, d->bdf.value)->last.value,
				.expected = "no memory error since the last reset",
				.evidence = { log_device_fact(ctx->arena, pending, d->bdf.value,
							      "last") });
	}
	if (!candidates)
		NOT_APPLICABLE(ctx, .observed = "no GPU with ECC memory",
			       .evidence = { "pci.devices" });
	else if (ctx->findings->count == before)
		nothing_logged(ctx, "memory error");
}

/* ---- NVLink ---- */

/* nverror.h: NVLink errors, training that failed (136), NVLink 5 (144 to 150, 155, 166, 170). */
static const char *const nvlink_errors[] = { "xid-74",	"xid-136", "xid-137", "xid-144", "xid-145",
					     "xid-146", "xid-147", "xid-148", "xid-149", "xid-150",
					     "xid-155", "xid-166", "xid-170", NULL };

/* "SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 ...": most of the others are counted and harmless. */
static const struct log_line *fatal_switch_error(const struct node *node)
{
	for_each(line, &node->log.lines)
		if (str_starts(line->pattern, "sxid-") &&
		    (strstr(line->last.value, ", Fatal") || strstr(line->first.value, ", Fatal")))
			return line;
	return NULL;
}

static bool may_have_nvlink(const struct node *node)
{
	size_t data_centre = 0;

	for_each(d, &node->pci.devices)
		data_centre += pci_is_gpu(d) && gpu_is_data_centre(d);
	return nvswitches(node) > 0 || data_centre > 1;
}

static void check_nvlink(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct log_line *fabric = node_log(node, "fabric-out-of-sync");
	const struct log_line *sxid = fatal_switch_error(node);
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	for_each(d, &node->pci.devices) {
		const struct log_line *line = pci_is_gpu(d)
						      ? still_so(ctx, nvlink_errors, d->bdf.value)
						      : NULL;

		if (line)
			FAIL(ctx, .subject = d->bdf.value,
			     .observed = log_of_device(line, d->bdf.value)->last.value,
			     .expected = "no NVLink errors",
			     .evidence = {
				     log_device_fact(ctx->arena, line, d->bdf.value, "last") });
	}
	if (fabric)
		FAIL(ctx, .subject = "fabric", .observed = fabric->last.value,
		     .expected = "driver and fabric manager of one mind about the fabric",
		     .remedy =
			     "Restart the fabric manager with no job running; if that does not help, reboot.",
		     .evidence = { "log.lines[fabric-out-of-sync].last" });
	if (sxid)
		FAIL(ctx, .subject = "NVSwitch", .observed = sxid->last.value,
		     .expected = "no fatal NVSwitch errors",
		     .evidence = {
			     fact_path(ctx->arena, "log.lines", sxid->pattern.value, "last") });
	if (ctx->findings->count > before)
		return;
	if (!may_have_nvlink(node))
		NOT_APPLICABLE(ctx, .observed = "no NVSwitch, and not two data-centre GPUs",
			       .evidence = { "pci.devices" });
	else
		nothing_logged(ctx, "NVLink error");
}

/* ---- MIG ---- */

static void check_mig(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	for_each(g, &ctx->node->gpu.devices) {
		const char *fact = fact_path(ctx->arena, "gpu.devices", g->bdf.value,
					     "mig_instances");

		if (is_unknown(g->mig_instances))
			UNKNOWN(ctx, .subject = g->bdf.value, .evidence = { fact });
		else if (is_known(g->mig_instances) && g->mig_instances.value)
			FAIL(ctx, .subject = g->bdf.value,
			     .observed = text_printf(ctx, "%" PRIu64 " GPU instances",
						     g->mig_instances.value),
			     .expected = "no GPU instances", .evidence = { fact });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "gpu.devices" });
}

/* ---- displays ---- */

static const char *join(struct rule_context *ctx, const struct gpu *g)
{
	const char *text = "";

	for_each(name, &g->displays)
		text = text_printf(ctx, "%s%s%s", text, *text ? ", " : "", *name);
	return text;
}

static void check_display(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (topology_gpus(ctx->node) < 2) {
		NOT_APPLICABLE(ctx, .observed = "one GPU", .evidence = { "pci.devices" });
		return;
	}
	for_each(g, &ctx->node->gpu.devices) {
		const struct pci_device *d = node_pci(ctx->node, g->bdf.value);
		bool console = d && known_is(d->boot_vga, true);

		if (!console && !g->displays.count)
			continue;
		FAIL(ctx, .subject = g->bdf.value,
		     .observed = g->displays.count ? text_printf(ctx, "a display is connected: %s",
								 join(ctx, g))
						   : "the firmware's console is on this GPU",
		     .expected = "GPUs that only compute",
		     .evidence = {
			     fact_path(ctx->arena, "pci.devices", g->bdf.value, "boot_vga"),
			     fact_path(ctx->arena, "gpu.devices", g->bdf.value, "displays") });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "gpu.devices", "pci.devices" });
}

/* ---- how many ---- */

/* HGX boards with NVSwitches have eight GPUs; HGX-2 is two of them (NVIDIA Fabric Manager User Guide). */
#define BOARD_GPUS 8

/* The board says how many it carries: one that is missing is not on the bus at all. */
static void check_board(struct rule_context *ctx, size_t gpus)
{
	struct kind_answer board = kind_of(ctx->node, KIND_HGX, ctx->arena);

	if (gpus && gpus % BOARD_GPUS == 0)
		PASS(ctx, .evidence = { "pci.devices" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx, "%zu GPU%s, on a board with NVSwitches: %s", gpus,
					     gpus == 1 ? "" : "s", board.reason),
		     .expected = text_printf(ctx, "%d GPUs on a board with NVSwitches", BOARD_GPUS),
		     .evidence = { "pci.devices" });
}

/* Servers have slots in pairs; a workstation has as many cards as somebody put in. */
static void check_odd_count(struct rule_context *ctx, size_t gpus)
{
	struct kind_answer workstation = kind_of(ctx->node, KIND_WORKSTATION, ctx->arena);

	if (known_is(workstation.is, false))
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed = text_printf(ctx, "%zu GPUs, an odd number", gpus),
			.expected = "an even number", .evidence = { "pci.devices" });
	else if (is_known(workstation.is))
		NOT_APPLICABLE(ctx, .observed = workstation.reason,
			       .evidence = { workstation.fact });
	else
		UNKNOWN(ctx, .observed = workstation.reason, .evidence = { workstation.fact });
}

static void check_usual_count(struct rule_context *ctx, size_t gpus)
{
	if (node_is(ctx->node, KIND_VIRTUAL_MACHINE))
		NOT_APPLICABLE(
			ctx,
			.observed = "a virtual machine has as many as it was given, and [expect] "
				    "gpu-count is not set",
			.evidence = { "os.hypervisor" });
	else if (is_unknown(ctx->node->os.hypervisor))
		UNKNOWN(ctx, .evidence = { "os.hypervisor" });
	else if (node_is(ctx->node, KIND_HGX))
		check_board(ctx, gpus);
	else if (gpus > 2 && gpus % 2)
		check_odd_count(ctx, gpus);
	else
		NOT_APPLICABLE(ctx,
			       .observed = "[expect] gpu-count is not set, and nothing else tells",
			       .evidence = { "pci.devices" });
}

static void check_count(struct rule_context *ctx)
{
	const struct expectation *e = ctx->settings ? settings_expect(ctx->settings, "gpu-count")
						    : NULL;
	size_t gpus = topology_gpus(ctx->node);
	uint64_t wanted;

	if (!was_read(ctx->node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	if (!e || span_u64(span_of(e->value), 10, &wanted)) {
		/* The board can be there with none of its GPUs. */
		if (nvswitches(ctx->node) || !skip_without_gpu(ctx))
			check_usual_count(ctx, gpus);
	} else if (gpus != wanted) {
		FAIL(ctx, .observed = text_printf(ctx, "%zu", gpus),
		     .expected = text_printf(ctx, "%s (%s)", e->value, e->file),
		     .evidence = { "pci.devices" });
	} else {
		PASS(ctx, .evidence = { "pci.devices" });
	}
}

static const struct rule gpu_rules[] = {
	{
		.id = "gpu/ecc-pending",
		.title = "A GPU has memory errors that wait for a reset, or that it cannot mend",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_ecc,
		.impact =
			"Jobs die on the next access to the same memory, or with the reset when it comes.",
		.remedy =
			"Drain the node and reset the GPU (nvidia-smi -r), or reboot: only then the memory is "
			"retired or remapped.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Xids about memory errors in the kernel log since the boot: 48, 63, 64, 95, 140, 156, 157, "
			"160, 161, 171, 172.",
		.why = "What the GPU keeps about its memory (pending rows, remap failures of earlier boots) is "
		       "seen through NVML, which opens the device: nvnodecheck does not, so without such a line the "
		       "answer is unknown and never a pass. Errors are over when the log says later that the GPU was "
		       "reset or the driver loaded again; remaps that failed are not.",
		.check = "nvidia-smi -q -d ROW_REMAPPER,PAGE_RETIREMENT; dmesg | grep Xid",
		.sources = "open-gpu-kernel-modules: src/common/sdk/nvidia/inc/nverror.h\n"
			   "docs.nvidia.com/deploy: GPU memory error management; Xid errors",
	},
	{
		.id = "gpu/nvlink-inactive",
		.title = "NVLink connections failed",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_nvlink,
		.impact =
			"NCCL and NVSHMEM lose bandwidth or hang; DeepEP's intra-node kernels need every link.",
		.remedy =
			"Drain the node and reset all GPUs of the board; if it comes back, have board and cables "
			"examined.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Xids about NVLink, fatal SXids of NVSwitches and \"fabric state out of sync\" in the "
			"kernel log since the boot.",
		.why = "Which links are up is seen through NVML, which opens the device: nvnodecheck does not. Links "
		       "that never came up leave no line, so without one the answer is unknown.",
		.check = "nvidia-smi nvlink -s; nvidia-smi -q | grep -A3 Fabric",
		.sources = "open-gpu-kernel-modules: src/common/sdk/nvidia/inc/nverror.h\n"
			   "NVIDIA Fabric Manager user guide, SXid errors\n"
			   "github.com/Azure/azhpc-diagnostics/issues/73",
	},
	{
		.id = "gpu/mig-enabled",
		.title = "A GPU is divided into MIG instances",
		.profiles = PROFILE_P2P | PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_mig,
		.impact =
			"No peer-to-peer between GPUs over PCIe or NVLink, no NVLS: NCCL copies through the host.",
		.remedy =
			"nvidia-smi mig -dci, -dgi, then nvidia-smi -mig 0, with no job on the GPU.",
		.activation = ACTIVATION_NOW,
		.reads = "/proc/driver/nvidia/capabilities/gpu*/mig.",
		.why = "MIG and multi-GPU work exclude each other. A GPU in MIG mode without instances is not seen "
		       "here: the mode itself would have to be asked of the driver.",
		.check = "nvidia-smi mig -lgi",
		.cost = "Jobs that use the instances end.",
		.sources = "NVIDIA MIG user guide, application considerations\n"
			   "github.com/NVIDIA/nccl/issues/1716",
	},
	{
		.id = "gpu/display-attached",
		.title = "A GPU that takes part in peer-to-peer also drives a display",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_INFO,
		.evaluate = check_display,
		.impact =
			"The console takes part of BAR1: where BAR1 is no larger than the memory, the driver does "
			"not map the whole memory through it, and peer-to-peer through BAR1 to this GPU fails.",
		.remedy = "Use the board's own graphics, or another GPU, for the display.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"boot_vga of the PCI function, and the state of its connectors below /sys/class/drm.",
		.why = "It matters for patched drivers and for GPUs whose peer-to-peer goes through BAR1, and only "
		       "if memory and reserve do not both fit. Without nvidia_drm's modesetting the connectors are "
		       "not visible.",
		.check = "cat /sys/bus/pci/devices/*/boot_vga; grep -H . /sys/class/drm/*/status",
		.sources =
			"open-gpu-kernel-modules: src/nvidia/src/kernel/gpu/bus/arch/turing/kern_bus_tu102.c\n"
			"github.com/aikitoria/open-gpu-kernel-modules/pull/34",
	},
	{
		.id = "gpu/count-unexpected",
		.title = "The node has another number of GPUs than it should",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_count,
		.impact =
			"Jobs that ask for all GPUs of the node do not start, or start with fewer.",
		.remedy =
			"Look for the one that is missing: the firmware's log, power, riser, \"fallen off the "
			"bus\" in the kernel log. A cold boot brings some back.",
		.activation = ACTIVATION_POWER_CYCLE,
		.mender = MENDER_FIRMWARE,
		.reads =
			"NVIDIA display controllers on the PCI bus, NVSwitches, and [expect] gpu-count of the "
			"configuration.",
		.why = "A GPU that fails early is not on the bus at all, so nothing else misses it. Without an "
		       "expectation, a board with NVSwitches says how many it carries: eight. Elsewhere an odd "
		       "number of several is a reason to look, as a warning.",
		.check = "lspci -d 10de: | grep -c -E '3D|VGA'",
		.sources =
			"NVIDIA Fabric Manager User Guide (HGX-2, HGX A100, H100 and B200 baseboards: eight GPUs "
			"each); node health checks of GPU clusters (Azure azurehpc-"
			"health-checks, NVIDIA DCGM)",
	},
};

RULE_TABLE(gpu);
