/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu.c - the GPUs themselves, from what the kernel shows of them, and from the driver's own record where it was asked
 * for it (--nvml). Without that record much stays unknown.
 */
#include <inttypes.h>
#include <string.h>

#include "base/span.h"
#include "evaluate/settings.h"
#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/kind.h"
#include "query/log-age.h"
#include "query/pci-device.h"
#include "query/topology.h"

#define NOT_ASKED "The driver was not asked. The kernel log"

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

/* Like the function above, for lines after which the GPU was not reset, nor the driver loaded again. */
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
 * An empty log proves nothing. With the whole log read nothing more can be known without the device, so this
 * unknown is of severity info.
 */
static void report_unlogged(struct rule_context *ctx, const char *what)
{
	const struct log_facts *log = &ctx->node->log;

	if (was_read(ctx->node->nvml))
		UNKNOWN(ctx, .evidence = { "nvml.gpus" });
	else if (!was_read(log->lines))
		UNKNOWN(ctx, .observed = NOT_ASKED " could not be read.",
			.evidence = { "log.lines" });
	else if (!known_is(log->complete, true))
		UNKNOWN(ctx,
			.observed = text_printf(
				ctx, NOT_ASKED " does not reach back to the boot. It names no %s.",
				what),
			.evidence = { "log.complete" });
	else
		UNKNOWN(ctx, .graded = true, .severity = SEVERITY_INFO,
			.observed = text_printf(ctx, NOT_ASKED " names no %s since the boot.",
						what),
			.remedy = RUN_NVML, .needs_nvml = true, .evidence = { "log.lines" });
}

/* ---- memory errors ---- */

/* nverror.h: 64 and 157 are retirements or row remaps that failed, 140 an error that escaped; 161 is the
 * same of a channel. */
static const char *const memory_failed[] = { "xid-64", "xid-140", "xid-157", "xid-161", NULL };
/* 63, 156, 160: marked for retirement or remapping, which a reset of the GPU does. 48, 95, 171, 172: the
 * uncorrectable errors before it. */
static const char *const memory_pending[] = { "xid-63", "xid-156", "xid-160", "xid-48",
					      "xid-95", "xid-171", "xid-172", NULL };

static bool has_ecc(const struct pci_device *device)
{
	const struct gpu_model *model = gpu_model(device);

	return pci_is_gpu(device) && (!model || model->kind != GPU_GEFORCE);
}

/* The driver's own record of the GPU; NULL: it was not asked, or does not show it. */
static const struct nvml_gpu *record_of(const struct node *node, const char *bdf)
{
	return is_known(node->nvml.gpus) ? LIST_FIND(&node->nvml.gpus, bdf) : NULL;
}

/* Returns true if it is known for all that GPUs of its kind have. Those before Ampere retire pages, the later ones
 * remap rows. Channels and processors are repaired by drivers that also say so, and only new ones say what cannot be
 * repaired. */
static bool record_is_whole(const struct nvml_gpu *gpu)
{
	return was_read(gpu->rows.failed) && was_read(gpu->rows.pending) &&
	       was_read(gpu->ecc.retirement_pending) && was_read(gpu->ecc.uncorrected_volatile);
}

static bool check_broken_memory(struct rule_context *ctx, const struct nvml_gpu *gpu)
{
	bool failed = known_is(gpu->rows.failed, true);

	if (!failed && !known_is(gpu->ecc.unrepairable, true))
		return false;
	FAIL(ctx, .subject = gpu->bdf.value,
	     .observed = failed ? "a row of the memory could not be remapped"
				: "the driver says that the memory cannot be repaired",
	     .expected = failed ? "no failed remap" : "memory without such a fault",
	     .remedy =
		     failed ? "Take the GPU out of service and have it replaced: it has no spare row left."
			    : "Take the GPU out of service and have it replaced.",
	     .activation = ACTIVATION_NONE, .repaired_by = BY_HARDWARE,
	     .action = ACTION_REPLACE_HARDWARE,
	     .evidence = { fact_path(ctx->arena, "nvml.gpus", gpu->bdf.value,
				     failed ? "rows.failed" : "ecc.unrepairable") });
	return true;
}

/* Answers by the driver's record. False: it has nothing to say, and the log counts. */
static bool check_record(struct rule_context *ctx, const struct nvml_gpu *gpu)
{
	const char *what = NULL, *member = "rows.pending";
	struct fact_u64 errors = gpu->ecc.uncorrected_volatile;

	if (check_broken_memory(ctx, gpu))
		return true;
	if (known_is(gpu->rows.pending, true)) {
		what = "a row of the memory waits for a remap";
	} else if (known_is(gpu->ecc.retirement_pending, true)) {
		what = "a page of the memory waits for retirement";
		member = "ecc.retirement_pending";
	} else if (known_is(gpu->ecc.channel_repair_pending, true)) {
		what = "a channel of the memory waits for its repair";
		member = "ecc.channel_repair_pending";
	} else if (known_is(gpu->ecc.tpc_repair_pending, true)) {
		what = "a cluster of processors waits for its repair";
		member = "ecc.tpc_repair_pending";
	} else if (is_known(errors) && errors.value) {
		what = text_printf(ctx,
				   "uncorrectable errors since the driver was loaded: %" PRIu64,
				   errors.value);
		member = "ecc.uncorrected_volatile";
	}
	if (what)
		FAIL_AS(ctx, SEVERITY_WARN, .subject = gpu->bdf.value, .observed = what,
			.expected = "no memory error since the last reset",
			.evidence = { fact_path(ctx->arena, "nvml.gpus", gpu->bdf.value, member) });
	else if (record_is_whole(gpu))
		PASS(ctx, .subject = gpu->bdf.value,
		     .evidence = {
			     fact_path(ctx->arena, "nvml.gpus", gpu->bdf.value, "rows.failed") });
	else
		return false;
	return true;
}

static uint64_t bad_rows(const struct node *node, const char *bdf)
{
	const struct log_line *line = node_log(node, "xid-63");
	const struct log_subject *own = line ? log_of_device(line, bdf) : NULL;

	return own && is_known(own->count) ? own->count.value : 0;
}

/* One bad row is remapped and forgotten. Memory that gets a second one soon fails. */
static void fail_again(struct rule_context *ctx, const char *bdf)
{
	const struct log_line *line = node_log(ctx->node, "xid-63");

	FAIL(ctx, .subject = bdf,
	     .observed = text_printf(
		     ctx, "%" PRIu64 " rows or pages of its memory went bad in this log; last: %s",
		     bad_rows(ctx->node, bdf), log_of_device(line, bdf)->last.value),
	     .expected = "no second bad row",
	     .impact = "The memory fails: jobs on this GPU are killed again and again.",
	     .remedy =
		     "Reset the GPU while no job runs, or reboot, and run dcgmi diag -r 3. If the "
		     "test fails or the log gets another bad row, take the GPU out of service and "
		     "have it replaced.",
	     .evidence = { log_device_fact(ctx->arena, line, bdf, "count"),
			   log_device_fact(ctx->arena, line, bdf, "last") });
}

static void check_ecc(struct rule_context *ctx)
{
	size_t before = ctx->findings->count, candidates = 0, told = 0;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const struct nvml_gpu *record = record_of(ctx->node, d->bdf.value);
		const struct log_line *failed, *pending;

		if (!has_ecc(d))
			continue;
		candidates++;
		told += record && check_record(ctx, record);
		if (rule_has_answered(ctx, d->bdf.value))
			continue;
		failed = logged(ctx->node, memory_failed, d->bdf.value);
		pending = still_so(ctx, memory_pending, d->bdf.value);
		if (failed)
			FAIL(ctx, .subject = d->bdf.value,
			     .observed = log_of_device(failed, d->bdf.value)->last.value,
			     .expected = "no failed retirement or remap",
			     .remedy =
				     "Take the GPU out of service and have it replaced: it could not retire or "
				     "remap the memory.",
			     .activation = ACTIVATION_NONE, .repaired_by = BY_HARDWARE,
			     .action = ACTION_REPLACE_HARDWARE,
			     .evidence = {
				     log_device_fact(ctx->arena, failed, d->bdf.value, "last") });
		else if (pending && bad_rows(ctx->node, d->bdf.value) > 1)
			fail_again(ctx, d->bdf.value);
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
	else if (ctx->findings->count == before && told < candidates)
		report_unlogged(ctx, "memory error");
}

/* ---- NVLink ---- */

/* nverror.h: NVLink errors, training that failed (136), NVLink 5 (144 to 150, 155, 166, 170). */
static const char *const nvlink_errors[] = { "xid-74",	"xid-136", "xid-144", "xid-145", "xid-146",
					     "xid-147", "xid-148", "xid-149", "xid-150", "xid-155",
					     "xid-166", "xid-170", NULL };

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

struct links {
	size_t all, active;
	bool unknown;
};

static struct links count_links(const struct nvml_gpu *gpu)
{
	struct links links = { .unknown = is_unknown(gpu->links) };

	for_each(link, &gpu->links) {
		links.all++;
		links.active += known_is(link->active, true);
		links.unknown |= is_unknown(link->active);
	}
	return links;
}

/* The GPUs of a board with NVSwitches have the same number of links. */
static size_t most_links(const struct node *node)
{
	size_t most = 0;

	for_each(gpu, &node->nvml.gpus)
		most = gpu->links.count > most ? gpu->links.count : most;
	return most;
}

/* Boards of the PCIe form have links that no bridge need be on: there a GPU is wrong if a different GPU has more. */
static size_t most_active(const struct node *node)
{
	size_t most = 0;

	for_each(gpu, &node->nvml.gpus) {
		struct links links = count_links(gpu);

		most = links.active > most ? links.active : most;
	}
	return most;
}

/* True: the driver's record answers the rule. */
static bool check_links(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t most = most_active(node), shown = 0, well = 0, before = ctx->findings->count;
	bool board = nvswitches(node) || gpu_nvswitch_is_nic(&node->pci);
	size_t wanted = board ? most_links(node) : 0;

	for_each(gpu, &node->nvml.gpus) {
		struct links links = count_links(gpu);

		shown++;
		if (rule_has_answered(ctx, gpu->bdf.value) || links.unknown)
			continue;
		wanted = board ? wanted : links.all;
		if (links.active < wanted && (board || most)) {
			FAIL(ctx, .subject = gpu->bdf.value,
			     .observed = text_printf(ctx, "%zu of %zu NVLinks are active",
						     links.active, wanted),
			     .expected = "all NVLinks are active",
			     .evidence = {
				     fact_path(ctx->arena, "nvml.gpus", gpu->bdf.value, "links") });
			continue;
		}
		well++;
	}
	if (ctx->findings->count > before || well < topology_gpus(node) || !shown)
		return ctx->findings->count > before;
	if (most)
		PASS(ctx, .evidence = { "nvml.gpus" });
	else
		NOT_APPLICABLE(ctx, .observed = "no NVLink is in use on this node",
			       .evidence = { "nvml.gpus" });
	return true;
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
		     .expected = "one fabric state in driver and fabric manager",
		     .remedy =
			     "Stop the jobs and restart the fabric manager. If that does not help, reboot.",
		     .ends_jobs = true, .follows = "services/fabric-state-bad",
		     .follows_subject = "fabric-out-of-sync",
		     .evidence = { "log.lines[fabric-out-of-sync].last" });
	if (sxid)
		FAIL(ctx, .subject = "NVSwitch", .observed = sxid->last.value,
		     .expected = "no fatal NVSwitch errors", .follows = "services/fabric-state-bad",
		     .follows_subject = sxid->pattern.value,
		     .evidence = {
			     fact_path(ctx->arena, "log.lines", sxid->pattern.value, "last") });
	if (check_links(ctx) || ctx->findings->count > before)
		return;
	if (!may_have_nvlink(node))
		NOT_APPLICABLE(ctx, .observed = "no NVSwitch, and not two data-centre GPUs",
			       .evidence = { "pci.devices" });
	else
		report_unlogged(ctx, "NVLink error");
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
		const struct nvml_gpu *record = record_of(ctx->node, g->bdf.value);

		if (record && known_is(record->mig, true))
			FAIL(ctx, .subject = g->bdf.value,
			     .observed = text_printf(ctx, "MIG mode is on, MIG devices: %u",
						     record->mig_devices.count),
			     .expected = "MIG mode is off",
			     .evidence = {
				     fact_path(ctx->arena, "nvml.gpus", g->bdf.value, "mig") });
		else if (is_unknown(g->mig_instances) && !(record && was_read(record->mig)))
			UNKNOWN(ctx, .subject = g->bdf.value, .evidence = { fact });
		else if (is_known(g->mig_instances) && g->mig_instances.value)
			FAIL(ctx, .subject = g->bdf.value,
			     .observed = text_printf(ctx, "MIG instances: %" PRIu64,
						     g->mig_instances.value),
			     .expected = "no MIG instances", .evidence = { fact });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "gpu.devices" });
}

/* ---- displays ---- */

static const char *join(struct rule_context *ctx, const struct gpu *g)
{
	struct arena_list list = { 0 };

	for_each(name, &g->displays)
		arena_list(&list, ctx->arena, *name);
	return arena_listed(&list);
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
		     .expected = "GPUs without a display",
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
	struct kind_answer board = kind_find(ctx->node, KIND_HGX, ctx->arena);

	if (gpus && gpus % BOARD_GPUS == 0)
		PASS(ctx, .evidence = { "pci.devices" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx, "%zu GPU%s, on a board with NVSwitches: %s", gpus,
					     gpus == 1 ? "" : "s", board.reason),
		     .expected = text_printf(ctx, "%d GPUs on a board with NVSwitches", BOARD_GPUS),
		     .evidence = { "pci.devices" });
}

/* Servers have slots in pairs; a workstation can have any number of cards. */
static void check_odd_count(struct rule_context *ctx, size_t gpus)
{
	struct kind_answer workstation = kind_find(ctx->node, KIND_WORKSTATION, ctx->arena);

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
			.observed = "a virtual machine can have any number; [expect] gpu-count is "
				    "not set",
			.evidence = { "os.hypervisor" });
	else if (is_unknown(ctx->node->os.hypervisor))
		UNKNOWN(ctx, .evidence = { "os.hypervisor" });
	else if (node_is(ctx->node, KIND_HGX))
		check_board(ctx, gpus);
	else if (gpus > 2 && gpus % 2)
		check_odd_count(ctx, gpus);
	else
		NOT_APPLICABLE(ctx, .observed = "[expect] gpu-count is not set",
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
		FAIL(ctx, .observed = text_printf(ctx, "%zu GPU%s", gpus, gpus == 1 ? "" : "s"),
		     .expected = text_printf(ctx, "%s (%s)", e->value, e->file),
		     .evidence = { "pci.devices" });
	} else {
		PASS(ctx, .evidence = { "pci.devices" });
	}
}

static const struct rule gpu_rules[] = {
	{
		.id = "gpu/ecc-pending",
		.title = "A GPU has memory errors that need a reset or a replacement",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_ecc,
		.impact =
			"A job that touches the bad memory is killed. A100, H100 and B200 keep new work off it until the reset.",
		.remedy =
			"Reset the GPU while no job runs, or reboot. That retires or remaps the memory.",
		.command = "sudo nvidia-smi -r -i BDF",
		.action = ACTION_RESET_GPU,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Xids about memory in the kernel log since the boot: 48, 63, 64, 95, 140, 156, 157, "
			"160, 161, 171, 172. With --nvml: remapped rows, retired pages, repairs that wait for a "
			"reset, memory that cannot be repaired, uncorrectable errors.",
		.why = "The GPU's own record (pending rows, failed remaps of earlier boots) is visible only "
		       "through NVML, which opens the device. So a log without such a line is unknown and "
		       "never a pass without --nvml. An error is over if the log says later that the GPU was "
		       "reset or the driver was loaded again, or if the driver's own record has none. A "
		       "failed remap is not.",
		.check =
			"nvnodecheck doctor --nvml; nvidia-smi -q -d ROW_REMAPPER,PAGE_RETIREMENT; dmesg | grep Xid",
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/common/sdk/nvidia/inc/nverror.h\n"
			"NVIDIA GPU Memory Error Management r580: Row Remapping, Error Containment, Supported GPUs (dynamic page "
			"offlining), Error Recovery and Response Flags\n"
			"NVIDIA Xid Errors, Xid Catalog (October 2025)\n"
			"NVIDIA Health Validation: Xid Checks (reset, then service)\n"
			"github.com/wtdcode/vllm-backport issue 62\n"
			"nvml.h of NVML 13 (github.com/NVIDIA/go-nvml): nvmlRepairStatus_v1_t, "
			"nvmlUnrepairableMemoryStatus_v1_t",
	},
	{
		.id = "gpu/nvlink-inactive",
		.title = "NVLink between the GPUs failed",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_nvlink,
		.impact =
			"NCCL and NVSHMEM lose bandwidth or hang. DeepEP's kernels within a node need every "
			"link.",
		.remedy =
			"Reset all GPUs of the board while no job runs, or reboot. If the error returns, have the board "
			"examined.",
		.action = ACTION_RESET_GPU,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Xids about NVLink, fatal SXids of NVSwitches and \"fabric state out of sync\" in the "
			"kernel log since the boot. With --nvml: the state of each link.",
		.why = "No file shows the state of the links. NVML shows it, and opens the device. Links "
		       "that never came up leave no line. So a log without a line is unknown without --nvml. "
		       "On boards without NVSwitches a bridge need not be there: a GPU without any active "
		       "link is then wrong only if a different GPU has some.",
		.check =
			"nvnodecheck doctor --nvml; nvidia-smi nvlink -s; nvidia-smi -q | grep -A3 Fabric",
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/common/sdk/nvidia/inc/nverror.h\n"
			"NVIDIA Fabric Manager User Guide 2.3 (March 2025): NVSwitch SXid Errors\n"
			"github.com/Azure/azhpc-diagnostics issue 73",
	},
	{
		.id = "gpu/mig-enabled",
		.title = "Peer-to-peer and NVLink do not work on a GPU: it is divided into MIG "
			 "instances",
		.is_short_effect = true,
		.profiles = PROFILE_P2P | PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_mig,
		.needs_running = true,
		.impact =
			"No peer-to-peer between GPUs over PCIe or NVLink, and no NVLS. NCCL copies through "
			"host memory.",
		.remedy =
			"Stop the jobs on the GPU. Delete its compute and GPU instances, then turn MIG off.",
		.command = "sudo nvidia-smi mig -i BDF -dci\n"
			   "sudo nvidia-smi mig -i BDF -dgi\n"
			   "sudo nvidia-smi -i BDF -mig 0",
		.activation = ACTIVATION_NOW,
		.reads = "/proc/driver/nvidia/capabilities/gpu*/mig. With --nvml: the MIG mode.",
		.why = "A GPU in MIG mode without instances is visible only with --nvml: only the driver "
		       "knows the mode.",
		.check = "nvidia-smi mig -lgi",
		.cost = "Jobs that use the instances end.",
		.is_risk = true,
		.ends_jobs = true,
		.sources = "NVIDIA MIG User Guide r580: Application Considerations\n"
			   "github.com/NVIDIA/nccl issue 1716",
	},
	{
		.id = "gpu/display-attached",
		.title = "A GPU that takes part in peer-to-peer also drives a display",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_INFO,
		.evaluate = check_display,
		.impact =
			"The console uses part of BAR1. If BAR1 is not larger than the memory, the driver "
			"cannot map all memory through it. Then peer-to-peer through BAR1 to this GPU fails.",
		.remedy = "Use the board's own graphics, or another GPU, for the display.",
		.repaired_by = BY_HARDWARE,
		.activation = ACTIVATION_REBOOT,
		.reads = "boot_vga of the PCI function, and its connectors below /sys/class/drm.",
		.why = "This matters for patched drivers and for GPUs whose peer-to-peer uses BAR1. "
		       "Connectors are visible only with nvidia_drm's modesetting.",
		.check = "cat /sys/bus/pci/devices/*/boot_vga; grep -H . /sys/class/drm/*/status",
		.sources = "open-gpu-kernel-modules 595.45.04: "
			   "src/nvidia/src/kernel/gpu/bus/arch/turing/kern_bus_tu102.c "
			   "(kbusEnableStaticBar1Mapping)\n"
			   "github.com/aikitoria/open-gpu-kernel-modules pull 34",
	},
	{
		.id = "gpu/count-unexpected",
		.title = "GPUs are missing or extra: the number is not what this node should have",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_count,
		.impact =
			"Jobs that ask for all GPUs of the node do not start, or start with fewer.",
		.remedy =
			"If a GPU is still missing, check the firmware's log, power, riser, and \"fallen off the bus\" in the "
			"kernel log.",
		.then = FIRST_POWER_CYCLE,
		.repaired_by = BY_HARDWARE,
		.action = ACTION_POWER_CYCLE,
		.activation = ACTIVATION_POWER_CYCLE,
		.reads =
			"NVIDIA display controllers on the PCI bus, NVSwitches, and [expect] gpu-count of the"
			" configuration.",
		.why = "A GPU that fails early is not on the bus, and nothing else reports it. A board with "
		       "NVSwitches has eight GPUs; fewer are an error. Without [expect] gpu-count an odd "
		       "number of GPUs in another server is a warning.",
		.check = "lspci -d 10de: | grep -c -E '3D|VGA'",
		.sources =
			"NVIDIA Fabric Manager User Guide 2.3 (March 2025): GPU Baseboard Topologies\n"
			"azurehpc-health-checks: customTests/azure_gpu_count.nhc (2024)",
	},
};

RULE_TABLE(gpu);
