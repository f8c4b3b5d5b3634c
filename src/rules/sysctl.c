/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl.c - settings of the running kernel. */
#include <inttypes.h>

#include "base/span.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/topology.h"

/* Documentation/admin-guide/sysctl/kernel.rst, numa_balancing: bit 0 balances, bit 1 moves pages
 * between tiers of memory only. */
#define NUMA_BALANCING_NORMAL 1

/* DeepEP's kernels wait for each other and for the NICs: one stop holds all ranks. */
static void fail_balancing(struct rule_context *ctx, const char *fact)
{
	bool deepep = is_asked_for(ctx, PROFILE_DEEPEP);

	FAIL(ctx,
	     .observed = deepep ? "automatic NUMA balancing is on, and DeepEP's calls can "
				  "stop for 16 ms and more"
				: "1",
	     .expected = "0", .is_advice = deepep, .remedy = deepep ? ctx->rule->remedy : NULL,
	     .evidence = { fact });
}

static void check_numa_balancing(struct rule_context *ctx)
{
	static const char fact[] = "os.sysctls[kernel.numa_balancing].value";
	const struct sysctl *sysctl = LIST_FIND(&ctx->node->os.sysctls, "kernel.numa_balancing");
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
		fail_balancing(ctx, fact);
	else
		PASS(ctx, .evidence = { fact });
}

/* ---- sysctl/ptrace-scope ---- */

#define CAP_SYS_PTRACE_BIT 19 /* include/uapi/linux/capability.h */
/* Documentation/admin-guide/LSM/Yama.rst: 1 descendants, 2 only with CAP_SYS_PTRACE, 3 no process. */
#define PTRACE_SCOPE_NONE 3

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
			.observed =
				"a container's seccomp filter can forbid it; the filter was not read",
			.evidence = { "os.container", "env.capabilities" });
	else if (!scope)
		PASS(ctx, .evidence = { fact });
	else if (scope >= PTRACE_SCOPE_NONE)
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "%" PRIu64 ": no process may trace another, until the next boot",
			     scope),
		     .expected = "0, or 1 with CAP_SYS_PTRACE",
		     .remedy =
			     "Remove the line of /etc/sysctl.d that sets kernel.yama.ptrace_scope=3: the running "
			     "kernel keeps the setting.",
		     .then = THEN_REBOOT, .activation = ACTIVATION_REBOOT, .evidence = { fact });
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

/* UCX 1.6 asks for the permission itself (prctl(PR_SET_PTRACER), uct/sm/cma/cma_md.c); before, its copies fail. */
#define UCX_ASKS "1.6"

/* Returns a UCX whose copies between processes of one node (process_vm_readv(2)) fail, or NULL. */
static const struct software_item *old_ucx(const struct node *node)
{
	const struct software_item *ucx = node_software(node, "ucx");

	return ucx && is_known(ucx->version) && version_compare(ucx->version.value, UCX_ASKS) < 0
		       ? ucx
		       : NULL;
}

/* Root on the host may, and its jobs are of other users. */
static bool jobs_may_trace(const struct node *node)
{
	return may_trace(node) && (is_known(node->os.container) || !known_is(node->env.uid, 0));
}

static void check_copies(struct rule_context *ctx, uint64_t scope, const char *fact)
{
	const struct software_item *ucx = old_ucx(ctx->node);
	bool traces = scope < PTRACE_SCOPE_NONE && jobs_may_trace(ctx->node);
	bool efa = known_is(kind_find(ctx->node, KIND_EFA, ctx->arena).is, true);

	if (!was_read(ctx->node->software.items) && !is_asked_for(ctx, PROFILE_DEEPEP))
		UNKNOWN(ctx, .evidence = { "software.items" });
	else if (scope && ucx && !is_known(ctx->node->env.capabilities))
		UNKNOWN(ctx, .subject = "UCX", .evidence = { "env.capabilities", fact });
	else if (scope && !traces && ucx)
		FAIL_AS(ctx, SEVERITY_WARN, .subject = "UCX",
			.observed = text_printf(
				ctx, "%" PRIu64 ", and UCX %s does not ask for the permission",
				scope, ucx->version.value),
			.expected = "0, or UCX " UCX_ASKS " or later",
			.impact =
				"Jobs of UCX fail within a node: \"process_vm_readv delivered 0 instead of ..., "
				"error message Operation not permitted\".",
			.remedy =
				"Set kernel.yama.ptrace_scope=0 in a file of /etc/sysctl.d, or update UCX.",
			.evidence = { fact, software_version_fact(ctx->arena, ucx) });
	else if (scope && !traces && efa)
		NOTE(ctx, .subject = "EFA",
		     .observed = text_printf(
			     ctx,
			     "%" PRIu64
			     ": libfabric's EFA provider does not copy within the node directly "
			     "(\"SHM transfer will be disabled because of ptrace protection\")",
			     scope),
		     .evidence = { fact });
	else if (is_asked_for(ctx, PROFILE_DEEPEP))
		return;
	else if (ucx || efa)
		PASS(ctx, .evidence = { fact });
	else if (scope && !node_software(ctx->node, "ucx") && topology_gpus(ctx->node) > 1)
		NOTE(ctx,
		     .observed = text_printf(
			     ctx,
			     "%" PRIu64
			     ": no UCX was found here. Jobs that bring UCX before " UCX_ASKS
			     ", or another program that copies from process to process (CMA), fail "
			     "within the node",
			     scope),
		     .evidence = { fact, "software.items" });
	else
		NOT_APPLICABLE(
			ctx,
			.observed = "nothing that needs it was found (DeepEP: --profile deepep)",
			.evidence = { "software.items" });
}

static void check_ptrace(struct rule_context *ctx)
{
	static const char fact[] = "os.sysctls[kernel.yama.ptrace_scope].value";
	const struct sysctl *sysctl = LIST_FIND(&ctx->node->os.sysctls, "kernel.yama.ptrace_scope");
	uint64_t scope = 0;

	if (skip_without_gpu(ctx))
		return;
	if (!sysctl || is_unknown(sysctl->value))
		UNKNOWN(ctx, .evidence = { sysctl ? fact : "os.sysctls" });
	else if (is_known(sysctl->value) && span_u64(span_of(sysctl->value.value), 10, &scope))
		UNKNOWN(ctx,
			.observed = text_printf(ctx, "\"%s\" is not a number", sysctl->value.value),
			.evidence = { fact });
	else {
		check_copies(ctx, scope, fact);
		if (is_asked_for(ctx, PROFILE_DEEPEP))
			check_scope(ctx, scope, fact);
	}
}

static const struct rule sysctl_rules[] = {
	{
		.id = "sysctl/numa-balancing-enabled",
		.title = "Jobs can stall for milliseconds: automatic NUMA balancing is on",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.evaluate = check_numa_balancing,
		.impact =
			"Threads that poll the GPU or the NIC can stop for tens of milliseconds. One report measured stops of up "
			"to 31 ms, and expects DeepEP's internode dispatch to be 16 ms and more slower.",
		.remedy = "Set kernel.numa_balancing=0, and the same in a file of /etc/sysctl.d.",
		.fix = { "set-sysctl", { "kernel.numa_balancing", "0" } },
		.activation = ACTIVATION_NOW,
		.reads = "/proc/sys/kernel/numa_balancing, and the number of NUMA nodes.",
		.why = "The kernel removes page table entries to learn which node uses the pages. Jobs that are pinned to their "
		       "node gain nothing by it. The effect depends on memory size and load, and not all users could reproduce "
		       "it, so this is a note. For DeepEP it comes before other notes.",
		.check = "sysctl kernel.numa_balancing",
		.sources =
			"Linux 6.1.192: Documentation/admin-guide/sysctl/kernel.rst, numa_balancing\n"
			"github.com/deepseek-ai/DeepEP issue 624",
	},
	{
		.id = "sysctl/ptrace-scope",
		.title =
			"A process may not reach the memory or file descriptors of another of its job: kernel.yama.ptrace_scope is set",
		.profiles = PROFILE_BASE | PROFILE_DEEPEP,
		.severity = SEVERITY_INFO,
		.max_severity = SEVERITY_WARN,
		.evaluate = check_ptrace,
		.impact =
			"\"pidfd_getfd: Operation not permitted\" from PyTorch with expandable_segments where tensors go to another "
			"process and from FlashInfer's all-to-all on x86, \"`pidfd_getfd` failed\" from DeepEP 2 in hybrid mode with "
			"host memory in its buffer.",
		.remedy =
			"Give the container the capability SYS_PTRACE, or on the host set kernel.yama.ptrace_scope=0.",
		.activation = ACTIVATION_NOW,
		.reads =
			"/proc/sys/kernel/yama/ptrace_scope, the capabilities of the process that was asked about, the version of "
			"UCX, and whether this is a node with EFA.",
		.why = "pidfd_getfd(2) needs the permission of a debugger. Yama refuses it between processes of which neither "
		       "started the other. CUDA's older IPC handles, NCCL and NVSHMEM do not use it. 1 is Ubuntu's default. "
		       "process_vm_readv(2) needs the same permission: UCX before 1.6 fails without it, later ones ask the other "
		       "process for it, and libfabric's EFA provider switches shared memory off.",
		.check = "sysctl kernel.yama.ptrace_scope; grep CapEff /proc/self/status",
		.cost = "With 0 each process can read the memory of all other processes of its user.",
		.is_risk = true,
		.sources =
			"Linux 6.1.192: Documentation/admin-guide/LSM/Yama.rst\nman-pages 6.03: pidfd_getfd(2)\n"
			"DeepEP dd758ca (2026-07-14): csrc/kernels/backend/symmetric.hpp\n"
			"github.com/alibaba/ROLL issue 417 (2026-04), github.com/flashinfer-ai/flashinfer issue 2394 (2026-01)\n"
			"github.com/openucx/ucx issues 3046, 3545 (2019-05), pull 3205; github.com/aws/aws-ofi-nccl issue 44 (SHM transfer)",
	},
};

RULE_TABLE(sysctl);
