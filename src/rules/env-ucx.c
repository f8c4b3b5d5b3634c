/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-ucx.c - what UCX_TLS takes away from GPU memory: UCX carries MPI, NIXL and Mooncake (rule
 * env/ucx-gpu-transports). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/endpoints.h"
#include "query/job-env.h"

/* UCX: src/ucp/core/ucp_context.c, ucp_tl_aliases; "cuda" means all of its transports. */
static bool names_transport(struct span list, const char *transport)
{
	struct span item;

	while (span_cut(&list, ',', &item)) {
		item = span_trim(item);
		if (item.n && item.p[0] == '\\')
			item = (struct span){ item.p + 1, item.n - 1 };
		if (span_is(item, transport) || span_is(item, "cuda") || span_is(item, "all"))
			return true;
	}
	return false;
}

/* Returns true if the value of UCX_TLS leaves that transport. */
static bool leaves(const char *value, const char *transport)
{
	if (value[0] == '^')
		return !names_transport(span_of(value + 1), transport);
	return names_transport(span_of(value), transport);
}

/* After ^ an entry excludes its transports, so none is added. */
#define EXCLUDED_REMEDY                                                                          \
	"Unset UCX_TLS, or remove cuda, cuda_copy and cuda_ipc from the list: after ^ it names " \
	"what UCX does not use."

/* A list without GPU transports is a note: sites have MPI start jobs so, while NCCL carries the data. A transport
 * that is excluded by its name was left out for GPU work. */
static void fail_transport(struct rule_context *ctx, const struct job_value *v,
			   const char *transport, const char *impact)
{
	FAIL_AS(ctx, v->value[0] == '^' ? SEVERITY_WARN : SEVERITY_INFO, .subject = v->name,
		.observed = text_printf(ctx, "%s leaves out %s",
					job_value_text(ctx->arena, ctx->node, v), transport),
		.expected = v->value[0] == '^' ? text_printf(ctx, "%s not excluded", transport)
					       : "cuda in the list, or UCX_TLS not set",
		.impact = impact, .remedy = v->value[0] == '^' ? EXCLUDED_REMEDY : NULL,
		.evidence = { v->fact });
}

/* These copy memory and carry no active messages, which every connection begins with. */
static bool copies_alone(struct span transport)
{
	static const char *const names[] = { "cuda",	"cuda_copy", "cuda_ipc", "gdr_copy",
					     "gdrcopy", "cma",	     "knem" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (span_is(transport, names[i]))
			return true;
	return transport.n == 0;
}

static bool carries_messages(const char *value)
{
	struct span list = span_of(value), item;

	if (value[0] == '^')
		return true;
	while (span_cut(&list, ',', &item))
		if (!copies_alone(span_trim(item)))
			return true;
	return false;
}

static void check_gpu_transports(struct rule_context *ctx)
{
	struct job_value v;

	if (skip_without_gpu(ctx) || skip_without_variables(ctx))
		return;
	v = job_env(ctx->arena, ctx->node, "UCX_TLS");
	if (!v.value)
		NOT_APPLICABLE(ctx, .observed = "UCX_TLS is not set",
			       .evidence = { "env.variables" });
	else if (!carries_messages(v.value))
		FAIL_AS(ctx, SEVERITY_ERR, .subject = v.name,
			.observed = text_printf(ctx, "%s has no transport that connects processes",
						job_value_text(ctx->arena, ctx->node, &v)),
			.expected = "rc, tcp or sm beside those of CUDA",
			.impact = "UCX makes no connection: \"no active messages transport\".",
			.remedy =
				"Unset UCX_TLS, or add rc (InfiniBand, RoCE), tcp and sm to the list.",
			.evidence = { v.fact });
	else if (!leaves(v.value, "cuda_copy"))
		fail_transport(ctx, &v, "cuda_copy",
			       "UCX does not recognize GPU memory: transfers of GPU buffers fail.");
	else if (ctx->endpoints->gpus.count > 1 && !leaves(v.value, "cuda_ipc"))
		fail_transport(
			ctx, &v, "cuda_ipc",
			"Copies between GPUs of this node go through the NIC or host memory.");
	else
		PASS(ctx, .evidence = { v.fact });
}

static const struct rule env_ucx_rules[] = {
	{
		.id = "env/ucx-gpu-transports",
		.title =
			"UCX fails with GPU memory, or is slow: UCX_TLS leaves out its GPU transports",
		.is_short_effect = true,
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.used_variables = "UCX_TLS",
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_gpu_transports,
		.impact =
			"Programs on UCX (MPI, NIXL, Mooncake) fail with GPU buffers, or are slow.",
		.remedy =
			"Unset UCX_TLS, or add cuda to the list. A job whose UCX carries no GPU memory needs neither.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads = "UCX_TLS of the job; the GPUs.",
		.why = "UCX_TLS names the only transports that UCX uses, or after ^ those that it does not. cuda_copy "
		       "recognizes GPU memory. cuda_ipc copies between GPUs of one node. cuda means both. They "
		       "copy memory only: a list needs rc, tcp or sm too, to connect processes. A list without those of "
		       "CUDA is a note, because MPI often only starts a job whose data NCCL carries.",
		.check = "env | grep UCX_TLS; ucx_info -d | grep Transport",
		.sources =
			"UCX (2026-08-21): src/ucp/core/ucp_context.c, ucp_tl_aliases\n"
			"github.com/openucx/ucx issue 4742; github.com/ai-dynamo/nixl issues 1097, 1413; github.com/vllm-project/vllm issue 26382",
	},
};

RULE_TABLE(env_ucx);
