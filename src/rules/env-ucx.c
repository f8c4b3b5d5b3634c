/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-ucx.c - UCX, which carries MPI, NIXL and Mooncake: what UCX_TLS takes away from GPU memory, and the NICs that UCX
 * takes if nothing selects them (rules env/ucx-...). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/endpoints.h"
#include "query/job-env.h"
#include "query/ports.h"

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

/* ---- env/ucx-net-devices ---- */

/* The active devices that are not for jobs: functions that manage the node, and NICs of another kind than those next to
 * the GPUs. */
struct strangers {
	struct arena_list management, others;
	size_t for_jobs, unread;
	const char *fact; /* of the first */
};

static struct strangers find_strangers(struct rule_context *ctx)
{
	struct strangers found = { 0 };

	for_each_port(d, p, ctx->node) {
		bool management = is_management(ctx->endpoints, d);
		enum usable usable = port_usable(ctx->node, d, p);

		found.unread += usable == USABLE_UNKNOWN;
		if (usable != USABLE_YES || is_virtual_function(ctx->endpoints, d) ||
		    is_fast_path(ctx->endpoints, d))
			continue;
		if (is_job_nic(ctx->endpoints, d)) {
			found.for_jobs++;
			continue;
		}
		arena_list(management ? &found.management : &found.others, ctx->arena,
			   d->name.value);
		if (!found.fact)
			found.fact = port_fact(ctx->arena, d, p, "state");
	}
	return found;
}

static const char *strangers_text(struct rule_context *ctx, struct strangers *found)
{
	const char *management = arena_listed(&found->management);
	const char *others = arena_listed(&found->others);

	return text_printf(ctx, "%s%s%s%s%s", management ? management : "",
			   management ? " (management functions)" : "",
			   management && others ? " and " : "", others ? others : "",
			   others ? " (not of the kind next to the GPUs)" : "");
}

/* UCX uses the near ones of the others, so that these alone are a note. Pods of a Kubernetes node have their own
 * variables. */
static bool is_grave(struct rule_context *ctx, struct strangers *found)
{
	bool elsewhere = node_is(ctx->node, KIND_KUBERNETES) && !is_known(ctx->node->env.pid);

	return arena_listed(&found->management) && node_software(ctx->node, "nixl") && !elsewhere;
}

static void fail_strangers(struct rule_context *ctx, struct strangers *found)
{
	const char *list = job_nic_example(ctx->arena, ctx->node, ctx->endpoints,
					   "UCX_NET_DEVICES");

	FAIL_AS(ctx, is_grave(ctx, found) ? SEVERITY_WARN : SEVERITY_INFO,
		.subject = "UCX_NET_DEVICES",
		.observed = text_printf(
			ctx, "not set in this environment: beside the NICs of jobs UCX takes %s",
			strangers_text(ctx, found)),
		.expected = "the NICs of the jobs' fabric",
		.command = list ? text_printf(ctx, "UCX_NET_DEVICES=%s", list) : NULL,
		.evidence = { "env.variables", found->fact });
}

/* Returns true if nothing on UCX was found. */
static bool skip_without_ucx(struct rule_context *ctx)
{
	if (node_software(ctx->node, "nixl") || node_software(ctx->node, "ucx"))
		return false;
	if (skip_unless_software_whole(ctx))
		return true;
	NOT_APPLICABLE(ctx, .observed = "neither UCX nor NIXL was found",
		       .evidence = { "software.items" });
	return true;
}

static void check_net_devices(struct rule_context *ctx)
{
	struct strangers found;
	struct job_value v;

	if (skip_without_rdma_device(ctx) || skip_without_variables(ctx))
		return;
	v = job_env(ctx->arena, ctx->node, "UCX_NET_DEVICES");
	if (v.value) {
		NOT_APPLICABLE(ctx, .observed = "it is set: env/hca-selection reads it",
			       .evidence = { v.fact });
		return;
	}
	if (skip_without_ucx(ctx))
		return;
	found = find_strangers(ctx);
	if (!ctx->endpoints->complete || found.unread)
		UNKNOWN(ctx, .observed = "which NICs jobs use is not known",
			.evidence = { found.unread ? "rdma.devices" : "pci.devices" });
	else if (found.for_jobs && found.fact)
		fail_strangers(ctx, &found);
	else
		PASS(ctx, .observed = "not set, and every active NIC is for jobs",
		     .evidence = { "env.variables", "rdma.devices" });
}

static const struct rule env_ucx_rules[] = {
	{
		.id = "env/ucx-net-devices",
		.title = "UCX can fail to start: it takes NICs that are not for jobs",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_net_devices,
		.impact =
			"NIXL's backend on UCX can fail to start (NIXL_ERR_BACKEND), or UCX connects over a NIC that is far "
			"from the GPU or leads to another network.",
		.remedy =
			"Set UCX_NET_DEVICES, with the port of each NIC, where the job or its pod gets its environment.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"UCX_NET_DEVICES of the job; the RDMA devices, their ports, and the vital product data of their "
			"functions; UCX and NIXL on disk.",
		.why = "Without UCX_NET_DEVICES UCX takes every active device: also the functions by which fabric manager reaches "
		       "the NVSwitches of an HGX B200, and NICs of BlueField or for storage. With management functions "
		       "among them a NIXL job was reported not to start. Where NIXL is installed this is a warning. Other NICs are a note, "
		       "because UCX prefers the near ones, and so is all of it on a node of Kubernetes, whose pods have "
		       "variables of their own.",
		.check =
			"env | grep UCX_NET_DEVICES; ucx_info -d | grep Device; ibv_devinfo | grep -E 'hca_id|state'",
		.sources =
			"UCX (2026-08-21): src/ucp/core/ucp_context.c, ucp_config_table (NET_DEVICES)\n"
			"github.com/ai-dynamo/dynamo pull 10852 (2026-06-22)",
	},
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
