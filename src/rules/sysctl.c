/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl.c - settings of the running kernel. */
#include "judge/gate.h"
#include "parse/span.h"

/* Documentation/admin-guide/sysctl/kernel.rst, numa_balancing: bit 0 balances, bit 1 moves pages
 * between tiers of memory only. */
#define NUMA_BALANCING_NORMAL 1

static void judge_numa_balancing(struct judge *j)
{
	static const char fact[] = "os.sysctls[kernel.numa_balancing].value";
	const struct sysctl *sysctl = NULL;
	uint64_t value;

	if (gate_no_gpu(j))
		return;
	for_each(s, &j->node->os.sysctls)
		if (str_is(s->name, "kernel.numa_balancing"))
			sysctl = s;
	if (is_told(j->node->numa.nodes) && j->node->numa.nodes.count < 2)
		NOT_APPLICABLE(j, .observed = "one NUMA node", .evidence = { "numa.nodes" });
	else if (!sysctl || is_unknown(sysctl->value))
		UNKNOWN(j, .evidence = { sysctl ? fact : "os.sysctls" });
	else if (is_absent(sysctl->value))
		PASS(j, .observed = "this kernel has no NUMA balancing", .evidence = { fact });
	else if (span_u64(span_of(sysctl->value.value), 10, &value))
		UNKNOWN(j, .observed = say(j, "\"%s\" is not a number", sysctl->value.value),
			.evidence = { fact });
	else if (value & NUMA_BALANCING_NORMAL)
		FAIL(j, .observed = sysctl->value.value, .expected = "0", .evidence = { fact });
	else
		PASS(j, .evidence = { fact });
}

static const struct rule sysctl_rules[] = {
	{
		.id = "sysctl/numa-balancing-enabled",
		.title = "Automatic NUMA balancing is on",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.judge = judge_numa_balancing,
		.impact = "Threads that poll the GPU or the NIC are stopped for up to tens of milliseconds; DeepEP's "
			  "internode dispatch was seen with 16 to 31 ms more.",
		.remedy = "sysctl -w kernel.numa_balancing=0, and the same in a file of /etc/sysctl.d.",
		.fix = "sysctl",
		.activation = ACTIVATION_NOW,
		.reads = "/proc/sys/kernel/numa_balancing, and how many NUMA nodes there are.",
		.why = "The kernel takes page table entries away to learn who uses them. Jobs that are pinned to "
		       "their node gain nothing from it. How much it hurts depends on memory size and on how busy "
		       "the thread is; not everybody could reproduce it, so this is information.",
		.check = "sysctl kernel.numa_balancing",
		.sources = "Linux: Documentation/admin-guide/sysctl/kernel.rst, numa_balancing\n"
			   "github.com/deepseek-ai/DeepEP/issues/624",
	},
};

RULE_TABLE(sysctl);
