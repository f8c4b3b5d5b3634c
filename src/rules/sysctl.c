/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl.c - settings of the running kernel. */
#include <inttypes.h>

#include "base/span.h"
#include "evaluate/skip.h"

/* Documentation/admin-guide/sysctl/kernel.rst, numa_balancing: bit 0 balances, bit 1 moves pages
 * between tiers of memory only. */
#define NUMA_BALANCING_NORMAL 1

static const struct sysctl *find_sysctl(const struct node *node, const char *name)
{
	for_each(s, &node->os.sysctls)
		if (str_is(s->name, name))
			return s;
	return NULL;
}

static void check_numa_balancing(struct rule_context *ctx)
{
	static const char fact[] = "os.sysctls[kernel.numa_balancing].value";
	const struct sysctl *sysctl = find_sysctl(ctx->node, "kernel.numa_balancing");
	uint64_t value;

	if (skip_without_gpu(ctx))
		return;
	if (was_read(ctx->node->numa.nodes) && ctx->node->numa.nodes.count < 2)
		NOT_APPLICABLE(ctx, .observed = "one NUMA node", .evidence = { "numa.nodes" });
	else if (!was_read(ctx->node->numa.nodes))
		UNKNOWN(ctx, .evidence = { "numa.nodes" });
	else if (!sysctl || is_unknown(sysctl->value))
		UNKNOWN(ctx, .evidence = { sysctl ? fact : "os.sysctls" });
	else if (is_absent(sysctl->value))
		PASS(ctx, .observed = "this kernel has no NUMA balancing", .evidence = { fact });
	else if (span_u64(span_of(sysctl->value.value), 10, &value))
		UNKNOWN(ctx,
			.observed = text_printf(ctx, "\"%s\" is not a number", sysctl->value.value),
			.evidence = { fact });
	else if (value & NUMA_BALANCING_NORMAL)
		FAIL(ctx, .observed = sysctl->value.value, .expected = "0", .evidence = { fact });
	else
		PASS(ctx, .evidence = { fact });
}

/* ---- sysctl/ptrace-scope ---- */

#define CAP_SYS_PTRACE_BIT 19 /* include/uapi/linux/capability.h */
/* Documentation/admin-guide/LSM/Yama.rst: 1 descendants, 2 CAP_SYS_PTRACE alone, 3 nobody. */
#define PTRACE_SCOPE_NOBODY 3

static bool may_trace(const struct node *node)
{
	return is_known(node->env.capabilities) &&
	       (node->env.capabilities.value >> CAP_SYS_PTRACE_BIT & 1);
}

static void check_scope(struct rule_context *ctx, uint64_t scope, const char *fact)
{
	const struct node *node = ctx->node;

	if (!scope && is_known(node->os.container) && !may_trace(node))
		UNKNOWN(ctx,
			.observed = "a container's seccomp filter can forbid it; that is not read",
			.evidence = { "os.container", "env.capabilities" });
	else if (!scope)
		PASS(ctx, .evidence = { fact });
	else if (scope >= PTRACE_SCOPE_NOBODY)
		FAIL(ctx,
		     .observed = text_printf(ctx, "%" PRIu64 ": for nobody, until the next boot",
					     scope),
		     .expected = "0, or 1 with CAP_SYS_PTRACE", .evidence = { fact });
	else if (may_trace(node))
		PASS(ctx, .observed = "this process has CAP_SYS_PTRACE",
		     .evidence = { "env.capabilities", fact });
	else if (!is_known(node->env.capabilities))
		UNKNOWN(ctx, .evidence = { "env.capabilities", fact });
	else
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "%" PRIu64 ", and this process has no CAP_SYS_PTRACE", scope),
		     .expected = "0, or CAP_SYS_PTRACE", .evidence = { fact, "env.capabilities" });
}

static void check_ptrace(struct rule_context *ctx)
{
	static const char fact[] = "os.sysctls[kernel.yama.ptrace_scope].value";
	const struct sysctl *sysctl = find_sysctl(ctx->node, "kernel.yama.ptrace_scope");
	uint64_t scope = 0;

	if (skip_without_gpu(ctx))
		return;
	if (!sysctl || is_unknown(sysctl->value))
		UNKNOWN(ctx, .evidence = { sysctl ? fact : "os.sysctls" });
	else if (is_known(sysctl->value) && span_u64(span_of(sysctl->value.value), 10, &scope))
		UNKNOWN(ctx,
			.observed = text_printf(ctx, "\"%s\" is not a number", sysctl->value.value),
			.evidence = { fact });
	else
		check_scope(ctx, scope, fact);
}

static const struct rule sysctl_rules[] = {
	{
		.id = "sysctl/numa-balancing-enabled",
		.title = "Automatic NUMA balancing is on",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.evaluate = check_numa_balancing,
		.impact =
			"Threads that poll the GPU or the NIC are stopped for up to tens of milliseconds; DeepEP's "
			"internode dispatch was seen with 16 to 31 ms more.",
		.remedy =
			"sysctl -w kernel.numa_balancing=0, and the same in a file of /etc/sysctl.d.",
		.fix = { "set-sysctl", { "kernel.numa_balancing", "0" } },
		.activation = ACTIVATION_NOW,
		.reads = "/proc/sys/kernel/numa_balancing, and how many NUMA nodes there are.",
		.why = "The kernel takes page table entries away to learn who uses them. Jobs that are pinned to "
		       "their node gain nothing from it. How much it hurts depends on memory size and on how busy "
		       "the thread is; not everybody could reproduce it, so this is information.",
		.check = "sysctl kernel.numa_balancing",
		.sources = "Linux: Documentation/admin-guide/sysctl/kernel.rst, numa_balancing\n"
			   "github.com/deepseek-ai/DeepEP/issues/624",
	},
	{
		.id = "sysctl/ptrace-scope",
		.title = "Processes may not take GPU memory's file descriptors from each other",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_INFO,
		.evaluate = check_ptrace,
		.impact =
			"\"pidfd_getfd: Operation not permitted\": of PyTorch with expandable_segments where a "
			"tensor goes to another process (verl, ROLL), of FlashInfer's all-to-all on x86, and of "
			"DeepEP 2 where its buffer takes host memory, too.",
		.remedy =
			"--cap-add=SYS_PTRACE for the container (securityContext.capabilities.add: [SYS_PTRACE]); or "
			"expandable_segments:False; or sysctl -w kernel.yama.ptrace_scope=0.",
		.activation = ACTIVATION_NOW,
		.reads =
			"/proc/sys/kernel/yama/ptrace_scope; the capabilities of the process asked about.",
		.why = "Memory that is shared by file descriptor is fetched with pidfd_getfd(2), which asks for what a "
		       "debugger needs; Yama refuses it between processes of which none started the other. CUDA's "
		       "older IPC handles do without, and NCCL and NVSHMEM send descriptors over sockets: where "
		       "jobs start, this says nothing new. 1 is Ubuntu's own setting.",
		.check = "sysctl kernel.yama.ptrace_scope; grep CapEff /proc/self/status",
		.cost = "With 0 each process can read the memory of all others of its user.",
		.sources =
			"Linux: Documentation/admin-guide/LSM/Yama.rst; pidfd_getfd(2)\n"
			"DeepEP: csrc/kernels/backend/symmetric.hpp\n"
			"github.com/verl-project/verl/issues/2846, github.com/flashinfer-ai/flashinfer/issues/2394",
	},
};

RULE_TABLE(sysctl);
