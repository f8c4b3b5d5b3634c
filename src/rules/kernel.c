/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel.c - how the running kernel was built. */
#include <string.h>

#include "judge/gate.h"

static const struct kernel_option *option(const struct node *node, const char *name)
{
	for_each(o, &node->os.kernel_config)
		if (str_is(o->name, name))
			return o;
	return NULL;
}

/* True when the rule has answered: no GPU, no RDMA device, no configuration to read. */
static bool gate_no_config(struct judge *j)
{
	if (gate_no_gpu(j) || gate_no_rdma(j))
		return true;
	if (is_known(j->node->os.kernel_config))
		return false;
	UNKNOWN(j, .observed = is_absent(j->node->os.kernel_config)
				       ? "no configuration of this kernel in /boot, /lib/modules or /proc"
				       : NULL,
		.evidence = { "os.kernel_config" });
	return true;
}

static const char *fact_of(struct judge *j, const char *name)
{
	return say_fact(j, "os.kernel_config", name, "value");
}

/* y or m; one that the list lacks was not looked for. */
static enum fact_state is_built(const struct node *node, const char *name)
{
	const struct kernel_option *o = option(node, name);

	return o ? o->value.state : FACT_UNKNOWN;
}

static void judge_p2pdma(struct judge *j)
{
	static const char name[] = "CONFIG_PCI_P2PDMA";
	const struct node *node = j->node;
	enum fact_state built;

	if (gate_no_config(j))
		return;
	built = is_built(node, name);
	if (known_is(node->driver.flavour, FLAVOUR_PROPRIETARY))
		NOT_APPLICABLE(j, .observed = "the proprietary modules export no DMA-BUF",
			       .evidence = { "driver.flavour" });
	else if (built == FACT_KNOWN)
		PASS(j, .evidence = { fact_of(j, name) });
	else if (built == FACT_UNKNOWN)
		UNKNOWN(j, .evidence = { fact_of(j, name) });
	else if (node_software(node, "ofed") || node_module(node, "nvidia_peermem"))
		FAIL_AS(j, SEVERITY_INFO, .observed = "not set; there is another path to GPU memory",
			.expected = "CONFIG_PCI_P2PDMA=y",
			.evidence = { fact_of(j, name), "modules.loaded[nvidia_peermem].state" });
	else
		FAIL(j, .observed = "not set", .expected = "CONFIG_PCI_P2PDMA=y",
		     .evidence = { fact_of(j, name) });
}

struct needed {
	const char *name;
	const char *module;	/* loaded: it came from elsewhere */
	const char *what;
};

static void judge_rdma_options(struct judge *j)
{
	static const struct needed needed[] = {
		{ "CONFIG_DMA_SHARED_BUFFER", NULL, "no DMA-BUF: GPU memory cannot be exported" },
		{ "CONFIG_INFINIBAND_USER_ACCESS", "ib_uverbs",
		  "no verbs for programs: NCCL and UCX see no RDMA device" },
	};

	if (gate_no_config(j))
		return;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		const struct needed *n = &needed[i];
		enum fact_state built = is_built(j->node, n->name);
		const char *fact = fact_of(j, n->name);

		if (built == FACT_KNOWN)
			PASS(j, .subject = n->name, .evidence = { fact });
		else if (n->module && node_module(j->node, n->module))
			PASS(j, .subject = n->name, .observed = say(j, "%s is loaded all the same", n->module),
			     .evidence = { say_fact(j, "modules.loaded", n->module, "state") });
		else if (built == FACT_UNKNOWN)
			UNKNOWN(j, .subject = n->name, .evidence = { fact });
		else
			FAIL(j, .subject = n->name, .observed = say(j, "not set: %s", n->what),
			     .expected = say(j, "%s=y or m", n->name), .evidence = { fact });
	}
}

#define CONFIG_READS "/boot/config-RELEASE, /lib/modules/RELEASE/config or /proc/config.gz."

static const struct rule kernel_rules[] = {
	{
		.id = "kernel/config-p2pdma-missing",
		.title = "The kernel was built without PCI peer-to-peer DMA",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.judge = judge_p2pdma,
		.impact = "Registering GPU memory with a NIC by DMA-BUF fails, and NCCL copies through the host.",
		.remedy = "Boot a kernel with CONFIG_PCI_P2PDMA=y (and ZONE_DEVICE, which it needs), or load "
			  "nvidia-peermem where the RDMA stack offers peer memory.",
		.activation = ACTIVATION_REBOOT,
		.reads = CONFIG_READS " The flavour of the driver, nvidia_peermem and OFED.",
		.why = "Distribution kernels have it; small ones made for containers or appliances did not always. "
		       "That it is needed is known from a report, not from the driver's documentation, so this is a "
		       "warning, and information where peer memory is the other way.",
		.check = "grep PCI_P2PDMA /boot/config-$(uname -r)",
		.sources = "Linux: drivers/pci/Kconfig, PCI_P2PDMA\ngithub.com/siderolabs/pkgs/pull/1356",
	},
	{
		.id = "kernel/config-rdma-missing",
		.title = "The kernel was built without something that GPUDirect RDMA needs",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.judge = judge_rdma_options,
		.impact = "No DMA-BUF, or no verbs for programs: no GPUDirect RDMA.",
		.remedy = "Boot a kernel with the option, or install the RDMA stack of OFED or DOCA.",
		.activation = ACTIVATION_REBOOT,
		.reads = CONFIG_READS " The loaded modules: OFED brings ib_uverbs along.",
		.why = "Kernels that were built for one purpose leave out what that purpose did not need.",
		.check = "grep -E 'DMA_SHARED_BUFFER|INFINIBAND_USER_ACCESS' /boot/config-$(uname -r)",
		.sources = "open-gpu-kernel-modules: kernel-open/nvidia/nv-dmabuf.c\n"
			   "Linux: drivers/infiniband/Kconfig, INFINIBAND_USER_ACCESS",
	},
};

RULE_TABLE(kernel);
