/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-reset.c - the driver refuses to work with a GPU until it is reset (rule log/gpu-reset-required). */
#include <string.h>

#include "evaluate/skip.h"
#include "query/log-age.h"

#define PATTERN "gpu-reset-required"

/* The GPU of the last Xid: the driver's refusals follow from it, and most of them name no GPU. */
static const char *gpu_of_xid(const struct node *node)
{
	const struct log_subject *last = NULL;

	for_each(line, &node->log.lines) {
		if (!str_starts(line->pattern, "xid-"))
			continue;
		for_each(gpu, &line->devices)
			if (!last || (is_known(gpu->last_us) && is_known(last->last_us) &&
				      gpu->last_us.value > last->last_us.value))
				last = gpu;
	}
	return last ? last->name.value : NULL;
}

/* GPU NULL: the lines name none. */
static void answer_for(struct rule_context *ctx, const struct log_line *line,
		       const struct log_subject *gpu)
{
	const char *name = gpu ? gpu->name.value : NULL;
	const char *last = gpu ? gpu->last.value : line->last.value;
	struct fact_u64 last_us = gpu ? gpu->last_us : line->last_us;
	const char *fact = gpu ? log_device_fact(ctx->arena, line, name, "last")
			       : "log.lines[" PATTERN "].last";
	const char *xid = gpu ? NULL : gpu_of_xid(ctx->node);
	const char *since = log_new_life(ctx->arena, ctx->node, gpu ? name : xid, last_us);

	if (since)
		NOTE(ctx, .subject = name,
		     .observed = text_printf(ctx, "%s; since then %s", last, since),
		     .evidence = { fact });
	else
		FAIL(ctx, .subject = name, .observed = last,
		     .expected = "a driver that can use every GPU",
		     .follows = xid ? "log/xid" : NULL, .follows_subject = xid,
		     .evidence = { fact });
}

static void check_reset(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, PATTERN);

	if (!line) {
		if (!skip_without_gpu(ctx))
			pass_if_log_whole(ctx);
		return;
	}
	for_each(gpu, &line->devices)
		answer_for(ctx, line, gpu);
	if (!line->devices.count)
		answer_for(ctx, line, NULL);
}

static const struct rule log_reset_rules[] = {
	{
		.id = "log/gpu-reset-required",
		.title = "CUDA fails on a GPU: the driver waits for a reset of it",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_reset,
		.follows = { "log/xid", "pci/device-off-bus" },
		.impact =
			"The driver refuses new work on the GPU, and nvidia-smi can hang or fail.",
		.remedy =
			"End the processes that hold the GPU (fuser -v /dev/nvidia*) and reset it with nvidia-smi -r "
			"while no job runs, or reboot. If the line returns, run the vendor's diagnostics.",
		.repaired_by = BY_ADMIN,
		.action = ACTION_RESET_GPU,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Lines of the driver with NV_ERR_RESET_REQUIRED, and \"The GPU likely needs to be "
			"reset\", in this boot's kernel log.",
		.why = "After a fatal error of the GPU the driver refuses new objects with this status, and after one of its "
		       "firmware (GSP) all calls to the firmware. Most lines name no GPU: the Xid before them does. The finding is over if the driver was "
		       "loaded again later, or if the GPU was reset.",
		.check = "dmesg | grep -E 'NV_ERR_RESET_REQUIRED|likely needs to be reset|Xid'",
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/nvidia/src/kernel/gpu/gsp/kernel_gsp.c "
			"(_kgspRpcSanityCheck), "
			"src/nvidia/src/kernel/rmapi/alloc_free.c, src/nvidia/src/libraries/utils/nvassert.c, "
			"kernel-open/common/inc/nvstatuscodes.h",
	},
};

RULE_TABLE(log_reset);
