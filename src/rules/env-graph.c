/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-graph.c - whether nccl.conf gives all jobs one graph (rule env/nccl-graph-for-all). */
#include "evaluate/references.h"
#include "evaluate/skip.h"

#define VARIABLE "NCCL_GRAPH_FILE"

/* NULL: no configuration file of NCCL's sets it. */
static const struct reference *graph_of_file(const struct node *node)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_ENVIRONMENT, NULL, r)))
		if (str_is(r->role, VARIABLE) && is_known(r->file) &&
		    span_ends(span_of(r->file.value), "nccl.conf"))
			return r;
	return NULL;
}

/* With one GPU no job uses only some. */
static bool is_single(const struct node *node)
{
	size_t gpus = 0;

	for_each(d, &node->pci.devices)
		gpus += pci_is_gpu(d);
	return gpus == 1;
}

static void check_graph(struct rule_context *ctx)
{
	const struct reference *r = graph_of_file(ctx->node);

	if (skip_without_gpu(ctx) || skip_without_nccl_variables(ctx))
		return;
	if (!was_read(ctx->node->references.items))
		UNKNOWN(ctx, .evidence = { "references.items" });
	else if (!r || reference_state(r) == REFERENCE_MISSING)
		PASS(ctx, .evidence = { "env.nccl_conf", "references.items" });
	else if (is_single(ctx->node))
		PASS(ctx, .subject = r->file.value, .observed = "this node has one GPU",
		     .evidence = { reference_fact(ctx->arena, ctx->node, r, "name"),
				   "pci.devices" });
	else
		FAIL(ctx, .subject = r->file.value,
		     .observed = text_printf(ctx, "%s sets %s=%s for all jobs",
					     reference_place(ctx->arena, r), VARIABLE,
					     r->name.value),
		     .expected = VARIABLE " not set for all jobs",
		     .evidence = { reference_fact(ctx->arena, ctx->node, r, "name") });
}

static const struct rule env_graph_rules[] = {
	{
		.id = "env/nccl-graph-for-all",
		.title =
			"NCCL fails in jobs that use only some of the GPUs: nccl.conf sets NCCL_GRAPH_FILE",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_graph,
		.impact =
			"A job that lacks one of the graph's GPUs does not start: \"XML Import Channel : dev 1 not found\".",
		.remedy =
			"Remove NCCL_GRAPH_FILE from nccl.conf. Set it only in jobs that use exactly the graph's GPUs.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"NCCL_GRAPH_FILE in NCCL's configuration files, and whether the file exists.",
		.why = "A graph names each GPU of a job. Images of cloud providers set it for jobs with all GPUs of the machine.",
		.check = "grep NCCL_GRAPH_FILE /etc/nccl.conf",
		.sources =
			"github.com/NVIDIA/nccl issues 1008 (2023-09-21) and 1240 (2024-04-02): comments on NCCL_GRAPH_FILE\n"
			"github.com/Azure/azhpc-images issue 327",
	},
};

RULE_TABLE(env_graph);
