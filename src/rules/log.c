/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log.c - lines of the kernel log that name their cause. */
#include "gate.h"

static void judge_allow_peermapping(struct judge *j)
{
	const struct log_facts *log = &j->node->log;
	const struct log_line *line = node_log(j->node, "allow-peermapping");

	if (gate_no_driver(j))
		return;
	if (line)
		FAIL(j, .observed = line->last.value,
		     .expected = "PeerMappingOverride=1: see driver/peer-mapping-override",
		     .evidence = { "log.lines[allow-peermapping].last",
				   "driver.params[RegistryDwords].value" });
	else if (!is_told(log->lines))
		UNKNOWN(j, .evidence = { "log.lines" });
	else if (!known_is(log->complete, true))
		UNKNOWN(j, .observed = "the kernel log does not reach back to the boot",
			.evidence = { "log.complete" });
	else
		PASS(j, .evidence = { "log.lines" });
}

static const struct rule log_rules[] = {
	{
		.id = "log/allow-peermapping-denied",
		.title = "The driver refused to map a NIC's doorbell for the GPU",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_ERR,
		.judge = judge_allow_peermapping,
		.impact = "A job without CAP_SYS_ADMIN tried GPU-initiated networking and was turned away.",
		.remedy = "See driver/peer-mapping-override.",
		.fix = "modprobe-option",
		.activation = ACTIVATION_REBOOT,
		.reads = "\"permission denied, allowPeermapping=0\" in the kernel log.",
		.why = "It is the line that the open driver prints for exactly this, and nothing else. Whether "
		       "the proprietary modules print it is not known.",
		.check = "dmesg | grep allowPeermapping",
		.sources = "open-gpu-kernel-modules: src/nvidia/arch/nvalloc/unix/src/osmemdesc.c",
	},
};

RULE_TABLE(log);
