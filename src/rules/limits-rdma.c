/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits-rdma.c - what the RDMA controller of control groups refuses (rule limits/rdma-cgroup). */
#include <inttypes.h>

#include "evaluate/skip.h"

static const char *number_text(struct rule_context *ctx, const struct fact_u64 *limit)
{
	return limit->value == FACT_UNLIMITED ? "any number of"
					      : text_printf(ctx, "%" PRIu64, limit->value);
}

static void check_cgroup(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_rdma_device(ctx))
		return;
	if (!was_read(ctx->node->limits.rdma)) {
		UNKNOWN(ctx, .evidence = { "limits.rdma" });
		return;
	}
	before = ctx->findings->count;
	for_each(limit, &ctx->node->limits.rdma)
		if (node_rdma(ctx->node, limit->device.value))
			FAIL(ctx, .subject = limit->device.value,
			     .observed = text_printf(ctx, "%s handles and %s objects",
						     number_text(ctx, &limit->handles),
						     number_text(ctx, &limit->objects)),
			     .expected = "max",
			     .evidence = { fact_path(ctx->arena, "limits.rdma", limit->device.value,
						     "objects") });
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "limits.rdma" });
}

static const struct rule limits_rdma_rules[] = {
	{
		.id = "limits/rdma-cgroup",
		.title =
			"A job may not open the NIC or create queue pairs: rdma.max limits its control group",
		.is_short_effect = true,
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_WARN,
		.evaluate = check_cgroup,
		.impact =
			"ibv_open_device(), ibv_create_qp() or ibv_reg_mr() fails with EAGAIN in a job that needs more.",
		.remedy =
			"Remove the limit where it is configured: the container runtime or the batch system. Until then write "
			"the NIC's name and \"hca_handle=max hca_object=max\" to rdma.max of the control group, and of those above it.",
		.activation = ACTIVATION_NOW,
		.reads =
			"rdma.max of the control group of this process (or of --pid), and of the groups above it.",
		.why = "The kernel counts open devices (hca_handle) and their objects (hca_object): queue pairs, "
		       "completion queues, memory regions. A job over all GPUs needs some for each peer and "
		       "channel. What it needs depends on its size, so any limit is a warning. Without a limit the "
		       "file says max, or is missing. Run this in the job or with --pid.",
		.check = "cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/rdma.max",
		.sources =
			"Linux 6.12.117: Documentation/admin-guide/cgroup-v2.rst, RDMA; kernel/cgroup/rdma.c, "
			"rdmacg_try_charge()",
	},
};

RULE_TABLE(limits_rdma);
