/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software.c - user space that has to fit the node. */
#include "gate.h"
#include "parse/nvidia.h"

#define NVSHMEM_FLOOR "3.3.9"		/* DeepEP from 1.2 on, docs/nvshmem.md */
#define NVSHMEM_FALLBACK "3.4.5"	/* falls back to a CPU proxy without saying so */

static void judge_nvshmem(struct judge *j)
{
	const struct software_item *item = node_software(j->node, "nvshmem");
	const char *fact;

	if (!item) {
		if (!gate_no_software(j))
			NOT_APPLICABLE(j, .observed = "no NVSHMEM was found on this node",
				       .evidence = { "software.items" });
		return;
	}
	fact = say(j, "software.items[%s].version", item->path.value);
	if (version_compare(item->version.value, NVSHMEM_FLOOR) < 0)
		FAIL(j, .observed = say(j, "NVSHMEM %s", item->version.value),
		     .expected = NVSHMEM_FLOOR " or later", .evidence = { fact });
	else if (version_compare(item->version.value, NVSHMEM_FALLBACK) >= 0)
		PASS(j, .observed = say(j, "NVSHMEM %s: without the doorbell mapping it falls back to a CPU "
					   "proxy and says so only with NVSHMEM_DEBUG=INFO",
					item->version.value),
		     .evidence = { fact });
	else
		PASS(j, .observed = say(j, "NVSHMEM %s: without the doorbell mapping it does not start",
					item->version.value),
		     .evidence = { fact });
}

static const struct rule software_rules[] = {
	{
		.id = "software/nvshmem-version",
		.title = "NVSHMEM is older than DeepEP needs",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.judge = judge_nvshmem,
		.impact = "DeepEP 1.2 and later do not build or run with it.",
		.remedy = "Install NVSHMEM " NVSHMEM_FLOOR " or later.",
		.activation = ACTIVATION_NOW,
		.reads = "NVSHMEM's header, library name or package metadata in the usual places and in those "
			 "that the environment names. The newest one found counts.",
		.why = "From 3.3.9 on DeepEP needs no patched NVSHMEM. What happens without the doorbell "
		       "mapping depends on the version: up to 3.4.4 IBGDA does not start, from 3.4.5 on it "
		       "falls back to a CPU proxy, on which DeepEP's kernels hang.",
		.check = "python3 -m pip show nvidia-nvshmem-cu12; nvshmem-info -v",
		.sources = "github.com/deepseek-ai/DeepEP docs/nvshmem.md\nNVSHMEM release notes 3.4.5",
	},
};

RULE_TABLE(software);
