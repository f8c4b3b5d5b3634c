/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-xid.c - numbered errors of the NVIDIA driver (Xid); the worst of each GPU counts (rule log/xid). */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/span.h"
#include "evaluate/skip.h"
#include "query/link-errors.h"
#include "query/log-age.h"

#define PREFIX "xid-"

enum xid_action {
	XID_IGNORE,
	XID_APPLICATION, /* the program's fault, or only the program has to be restarted */
	XID_WATCH,
	XID_IMEX,
	XID_GUEST, /* the driver of a virtual machine does not fit the host's */
	XID_RESET,
	XID_REBOOT,
	XID_POWER,
	XID_SUPPORT,
};

/* Recovery actions in the order of their effort, the greatest last. */
static const struct {
	const char *words;
	enum severity severity;
	enum action action;
	const char *remedy;
} actions[] = {
	[XID_IGNORE] = { "harmless", SEVERITY_INFO, ACTION_NONE, NULL },
	[XID_APPLICATION] = { "a fault of the application", SEVERITY_INFO, ACTION_NONE, NULL },
	[XID_WATCH] = { "to be watched", SEVERITY_WARN, ACTION_NONE,
			"Look the number up in NVIDIA's Xid catalog. If the error returns, drain the node "
			"and run the vendor's diagnostics." },
	/* The action is for the domain, not for this GPU. */
	[XID_IMEX] = { "the IMEX domain needs a recovery", SEVERITY_WARN, ACTION_NONE,
		       "Stop the jobs that share memory with other nodes over NVLink. Then run systemctl "
		       "restart nvidia-imex on the nodes of the domain. The GPU itself needs no reset." },
	[XID_GUEST] = { "the vGPU needs another driver", SEVERITY_ERR, ACTION_CONFIGURE,
			"Install the guest driver of the vGPU software release that the host runs. The "
			"administrator of the host knows it: nvidia-smi there shows the version." },
	[XID_RESET] = { "the GPU needs a reset", SEVERITY_ERR, ACTION_RESET_GPU,
			"Reset the GPU with nvidia-smi -r while no job runs, or reboot. If the error "
			"returns, run the vendor's diagnostics." },
	[XID_REBOOT] = { "the node needs a reboot", SEVERITY_ERR, ACTION_REBOOT,
			 "Reboot the node. If the error returns, check power, riser and PCIe "
			 "slot, and ask the vendor." },
	/* The catalog says reboot; a GPU often comes back only without power: pci/device-off-bus. */
	[XID_POWER] = { "the node needs a power cycle", SEVERITY_ERR, ACTION_POWER_CYCLE,
			"If it happens again, check the device's seating, power, cooling and riser." },
	[XID_SUPPORT] = { "the vendor must be asked", SEVERITY_ERR, ACTION_REPLACE_HARDWARE,
			  "Drain the node. Run nvidia-bug-report.sh and the vendor's diagnostics." },
};

/*
 * Numbers and names: nverror.h of open-gpu-kernel-modules. Actions: column "Resolution Bucket
 * (Immediate Action)" of NVIDIA's Xid catalog; "ignore" followed by another action is watch here, but
 * for 37, 43, 121, 137 and 141. 94, "restart the application" there, is watch too. The NVLink workflows
 * (74, 144 to 150) end in a reset unless Xid 154 names another action. 167 to 169, 171 and 172 have no
 * action there, and 176 is not in it; a PCIe link that times out needs the platform's reset.
 */
static const struct xid {
	unsigned int first;
	unsigned int last;
	enum xid_action action;
	const char *name;
} xids[] = {
	{ 8, 8, XID_APPLICATION, "GPU stopped processing" },
	{ 11, 11, XID_APPLICATION, "invalid or corrupted push buffer" },
	{ 13, 13, XID_APPLICATION, "graphics engine exception" },
	{ 31, 31, XID_APPLICATION, "MMU fault" },
	{ 32, 32, XID_APPLICATION, "invalid or corrupted push buffer" },
	{ 37, 37, XID_APPLICATION, "driver firmware error" },
	{ 38, 38, XID_WATCH, "driver firmware error" },
	{ 39, 41, XID_APPLICATION, "copy engine exception" },
	{ 43, 43, XID_APPLICATION, "GPU stopped processing" },
	{ 44, 44, XID_WATCH, "fault during context switch" },
	{ 45, 45, XID_IGNORE, "clean-up after another error" },
	{ 46, 46, XID_RESET, "GPU stopped processing" },
	{ 48, 48, XID_RESET, "double bit ECC error" },
	{ 54, 54, XID_SUPPORT, "auxiliary power is not connected" },
	{ 56, 58, XID_SUPPORT, "display or memory interface error" },
	{ 60, 60, XID_APPLICATION, "video processor exception" },
	{ 61, 62, XID_RESET, "internal micro-controller halt" },
	{ 63, 63, XID_IGNORE, "memory row remapped or page retired" },
	{ 64, 64, XID_RESET, "row remapping or page retirement failed" },
	{ 66, 67, XID_WATCH, "illegal access by driver" },
	{ 68, 68, XID_APPLICATION, "video decoder exception" },
	{ 69, 69, XID_APPLICATION, "graphics engine class error" },
	{ 70, 72, XID_APPLICATION, "copy engine error" },
	{ 74, 74, XID_RESET, "NVLink error" },
	{ 75, 77, XID_APPLICATION, "copy engine error" },
	{ 78, 78, XID_WATCH, "vGPU start error" },
	{ 79, 79, XID_POWER, "GPU has fallen off the bus" },
	{ 80, 80, XID_APPLICATION, "corrupted data sent to GPU" },
	{ 82, 86, XID_APPLICATION, "video, image or copy engine error" },
	{ 88, 89, XID_APPLICATION, "video decoder error" },
	{ 92, 92, XID_WATCH, "high rate of single bit ECC errors" },
	{ 93, 93, XID_WATCH, "InfoROM wear limit" },
	{ 94, 94, XID_WATCH, "contained memory error" },
	{ 95, 95, XID_RESET, "uncontained memory error" },
	{ 96, 105, XID_APPLICATION, "video or image engine error" },
	{ 106, 107, XID_IGNORE, "SMBPBI test message" },
	{ 109, 109, XID_RESET, "context switch timeout" },
	{ 110, 110, XID_RESET, "security fault" },
	{ 119, 119, XID_RESET, "GSP RPC timeout" },
	{ 120, 120, XID_RESET, "GSP error" },
	{ 121, 121, XID_IGNORE, "corrected C2C link error" },
	{ 126, 135, XID_APPLICATION, "copy engine error" },
	{ 136, 136, XID_RESET, "NVLink training failed" },
	{ 137, 137, XID_APPLICATION, "NVLink privilege error" },
	{ 139, 139, XID_APPLICATION, "optical flow engine error" },
	{ 140, 140, XID_RESET, "unrecovered ECC error" },
	{ 141, 141, XID_IGNORE, "CUDA fast path error" },
	{ 142, 142, XID_SUPPORT, "video encoder error" },
	{ 143, 143, XID_RESET, "GPU initialization error" },
	{ 144, 150, XID_RESET, "NVLink 5 error" },
	{ 151, 151, XID_REBOOT, "key rotation error" },
	{ 155, 155, XID_RESET, "NVLink software defined error" },
	{ 156, 156, XID_RESET, "resource retirement" },
	{ 157, 157, XID_WATCH, "resource retirement failed" },
	{ 158, 158, XID_RESET, "GPU fatal timeout" },
	{ 160, 160, XID_WATCH, "channel retirement" },
	{ 161, 161, XID_WATCH, "channel retirement failed" },
	{ 167, 167, XID_REBOOT, "PCIe fatal timeout" },
	{ 168, 168, XID_WATCH, "reduced memory capacity" },
	{ 169, 169, XID_RESET, "internal micro-controller halt" },
	{ 171, 171, XID_RESET, "uncorrectable DRAM error" },
	{ 172, 172, XID_RESET, "uncorrectable SRAM error" },
	{ 176, 176, XID_WATCH, "correctable PCIe errors" },
};

#define XID_RECOVERY_ACTION 154
#define XID_VGPU_START 78
#define XID_CORRECTED 176 /* correctable PCIe errors */

/* P2P peers are only drained. A line that was cut off before the action says none. */
static enum xid_action recovery_action(const char *line)
{
	static const struct {
		const char *words;
		enum xid_action action;
	} known[] = {
		{ "", XID_WATCH },
		{ "None", XID_IGNORE },
		{ "Drain P2P", XID_WATCH },
		{ "Recover IMEX Domain", XID_IMEX },
	};
	struct span words = log_recovery_action(line);

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (span_is(words, known[i].words))
			return known[i].action;
	return span_search(words, "Reboot") ? XID_REBOOT : XID_RESET;
}

static const char unlisted[] = "not in the table of Xids";

struct seen {
	uint64_t number;
	enum xid_action action;
	const char *name;
	const struct log_line *line;
	const char *last; /* of those about the GPU */
	struct fact_u64 last_us;
	const char *since; /* what ended it; NULL: nothing */
};

/* Reads the lines of one number about a GPU; BDF "": the lines that name none. */
static bool read_line(const struct log_line *line, const char *bdf, struct seen *seen)
{
	const struct log_subject *own = *bdf ? log_of_device(line, bdf) : NULL;

	*seen = (struct seen){ .action = XID_WATCH,
			       .name = unlisted,
			       .line = line,
			       .last = own ? own->last.value : line->last.value,
			       .last_us = own ? own->last_us : line->last_us };
	if (!str_starts(line->pattern, PREFIX) ||
	    span_u64(span_of(line->pattern.value + strlen(PREFIX)), 10, &seen->number) ||
	    (*bdf ? !own : line->devices.count > 0))
		return false;
	if (seen->number == XID_RECOVERY_ACTION) {
		seen->action = recovery_action(seen->last);
		seen->name = "GPU recovery action changed";
		return true;
	}
	if (seen->number == XID_VGPU_START && strstr(seen->last, "incompatible with host driver")) {
		seen->action = XID_GUEST;
		seen->name = "the host refuses this guest driver";
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(xids); i++)
		if (seen->number >= xids[i].first && seen->number <= xids[i].last) {
			seen->action = xids[i].action;
			seen->name = xids[i].name;
		}
	return true;
}

static const char *fact_of(struct rule_context *ctx, const struct seen *seen, const char *bdf,
			   const char *member)
{
	return *bdf ? log_device_fact(ctx->arena, seen->line, bdf, member)
		    : fact_path(ctx->arena, "log.lines", seen->line->pattern.value, member);
}

/* An event that needs a reset or a boot is over when there was one. One that needs the vendor stays. */
static bool read_seen(struct rule_context *ctx, const struct log_line *line, const char *bdf,
		      struct seen *seen)
{
	if (!read_line(line, bdf, seen))
		return false;
	if (seen->action == XID_WATCH || seen->action == XID_IMEX || seen->action == XID_RESET ||
	    seen->action == XID_REBOOT || seen->action == XID_POWER)
		seen->since = log_new_life(ctx->arena, ctx->node, *bdf ? bdf : NULL, seen->last_us);
	if (seen->since)
		seen->action = XID_IGNORE;
	return true;
}

static const char *answers_now(struct rule_context *ctx, const char *bdf)
{
	const struct pci_device *d = *bdf ? node_pci(ctx->node, bdf) : NULL;

	return !d || !is_known(d->answers) ? ""
	       : d->answers.value	   ? "; the GPU is on the PCIe bus now"
					   : "; the GPU is not on the PCIe bus now";
}

static const char *say_xid(struct rule_context *ctx, const struct seen *seen, const char *others,
			   const char *bdf)
{
	if (seen->since)
		return text_printf(ctx, "Xid %" PRIu64 " (%s) is over%s; since then %s",
				   seen->number, seen->name, others, seen->since);
	return text_printf(ctx, "Xid %" PRIu64 " (%s), %s%s%s; last: %s", seen->number, seen->name,
			   actions[seen->action].words, others,
			   actions[seen->action].severity >= SEVERITY_ERR ? answers_now(ctx, bdf)
									  : "",
			   seen->last);
}

/* Errors of the GPU's memory and its repair, which gpu/ecc-pending judges. */
static bool is_of_memory(const struct seen *seen)
{
	static const unsigned char numbers[] = { 48, 63, 64, 94, 95, 140, 171 };

	for (size_t i = 0; seen->line && i < ARRAY_SIZE(numbers); i++)
		if (seen->number == numbers[i])
			return true;
	return false;
}

/* Names the error. Where the driver only asks for an action (Xid 154), that is CAUSE, the worst of the others. */
static const char *title_of(struct rule_context *ctx, const struct seen *worst,
			    const struct seen *cause)
{
	bool asks = worst->number == XID_RECOVERY_ACTION;
	const struct seen *seen = asks && cause->line && cause->action >= XID_WATCH ? cause : worst;

	if (actions[worst->action].severity < SEVERITY_WARN)
		return NULL;
	if (seen->name == unlisted)
		return text_printf(ctx, "GPU error: Xid %" PRIu64, seen->number);
	return text_printf(ctx, "GPU error: Xid %" PRIu64 ", %s", seen->number,
			   seen->number == XID_RECOVERY_ACTION ? actions[seen->action].words
							       : seen->name);
}

/* Answers for the worst Xid of the GPU, and names the others. */
static void check_gpu(struct rule_context *ctx, const char *bdf)
{
	struct seen worst = { .line = NULL }, cause = { .line = NULL }, seen;
	struct arena_text others = { .arena = ctx->arena };
	const struct pci_device *device;
	const char *errors = "", *count = NULL;

	for_each(line, &ctx->node->log.lines)
		if (read_seen(ctx, line, bdf, &seen) && (!worst.line || seen.action > worst.action))
			worst = seen;
	if (!worst.line)
		return;
	for_each(line, &ctx->node->log.lines)
		if (line != worst.line && read_line(line, bdf, &seen)) {
			arena_add(&others, "%s%" PRIu64, others.n ? ", " : "; also ", seen.number);
			if (!cause.line || seen.action > cause.action)
				cause = seen;
		}
	device = *bdf ? node_pci(ctx->node, bdf) : NULL;
	if (device && worst.action != XID_IGNORE &&
	    (worst.action == XID_POWER || worst.number == XID_CORRECTED))
		errors = link_errors_text(ctx->arena, ctx->node, device, &count);
	FAIL_AS(ctx, actions[worst.action].severity, .subject = *bdf ? bdf : NULL,
		.title = title_of(ctx, &worst, &cause),
		.observed = text_printf(ctx, "%s%s",
					say_xid(ctx, &worst, arena_added(&others), bdf), errors),
		.then = worst.action == XID_POWER ? FIRST_POWER_CYCLE : 0,
		.remedy = *errors ? LINK_ERRORS_REMEDY : actions[worst.action].remedy,
		.action = actions[worst.action].action,
		.follows = is_of_memory(&worst) || (worst.number == XID_RECOVERY_ACTION &&
						    is_of_memory(&cause))
				   ? "gpu/ecc-pending"
				   : NULL,
		.evidence = { fact_of(ctx, &worst, bdf, "last"), fact_of(ctx, &worst, bdf, "count"),
			      count });
}

/* Returns true if a line before LINE names the GPU. */
static bool was_checked(const struct node *node, const struct log_line *line, const char *bdf)
{
	for_each(earlier, &node->log.lines) {
		if (earlier == line)
			return false;
		if (str_starts(earlier->pattern, PREFIX) && log_of_device(earlier, bdf))
			return true;
	}
	return false;
}

static void check_xid(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	for_each(line, &ctx->node->log.lines) {
		if (!str_starts(line->pattern, PREFIX))
			continue;
		for_each(device, &line->devices)
			if (!was_checked(ctx->node, line, device->name.value))
				check_gpu(ctx, device->name.value);
	}
	check_gpu(ctx, ""); /* lines that name no GPU */
	if (ctx->findings->count == before && !skip_without_gpu(ctx))
		pass_if_log_whole(ctx);
}

static const struct rule log_xid_rules[] = {
	{
		.id = "log/xid",
		.title = "The driver reported a GPU error (Xid)",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_xid,
		.follows = { "pci/device-off-bus" },
		.impact = "Work on this GPU failed or will fail.",
		.remedy = "Look the number up in NVIDIA's Xid catalog.",
		.repaired_by = BY_ADMIN,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"\"NVRM: Xid\" lines of this boot. Xid 154 names the recovery action that the driver "
			"requests.",
		.why = "The severity follows the immediate action of NVIDIA's catalog, where it has one. Reset and reboot are "
		       "errors. Errors to watch are warnings: most that the catalog first ignores and then investigates, and "
		       "contained memory errors (94). Faults of a program (13, 31, 43) are notes. An "
		       "Xid that asks for a reset or a reboot is over if the driver was loaded again later. It is "
		       "also over if the GPU was reset or found on the bus again. A number that is not in the "
		       "table is a warning.",
		.check = "dmesg | grep Xid",
		.sources =
			"NVIDIA Xid Errors: Analyzing Xid Errors with the Xid Catalog (October 2025), column "
			"Immediate Action\n"
			"NVIDIA IMEX Service for NVLink Networks (2025-07): connections.html (recovery of the domain)\n"
			"open-gpu-kernel-modules 595.45.04: src/common/sdk/nvidia/inc/nverror.h, "
			"kernel-open/nvidia/nvlink_linux.c, src/nvidia/src/kernel/gpu/gpu.c (Xid 78, 154)\n"
			"Linux 6.12.117: drivers/pci/probe.c (pci_setup_device), drivers/pci/pci.c (pci_dev_restore)\n"
			"github.com/leptonai/gpud v0.13.0-rc.0: "
			"components/accelerator/nvidia/xid/catalog_generated.go",
	},
};

RULE_TABLE(log_xid);
