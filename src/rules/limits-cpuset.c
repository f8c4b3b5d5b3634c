/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits-cpuset.c - the processors that a job may use against the NUMA nodes of its GPUs (rule limits/cpuset-far). */
#include <inttypes.h>

#include "evaluate/skip.h"
#include "parse/cpulist.h"
#include "query/pci-device.h"

/* Nodes of memory alone, as of a coherent GPU, do not count. */
static size_t nodes_with_processors(const struct node *node)
{
	size_t count = 0;

	for_each(n, &node->numa.nodes)
		count += is_known(n->cpus) && *n->cpus.value;
	return count;
}

static const struct numa_node *numa_of(const struct node *node, const struct pci_device *d)
{
	for_each(n, &node->numa.nodes)
		if (is_known(d->numa_node) && known_is(n->id, d->numa_node.value) &&
		    is_known(n->cpus) && *n->cpus.value)
			return n;
	return NULL;
}

/* A container has the device files of its own GPUs. */
static bool is_given(struct rule_context *ctx, const struct gpu *gpu)
{
	const char *path = text_printf(ctx, "/dev/nvidia%" PRIu64, gpu->minor.value);

	return LIST_FIND(&ctx->node->dev.nodes, path);
}

static bool is_in_container(const struct node *node)
{
	return is_known(node->os.container) || is_known(node->env.container);
}

static void check_gpu(struct rule_context *ctx, const struct pci_device *d,
		      const struct numa_node *numa)
{
	const char *place = fact_path(ctx->arena, "pci.devices", d->bdf.value, "numa_node");

	if (cpulist_overlap(span_of(ctx->node->env.cpus.value), span_of(numa->cpus.value)))
		PASS(ctx, .subject = d->bdf.value, .evidence = { "env.cpus", place });
	else
		/* Outside a container this may be the choice of who started the program. */
		FAIL_AS(ctx, is_in_container(ctx->node) ? SEVERITY_WARN : SEVERITY_INFO,
			.subject = d->bdf.value,
			.observed = text_printf(
				ctx,
				"the process may use CPUs %s; the GPU is on NUMA node "
				"%" PRIu64 ", CPUs %s",
				ctx->node->env.cpus.value, numa->id.value, numa->cpus.value),
			.expected = is_in_container(ctx->node) ? "CPUs of the GPU's NUMA node"
							       : NULL,
			.evidence = { "env.cpus", place });
}

static bool skip_unless_known(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *missing = !was_read(node->numa.nodes)    ? "numa.nodes"
			      : !is_known(node->env.cpus)    ? "env.cpus"
			      : !was_read(node->gpu.devices) ? "gpu.devices"
			      : !was_read(node->dev.nodes)   ? "dev.nodes"
							     : NULL;

	if (was_read(node->numa.nodes) && nodes_with_processors(node) < 2) {
		NOT_APPLICABLE(ctx, .observed = "one NUMA node has all CPUs",
			       .evidence = { "numa.nodes" });
		return true;
	}
	if (missing)
		UNKNOWN(ctx, .evidence = { missing });
	return missing;
}

static void check_cpuset(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;
	const char *unread = NULL;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx) || skip_unless_known(ctx))
		return;
	if (node_env(ctx->node, "CUDA_VISIBLE_DEVICES")) {
		NOT_APPLICABLE(ctx, .observed = "CUDA_VISIBLE_DEVICES selects among the GPUs",
			       .evidence = { "env.variables" });
		return;
	}
	for_each(d, &ctx->node->pci.devices) {
		const struct numa_node *numa = numa_of(ctx->node, d);
		const struct gpu *gpu = pci_is_gpu(d) && is_known(d->bdf)
						? LIST_FIND(&ctx->node->gpu.devices, d->bdf.value)
						: NULL;

		if (!numa || !pci_is_gpu(d))
			continue;
		if (!gpu || !is_known(gpu->minor))
			unread = d->bdf.value;
		else if (is_given(ctx, gpu))
			check_gpu(ctx, d, numa);
	}
	if (ctx->findings->count == before && unread)
		UNKNOWN(ctx, .subject = unread,
			.observed = "which device file is this GPU's was not read",
			.evidence = { fact_path(ctx->arena, "gpu.devices", unread, "minor") });
	else if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no GPU of this process has a NUMA node with CPUs",
			       .evidence = { "gpu.devices", "numa.nodes" });
}

static const struct rule limits_cpuset_rules[] = {
	{
		.id = "limits/cpuset-far",
		.title =
			"Copies and launches are slower: the job's CPUs are on another NUMA node than its "
			"GPU",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_cpuset,
		.impact =
			"Threads that feed the GPU, and their memory, are on the other NUMA node: every copy crosses the link "
			"between the sockets.",
		.remedy =
			"Give the job CPUs of the GPU's NUMA node: --cpuset-cpus of the container engine, the kubelet's "
			"topology manager, Cores= in Slurm's gres.conf. Or give it a GPU of its own node.",
		.activation = ACTIVATION_RECREATE,
		.reads =
			"Cpus_allowed_list of the process, the CPUs of each NUMA node, the NUMA nodes of GPUs "
			"whose device file is there, and CUDA_VISIBLE_DEVICES.",
		.why = "NCCL binds its threads to the GPU's CPUs only where the process may use them. A container has the "
		       "CPUs that its engine gives it. Outside a container this is a note, because the program that "
		       "started nvnodecheck may have chosen the CPUs.",
		.check = "grep Cpus_allowed_list /proc/self/status; nvidia-smi topo -m",
		.sources =
			"NCCL 2.27.3: src/graph/topo.cc, ncclTopoGetCpuAffinity()\nproc(5): Cpus_allowed_list",
	},
};

RULE_TABLE(limits_cpuset);
