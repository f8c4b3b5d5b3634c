/* SPDX-License-Identifier: GPL-2.0-or-later */
/* virt.c - what a virtual machine changes. */
#include "gate.h"

static void judge_hypervisor(struct judge *j)
{
	const struct os_facts *os = &j->node->os;

	if (is_known(os->hypervisor))
		FAIL(j, .observed = say(j, "a virtual machine (%s)", os->hypervisor.value),
		     .expected = "nothing; for your information", .evidence = { "os.hypervisor" });
	else if (is_absent(os->hypervisor))
		PASS(j, .observed = "bare metal", .evidence = { "os.hypervisor" });
	else
		UNKNOWN(j, .evidence = { "os.hypervisor" });
}

static const struct rule virt_rules[] = {
	{
		.id = "virt/hypervisor",
		.title = "This is a virtual machine",
		.profiles = PROFILE_P2P | PROFILE_RDMA,
		.severity = SEVERITY_INFO,
		.judge = judge_hypervisor,
		.impact = "ACS, IOMMU and the distance between GPUs and NICs are the host's and cannot be "
			  "judged from here.",
		.remedy = "Run nvnodecheck on the host as well. In the machine, ATS on the NIC and ACS with "
			  "DirectTrans on the host are what keep peer traffic short.",
		.reads = "The hypervisor flag in /proc/cpuinfo and the DMI strings.",
		.why = "A guest sees the topology that its hypervisor made up.",
		.check = "systemd-detect-virt",
		.sources = "NCCL user guide, troubleshooting, virtual machines",
	},
};

RULE_TABLE(virt);
