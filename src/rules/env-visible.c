/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-visible.c - CUDA_VISIBLE_DEVICES against the GPUs of the node (rule env/visible-devices). */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/node-find.h"

#define VARIABLE "CUDA_VISIBLE_DEVICES"
#define FACT "env.variables[" VARIABLE "].value"

/* An index counts instances then, which /proc does not list as CUDA does. */
static bool has_mig(const struct node *node)
{
	for_each(gpu, &node->gpu.devices)
		if (is_known(gpu->mig_instances) && gpu->mig_instances.value > 0)
			return true;
	return false;
}

/* GeForce has no MIG. */
static bool may_have_mig(const struct node *node)
{
	for_each(gpu, &node->gpu.devices) {
		const struct pci_device *device = node_pci(node, gpu->bdf.value);

		if (is_unknown(gpu->mig_instances) && device && gpu_is_data_centre(device))
			return true;
	}
	return false;
}

static bool is_identifier(struct span entry)
{
	return span_starts(entry, "GPU-") || span_starts(entry, "MIG-");
}

static bool has_identifier(const char *list)
{
	struct span rest = span_of(list), entry;

	while (span_cut(&rest, ',', &entry))
		if (is_identifier(span_trim(entry)))
			return true;
	return false;
}

/* The first entry that no GPU can have, and how many GPUs are named before it. False: there is none. */
static bool find_wrong(const char *list, uint64_t gpus, struct span *wrong, size_t *before)
{
	struct span rest = span_of(list);
	uint64_t index;

	*before = 0;
	while (span_cut(&rest, ',', wrong)) {
		*wrong = span_trim(*wrong);
		if (!is_identifier(*wrong) && (span_u64(*wrong, 10, &index) || index >= gpus))
			return true;
		++*before;
	}
	return false;
}

static void fail_wrong(struct rule_context *ctx, const char *list, struct span wrong, size_t before)
{
	uint64_t gpus = ctx->node->gpu.devices.count;

	FAIL(ctx,
	     .observed =
		     !*list   ? "it is set and empty: CUDA sees no GPU"
		     : before ? text_printf(ctx,
					    "%s: \"%.*s\" is none of the %" PRIu64
					    " GPUs, and CUDA sees only the %zu before it",
					    list, SPAN_FMT(wrong), gpus, before)
			      : text_printf(
					ctx,
					"%s: \"%.*s\" is no GPU of this node, and CUDA sees none",
					list, SPAN_FMT(wrong)),
	     .expected = gpus == 1 ? "0, or not set"
				   : text_printf(ctx, "numbers from 0 to %" PRIu64 ", or not set",
						 gpus - 1),
	     .evidence = { FACT, "gpu.devices" });
}

static void check_visible(struct rule_context *ctx)
{
	const char *list = node_env(ctx->node, VARIABLE);
	struct span wrong = { "", 0 };
	size_t before = 0;

	if (skip_without_gpu(ctx) || skip_without_variables(ctx))
		return;
	if (!list)
		NOT_APPLICABLE(ctx, .observed = VARIABLE " is not set",
			       .evidence = { "env.variables" });
	else if (!*list)
		fail_wrong(ctx, list, wrong, 0);
	else if (!was_read(ctx->node->gpu.devices))
		UNKNOWN(ctx, .evidence = { "gpu.devices" });
	else if (!ctx->node->gpu.devices.count)
		NOT_APPLICABLE(ctx, .observed = "NVIDIA's driver has no GPU",
			       .evidence = { "gpu.devices" });
	else if (has_mig(ctx->node))
		NOT_APPLICABLE(ctx, .observed = "a GPU has MIG instances",
			       .evidence = { "gpu.devices" });
	else if (may_have_mig(ctx->node))
		UNKNOWN(ctx, .observed = "it is not known whether a GPU has MIG instances",
			.evidence = { "gpu.devices" });
	else if (find_wrong(list, ctx->node->gpu.devices.count, &wrong, &before))
		fail_wrong(ctx, list, wrong, before);
	else if (has_identifier(list))
		UNKNOWN(ctx, .observed = "it names GPUs by UUID, which are not compared",
			.evidence = { FACT });
	else
		PASS(ctx, .evidence = { FACT, "gpu.devices" });
}

static const struct rule env_visible_rules[] = {
	{
		.id = "env/visible-devices",
		.title =
			"CUDA sees no GPU, or too few: CUDA_VISIBLE_DEVICES names one that is not there",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_visible,
		.impact = "\"no CUDA-capable device is detected\", or \"invalid device ordinal\".",
		.remedy =
			"Correct CUDA_VISIBLE_DEVICES in the environment of the job, or unset it: unset CUDA_VISIBLE_DEVICES.",
		.activation = ACTIVATION_NEW_JOBS,
		.follows = { "pci/device-off-bus", "driver/loaded" },
		.reads = "CUDA_VISIBLE_DEVICES of the process; the GPUs that NVIDIA's driver has.",
		.why = "CUDA takes the list up to its first entry that is no GPU. So -1 and an "
		       "empty value hide all GPUs. UUIDs are not compared, and GPUs with MIG instances are left out.",
		.check = "echo \"[$CUDA_VISIBLE_DEVICES]\"; nvidia-smi -L",
		.sources =
			"CUDA Programming Guide 13.4: 5.2 CUDA Environment Variables, CUDA_VISIBLE_DEVICES\n"
			"github.com/pytorch/examples issue 115",
	},
};

RULE_TABLE(env_visible);
