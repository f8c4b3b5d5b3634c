/* SPDX-License-Identifier: GPL-2.0-or-later */
/* iommu.c - address translation between devices, judged by each device's group and never by the
 * command line or the log: both say "enabled" where nothing is translated. */
#include <string.h>

#include "judge/bootargs.h"
#include "judge/gate.h"
#include "judge/topology.h"

static bool translates(const struct iommu_device *i)
{
	return str_starts(i->type, "DMA");
}

/* Does the next boot ask for what this one did not? */
static bool is_staged(const struct node *node)
{
	const char *staged = bootargs_staged(node);

	return staged && bootargs_passthrough(staged) && is_known(node->cmdline.running) &&
	       !bootargs_passthrough(node->cmdline.running.value);
}

static void judge_translating(struct judge *j, const struct pci_device *d, const char *type,
			      const char *fact)
{
	if (is_staged(j->node))
		PENDING(j, .subject = d->bdf.value,
			.observed = say(j, "%s: addresses are translated; the next boot asks for passthrough",
					type),
			.expected = "identity (passthrough), or no IOMMU", .remedy = "Reboot.",
			.evidence = { fact, "cmdline.staged.text" });
	else
		FAIL_AS(j, asked_for(j, PROFILE_P2P) ? SEVERITY_ERR : SEVERITY_WARN,
			.subject = d->bdf.value,
			.observed = say(j, "%s: addresses are translated", type),
			.expected = "identity (passthrough), or no IOMMU", .evidence = { fact });
}

/* A Grace superchip's GPU walks the processor's page tables by ATS. pci=noats keeps the kernel from switching
 * it on (drivers/pci/ats.c), in spite of the IOMMU that translates. */
static void judge_ats(struct judge *j, const struct pci_device *d, const char *type_fact)
{
	const char *fact = say_fact(j, "pci.devices", d->bdf.value, "ats_enabled");
	const char *running = is_known(j->node->cmdline.running) ? j->node->cmdline.running.value : NULL;
	bool asked = running && bootargs_find(running, "pci", "noats");

	if (pci_is_gpu(d) && known_is(d->ats_enabled, false))
		FAIL_AS(j, asked ? SEVERITY_WARN : SEVERITY_INFO, .subject = d->bdf.value,
			.observed = asked ? "ATS is off: pci=noats on the kernel command line"
					  : "ATS is off, and pci=noats is not on the kernel command line",
			.expected = "ATS on: on Grace the GPU translates by the processor's page tables",
			.impact = "The GPU does not reach the processor's memory by its own addresses: what relies "
				  "on that (malloc, mmap) is copied or fails.",
			.remedy = asked ? "Remove noats from pci= on the kernel command line, and reboot."
					: "See whether the firmware's IORT table lets the root complex use ATS.",
			.evidence = { fact, "cmdline.running" });
	else
		PASS(j, .subject = d->bdf.value, .observed = "translation is right on Grace",
		     .evidence = { type_fact });
}

static void judge_group(struct judge *j, const struct pci_device *d, const struct iommu_device *i)
{
	const char *fact = say_fact(j, "iommu.devices", d->bdf.value, "type");
	bool grace = node_is_grace(j->node);

	if (!is_known(i->type))
		UNKNOWN(j, .subject = d->bdf.value,
			.observed = is_absent(i->type) ? "this kernel does not show the type of IOMMU groups"
						       : NULL,
			.evidence = { fact });
	else if (grace && translates(i))
		judge_ats(j, d, fact);
	else if (grace && str_is(i->type, "identity"))
		FAIL_AS(j, SEVERITY_WARN, .subject = d->bdf.value, .observed = "identity, on Grace",
			.expected = "translation: DMA or DMA-FQ",
			.remedy = "Remove iommu.passthrough=1 or iommu=pt from the kernel command line.",
			.evidence = { fact });
	else if (translates(i))
		judge_translating(j, d, i->type.value, fact);
	else
		PASS(j, .subject = d->bdf.value, .observed = i->type.value, .evidence = { fact });
}

static void judge_translation(struct judge *j)
{
	size_t before = j->findings->count, free = 0;

	if (gate_no_gpu(j))
		return;
	if (!is_told(j->node->iommu.devices)) {
		UNKNOWN(j, .evidence = { "iommu.devices" });
		return;
	}
	for_each(d, &j->node->pci.devices) {
		const struct iommu_device *i;

		if (!pci_is_gpu(d) && !(asked_for(j, PROFILE_RDMA_ANY) && topology_is_nic(j->node, d)))
			continue;
		i = topology_iommu(j->node, d);
		if (i)
			judge_group(j, d, i);
		else
			free++;
	}
	if (j->findings->count > before)
		return;
	if (node_is_vm(j->node))
		NOT_APPLICABLE(j, .observed = "a virtual machine without an IOMMU of its own: the host's "
					      "decides",
			       .evidence = { "os.hypervisor", "iommu.devices" });
	else if (free)
		PASS(j, .observed = "no GPU or NIC is behind an IOMMU",
		     .evidence = { "iommu.devices", "iommu.units" });
}

/* The driver could not have the IOMMU map a peer's registers; the line names none. */
static void judge_refused_map(struct judge *j)
{
	const struct log_line *line = node_log(j->node, "peer-mmio-map-failed");

	if (line)
		FAIL(j, .observed = line->last.value, .expected = "peers that the IOMMU maps, or passthrough",
		     .evidence = { "log.lines[peer-mmio-map-failed].last",
				   "log.lines[peer-mmio-map-failed].count" });
}

static void judge_faults(struct judge *j)
{
	static const char *const patterns[] = { "io-page-fault", "dmar-fault", "smmu-fault" };
	size_t before = j->findings->count;

	if (gate_no_gpu(j))
		return;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const struct log_line *line = node_log(j->node, patterns[i]);

		for (uint32_t k = 0; line && k < line->devices.count; k++) {
			const struct pci_device *d = node_pci(j->node, line->devices.items[k]);

			if (d && (pci_is_gpu(d) || topology_is_nic(j->node, d)))
				FAIL(j, .subject = d->bdf.value, .observed = line->last.value,
				     .expected = "no faults of a GPU or NIC",
				     .evidence = { say_fact(j, "log.lines", patterns[i], "last") });
		}
	}
	judge_refused_map(j);
	if (j->findings->count == before)
		gate_log_clean(j);
}

/* ---- arguments that do nothing ---- */

struct inert {
	const char *key;
	const char *value;	/* one of the comma-separated values of the key */
	const char *instead;
	bool harmless_with_pt;	/* iommu=pt beside it does what was meant */
};

/* Values that the kernel's parsers know: drivers/pci/pci.c pci_setup(), drivers/iommu/amd/init.c
 * parse_amd_iommu_options(), drivers/iommu/intel/iommu.c intel_iommu_setup(),
 * arch/x86/kernel/pci-dma.c iommu_setup(). These are none of them. */
static const struct inert inert[] = {
	{ "pci", "noacs", "pci=disable_acs_redir=BDF clears redirection; no argument is called noacs",
	  false },
	{ "amd_iommu", "on", "the AMD IOMMU is on by default; iommu=pt sets passthrough", true },
	{ "amd_iommu", "pt", "iommu=pt sets passthrough", true },
	{ "intel_iommu", "pt", "iommu=pt sets passthrough", true },
	{ "iommu", "on", "intel_iommu=on or the default switches it on", true },
};
#define INERT (sizeof(inert) / sizeof(inert[0]))

/* A command line has each of them once, or several times the same. */
static void judge_arguments(struct judge *j, const char *text, const char *fact, bool said[])
{
	bool passthrough = bootargs_passthrough(text);

	for (size_t i = 0; i < INERT; i++) {
		bool harmless = inert[i].harmless_with_pt && passthrough;

		if (said[i] || !bootargs_find(text, inert[i].key, inert[i].value))
			continue;
		said[i] = true;
		FAIL_AS(j, harmless ? SEVERITY_INFO : SEVERITY_WARN,
			.subject = say(j, "%s=%s", inert[i].key, inert[i].value),
			.observed = say(j, "the kernel knows no such value%s",
					harmless ? "; iommu=pt beside it does what was meant" : ""),
			.expected = inert[i].instead, .evidence = { fact });
	}
}

static void judge_inert(struct judge *j)
{
	const struct cmdline_facts *cmdline = &j->node->cmdline;
	size_t before = j->findings->count;
	bool said[INERT] = { false };

	if (!is_told(cmdline->running)) {
		UNKNOWN(j, .evidence = { "cmdline.running" });
		return;
	}
	judge_arguments(j, cmdline->running.value, "cmdline.running", said);
	if (is_known(cmdline->staged.text))
		judge_arguments(j, cmdline->staged.text.value, "cmdline.staged.text", said);
	if (j->findings->count == before)
		PASS(j, .evidence = { "cmdline.running" });
}

static const struct rule iommu_rules[] = {
	{
		.id = "iommu/translation-enabled",
		.title = "The IOMMU translates the addresses of GPUs or NICs",
		.profiles = PROFILE_P2P | PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.judge = judge_translation,
		.impact = "Peer copies over PCIe fail, or deliver zeros without an error with the patched "
			  "drivers; GPUDirect RDMA is slow or fails.",
		.remedy = "Add iommu=pt to the kernel command line (it keeps the IOMMU on, which more than 255 "
			  "CPUs need) and reboot.",
		.fix = "cmdline",
		.activation = ACTIVATION_REBOOT,
		.reads = "/sys/kernel/iommu_groups/*/type of every GPU and NIC; on Grace also the ATS control of the "
			 "GPUs.",
		.why = "A type of DMA or DMA-FQ is translation, identity is passthrough, no group is no IOMMU. "
		       "The stock driver maps peers through the IOMMU, so GPUDirect RDMA can work in spite of "
		       "it; copies between GPUs are unsupported on bare metal. On Grace it is the other way "
		       "round: translation is wanted, and ATS, by which the GPU uses it.",
		.check = "for d in /sys/bus/pci/devices/*/iommu_group/type; do echo $d $(cat $d); done",
		.cost = "With passthrough a faulty device can write anywhere in memory.",
		.sources = "Linux: Documentation/ABI/testing/sysfs-kernel-iommu_groups\n"
			   "GPUDirect Storage installation guide; NIM documentation, IOMMU\n"
			   "Linux: drivers/pci/ats.c, drivers/iommu/arm/arm-smmu-v3/arm-smmu-v3.c\n"
			   "github.com/tinygrad/open-gpu-kernel-modules issue 18",
	},
	{
		.id = "iommu/faults-logged",
		.title = "The IOMMU stopped accesses of a GPU or NIC",
		.profiles = PROFILE_P2P | PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.judge = judge_faults,
		.impact = "The transfers failed, or read zeros.",
		.remedy = "See iommu/translation-enabled. With passthrough in place, look for a driver that "
			  "is patched or of the wrong version.",
		.activation = ACTIVATION_REBOOT,
		.reads = "IO_PAGE_FAULT (AMD), DMAR fault (Intel) and SMMU event (Arm) lines of the kernel log that "
			 "name a GPU or NIC, and \"Failed to DMA map MMIO range\" of the NVIDIA driver.",
		.why = "It is what peer copies look like when addresses are translated and nobody mapped the "
		       "peer.",
		.check = "dmesg | grep -E 'IO_PAGE_FAULT|DMAR:.*fault'",
		.sources = "Linux: drivers/iommu/amd/iommu.c, drivers/iommu/intel/dmar.c\n"
			   "open-gpu-kernel-modules: kernel-open/nvidia/nv-dma.c",
	},
	{
		.id = "iommu/inert-argument",
		.title = "A kernel argument does nothing",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.judge = judge_inert,
		.impact = "What somebody meant to switch is not switched.",
		.remedy = "Remove it, and use what works.",
		.fix = "cmdline",
		.activation = ACTIVATION_REBOOT,
		.reads = "The running kernel's command line, and that of the next boot.",
		.why = "Recipes copy pci=noacs, amd_iommu=on and the like; the kernel ignores them, at best with "
		       "a line in the log (AMD-Vi: Unknown option - 'on').",
		.check = "cat /proc/cmdline; dmesg | grep 'Unknown option'",
		.sources = "Linux: drivers/pci/pci.c, drivers/iommu/amd/init.c, drivers/iommu/intel/iommu.c, "
			   "arch/x86/kernel/pci-dma.c\n"
			   "github.com/NVIDIA/nccl issue 2079",
	},
};

RULE_TABLE(iommu);
