/* SPDX-License-Identifier: GPL-2.0-or-later */
/* iommu.c - address translation between devices, by the type of each device's group. The command line and the log
 * do not count: both say "enabled" where nothing is translated. */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/bootargs.h"
#include "query/distribution.h"
#include "query/kind.h"
#include "query/pci-device.h"
#include "query/peer-support.h"
#include "query/topology.h"

static bool translates(const struct iommu_device *i)
{
	return str_starts(i->type, "DMA");
}

/* Returns true if the next boot asks for something that this one did not. */
static bool is_staged(const struct node *node)
{
	const char *staged = bootargs_staged(node);

	return staged && bootargs_passthrough(staged) && is_known(node->cmdline.running) &&
	       !bootargs_passthrough(node->cmdline.running.value);
}

/* A host that gives GPUs to virtual machines keeps translation for its own isolation. */
static bool skip_on_vfio_host(struct rule_context *ctx, const struct pci_device *d,
			      const char *type, const char *fact)
{
	struct kind_answer host = kind_find(ctx->node, KIND_VFIO_HOST, NULL);

	if (known_is(host.is, false))
		return false;
	if (is_known(host.is))
		NOTE(ctx, .subject = d->bdf.value,
		     .observed =
			     text_printf(ctx,
					 "%s: addresses are translated, which isolates this host "
					 "from its virtual machines",
					 type),
		     .evidence = { fact });
	else
		UNKNOWN(ctx, .subject = d->bdf.value,
			.observed = text_printf(ctx,
						"%s: addresses are translated; whether this host "
						"gives GPUs to virtual machines was not read",
						type),
			.evidence = { host.fact, fact });
	return true;
}

static bool breaks_copies(const struct rule_context *ctx)
{
	return is_asked_for(ctx, PROFILE_P2P) && topology_gpus(ctx->node) > 1;
}

static void fail_translated(struct rule_context *ctx, const struct pci_device *d, const char *type,
			    const char *fact)
{
	/* Kernels for other processors have no argument iommu= (kernel-parameters.txt: [X86]). */
	const char *argument = str_is(ctx->node->os.machine, "aarch64") ? "iommu.passthrough=1"
									: "iommu=pt";

	bool breaks = breaks_copies(ctx),
	     patched = breaks && known_is(driver_is_patched(ctx->node, ctx->arena, NULL), true);

	FAIL_AS(ctx, breaks ? SEVERITY_ERR : SEVERITY_WARN, .subject = d->bdf.value,
		.title =
			patched ? "Copies between GPUs silently deliver zeros: the IOMMU translates addresses"
			: breaks
				? "Copies between GPUs fail: the IOMMU translates addresses"
				: "GPUDirect RDMA is slow or fails: the IOMMU translates addresses",
		.observed = text_printf(ctx, "IOMMU domain %s: addresses are translated", type),
		.expected = "identity (passthrough), or no IOMMU",
		.impact =
			patched ? "This driver is patched for peer-to-peer: copies between GPUs deliver zeros without an "
				  "error, so results are wrong."
			: breaks ? NULL
				 : "GPUDirect RDMA is slow or fails.",
		.wrong_data = patched, .then = THEN_REBOOT,
		.remedy = text_printf(ctx, "Add %s to the kernel command line.", argument),
		.command = shell_add_argument(ctx->arena, ctx->node, argument),
		.evidence = { fact });
}

static void check_translating(struct rule_context *ctx, const struct pci_device *d,
			      const char *type, const char *fact)
{
	if (is_staged(ctx->node))
		PENDING(ctx, .subject = d->bdf.value,
			.observed = text_printf(
				ctx,
				"IOMMU domain %s: addresses are translated; the next boot asks for passthrough",
				type),
			.expected = "identity (passthrough), or no IOMMU", .remedy = "Reboot.",
			.evidence = { fact, "cmdline.staged.text" });
	else if (!skip_on_vfio_host(ctx, d, type, fact))
		fail_translated(ctx, d, type, fact);
}

/* A Grace superchip's GPU walks the processor's page tables by ATS. With pci=noats the kernel does not switch ATS
 * on (drivers/pci/ats.c), even though the IOMMU translates. */
static void check_ats(struct rule_context *ctx, const struct pci_device *d, const char *type_fact)
{
	const char *fact = fact_path(ctx->arena, "pci.devices", d->bdf.value, "ats_enabled");
	const char *running = is_known(ctx->node->cmdline.running)
				      ? ctx->node->cmdline.running.value
				      : NULL;
	bool asked = running && bootargs_find(running, "pci", "noats");

	if (pci_is_gpu(d) && known_is(d->ats_enabled, false))
		FAIL_AS(ctx, asked ? SEVERITY_WARN : SEVERITY_INFO, .subject = d->bdf.value,
			.observed =
				asked ? "ATS is off: pci=noats on the kernel command line"
				      : "ATS is off, and pci=noats is not on the kernel command line",
			.expected = "ATS on",
			.impact =
				"The GPU cannot use the processor's page tables: access to memory from malloc or "
				"mmap is copied or fails.",
			.then = asked ? THEN_REBOOT : 0,
			.remedy =
				asked ? "Remove noats from pci= on the kernel command line."
				      : "Check that the firmware's IORT table marks the root complex as "
					"ATS capable.",
			.evidence = { fact, "cmdline.running" });
	else
		PASS(ctx, .subject = d->bdf.value, .observed = "translation is right on Grace",
		     .evidence = { type_fact });
}

/* The right type on this node. A GPU that walks the processor's page tables works with translation. */
enum translation { TRANSLATION_WRONG, TRANSLATION_GRACE, TRANSLATION_GB10 };

static enum translation find_translation(const struct node *node)
{
	if (node_is(node, KIND_GRACE))
		return TRANSLATION_GRACE;
	return node_is(node, KIND_GB10) ? TRANSLATION_GB10 : TRANSLATION_WRONG;
}

/* The driver binds processes to the GPU through the IOMMU (kernel-open/nvidia-uvm/uvm_ats_sva.c). Its
 * behaviour with passthrough is not documented. */
static void check_gb10(struct rule_context *ctx, const struct pci_device *d,
		       const struct iommu_device *i, const char *fact)
{
	if (translates(i))
		PASS(ctx, .subject = d->bdf.value, .observed = "translation is right on GB10",
		     .evidence = { fact });
	else
		UNKNOWN(ctx, .subject = d->bdf.value,
			.observed = text_printf(ctx,
						"%s: whether GB10 works without translation is not "
						"known",
						i->type.value),
			.evidence = { fact });
}

static void check_group(struct rule_context *ctx, const struct pci_device *d,
			const struct iommu_device *i, enum translation right)
{
	const char *fact = fact_path(ctx->arena, "iommu.devices", d->bdf.value, "type");

	if (skip_without_pcie_peers(ctx, d))
		return;
	if (!is_asked_for(ctx, PROFILE_GPUDIRECT_ANY) && topology_gpus(ctx->node) == 1)
		NOT_APPLICABLE(ctx, .subject = d->bdf.value,
			       .observed = "the only GPU: there is no other to copy to",
			       .evidence = { "pci.devices" });
	else if (pci_is_for_guest(d))
		NOT_APPLICABLE(ctx, .subject = d->bdf.value,
			       .observed = "held for a virtual machine, for which vfio translates",
			       .evidence = { fact_path(ctx->arena, "pci.devices", d->bdf.value,
						       "driver") });
	else if (!is_known(i->type))
		UNKNOWN(ctx, .subject = d->bdf.value,
			.observed = is_absent(i->type)
					    ? "this kernel does not show the type of IOMMU groups"
					    : NULL,
			.evidence = { fact });
	else if (right == TRANSLATION_GB10)
		check_gb10(ctx, d, i, fact);
	else if (right == TRANSLATION_GRACE && translates(i))
		check_ats(ctx, d, fact);
	else if (translates(i))
		check_translating(ctx, d, i->type.value, fact);
	else
		PASS(ctx, .subject = d->bdf.value, .observed = i->type.value, .evidence = { fact });
}

static void check_translation(struct rule_context *ctx)
{
	size_t before = ctx->findings->count, free = 0;
	enum translation right = find_translation(ctx->node);

	if (skip_without_gpu(ctx) || skip_without_own_gpu(ctx))
		return;
	if (!was_read(ctx->node->iommu.devices)) {
		UNKNOWN(ctx, .evidence = { "iommu.devices" });
		return;
	}
	for_each(d, &ctx->node->pci.devices) {
		const struct iommu_device *i;

		if (!pci_is_gpu(d) &&
		    !(is_asked_for(ctx, PROFILE_GPUDIRECT_ANY) && topology_is_nic(ctx->node, d)))
			continue;
		i = topology_iommu(ctx->node, d);
		if (i)
			check_group(ctx, d, i, right);
		else
			free++;
	}
	if (ctx->findings->count > before)
		return;
	if (node_is(ctx->node, KIND_VIRTUAL_MACHINE))
		NOT_APPLICABLE(ctx,
			       .observed = "a virtual machine without an IOMMU: the host has one",
			       .evidence = { "os.hypervisor", "iommu.devices" });
	else if (is_unknown(ctx->node->os.hypervisor))
		UNKNOWN(ctx, .evidence = { "os.hypervisor" });
	else if (free)
		PASS(ctx, .observed = "no GPU or NIC is behind an IOMMU",
		     .evidence = { "iommu.devices", "iommu.units" });
}

/* The driver could not have the IOMMU map a peer's registers; the line names none. */
static void check_refused_map(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "peer-mmio-map-failed");

	if (line)
		FAIL(ctx, .observed = line->last.value, .expected = "no refused mappings",
		     .evidence = { "log.lines[peer-mmio-map-failed].last",
				   "log.lines[peer-mmio-map-failed].count" });
}

static void check_faults(struct rule_context *ctx)
{
	static const char *const patterns[] = { "io-page-fault", "dmar-fault", "smmu-fault" };
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct log_line *line = node_log(ctx->node, patterns[i]);

		for_each(d, &ctx->node->pci.devices) {
			const struct log_subject *own = log_of_device(line, d->bdf.value);

			if (own && (pci_is_gpu(d) || topology_is_nic(ctx->node, d)))
				FAIL(ctx, .subject = d->bdf.value, .observed = own->last.value,
				     .expected = "no faults",
				     .evidence = { log_device_fact(ctx->arena, line, d->bdf.value,
								   "last") });
		}
	}
	check_refused_map(ctx);
	if (ctx->findings->count == before)
		pass_if_log_whole(ctx);
}

/* ---- arguments that do nothing ---- */

struct inert {
	const char *key;
	const char *value; /* one of the comma-separated values of the key */
	const char *instead;
	enum { HARMFUL, HARMLESS_WITH_PT, HARMLESS } effect;
};

/* Values that the kernel's parsers do not know: drivers/pci/pci.c pci_setup(), drivers/iommu/amd/init.c
 * parse_amd_iommu_options(), drivers/iommu/intel/iommu.c intel_iommu_setup(), arch/x86/kernel/pci-dma.c
 * iommu_setup(). */
static const struct inert inert[] = {
	{ "pci", "noacs", "pci=disable_acs_redir=BDF, which clears redirection (pci/acs-redirect)",
	  HARMFUL },
	{ "amd_iommu", "on", "no argument: the AMD IOMMU is on by default", HARMLESS },
	{ "amd_iommu", "pt", "iommu=pt, which sets passthrough", HARMLESS_WITH_PT },
	{ "intel_iommu", "pt", "iommu=pt, which sets passthrough", HARMLESS_WITH_PT },
	{ "iommu", "on", "intel_iommu=on, which switches it on", HARMLESS_WITH_PT },
};
#define INERT (ARRAY_SIZE(inert))

/* A command line has each of them once, or several times the same. */
static void check_arguments(struct rule_context *ctx, const char *text, const char *fact,
			    bool done[])
{
	bool passthrough = bootargs_passthrough(text);

	for (size_t i = 0; i < INERT; i++) {
		bool harmless = inert[i].effect == HARMLESS ||
				(inert[i].effect == HARMLESS_WITH_PT && passthrough);

		if (done[i] || !bootargs_find(text, inert[i].key, inert[i].value))
			continue;
		done[i] = true;
		FAIL_AS(ctx, harmless ? SEVERITY_INFO : SEVERITY_WARN,
			.subject = text_printf(ctx, "%s=%s", inert[i].key, inert[i].value),
			.observed = text_printf(ctx, "the kernel does not know this value%s",
						inert[i].effect == HARMLESS
							? "; the AMD IOMMU is on by default"
						: harmless ? "; iommu=pt beside it sets passthrough"
							   : ""),
			.expected = harmless ? NULL : inert[i].instead, .evidence = { fact });
	}
}

/* Words that iommu= takes, each as the beginning of a value: arch/x86/kernel/pci-dma.c iommu_setup(), and
 * gart_parse_options() of arch/x86/kernel/aperture_64.c. A size stands first as a number. */
static bool is_iommu_word(struct span value)
{
	static const char *const words[] = { "allowdac", "allowed",   "biomerge",    "calgary",
					     "force",	 "fullflush", "leak",	     "memaper",
					     "merge",	 "noagp",     "noaperture",  "nobypass",
					     "nodac",	 "noforce",   "nofullflush", "nomerge",
					     "nopanic",	 "nopt",      "off",	     "panic",
					     "pt",	 "soft",      "usedac" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (span_starts(value, words[i]))
			return true;
	return !value.n || (*value.p >= '0' && *value.p <= '9');
}

/* Kernels for other processors have no argument iommu= (kernel-parameters.txt: [X86]). */
static void check_iommu_words(struct rule_context *ctx, const char *text, const char *fact)
{
	bool other = str_is(ctx->node->os.machine, "aarch64");
	struct bootargs args = bootargs_of(text);
	struct kparam arg;

	while (bootargs_next(&args, &arg)) {
		struct span rest = arg.value, word;

		if (!kparam_name_is(arg.name, "iommu"))
			continue;
		while (span_cut(&rest, ',', &word)) {
			const char *subject = text_printf(ctx, "iommu=%.*s", SPAN_FMT(word));

			if ((!other && is_iommu_word(word)) || rule_has_answered(ctx, subject))
				continue;
			FAIL(ctx, .subject = subject,
			     .observed = other ? "only x86 kernels have the argument iommu="
					       : "the kernel does not know this value",
			     .expected = other ? "iommu.passthrough=1, which sets passthrough"
					       : "iommu=pt, which sets passthrough",
			     .evidence = { fact });
		}
	}
}

static void check_inert(struct rule_context *ctx)
{
	const struct cmdline_facts *cmdline = &ctx->node->cmdline;
	size_t before = ctx->findings->count;
	bool done[INERT] = { false };

	if (!was_read(cmdline->running)) {
		UNKNOWN(ctx, .evidence = { "cmdline.running" });
		return;
	}
	check_arguments(ctx, cmdline->running.value, "cmdline.running", done);
	check_iommu_words(ctx, cmdline->running.value, "cmdline.running");
	if (is_known(cmdline->staged.text)) {
		check_arguments(ctx, cmdline->staged.text.value, "cmdline.staged.text", done);
		check_iommu_words(ctx, cmdline->staged.text.value, "cmdline.staged.text");
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "cmdline.running" });
}

static const struct rule iommu_rules[] = {
	{
		.id = "iommu/translation-enabled",
		.title =
			"Peer copies cannot be relied on: the IOMMU translates GPU or NIC addresses",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_translation,
		.impact =
			"Copies between GPUs over PCIe fail. With a driver that is patched for peer-to-peer they deliver zeros without "
			"an error: results are wrong. GPUDirect RDMA is slow or fails.",
		.then = THEN_REBOOT,
		.remedy = "Add iommu=pt to the kernel command line.",
		.fix = { "iommu-passthrough" },
		.follows = { "driver/geforce-no-gpudirect", "iommu/cmdline-ineffective" },
		.activation = ACTIVATION_REBOOT,
		.trial = TRIAL_PEER_COPIES,
		.reads =
			"The type of the IOMMU group of every GPU and NIC; on Grace also whether ATS of the GPUs is on.",
		.why = "DMA and DMA-FQ mean translation, identity means passthrough. A device without a group has no IOMMU. "
		       "iommu=pt keeps the IOMMU on, which more than 255 CPUs need. NVIDIA does not support peer copies over "
		       "PCIe with translation on bare metal. On Grace both are right from Linux 6.11 on; platform/grace-passthrough "
		       "reports an older kernel. On GB10 translation passes: NVIDIA's 6.14 kernel makes it the default of that "
		       "GPU, and no source says whether GB10 works without it. A host that gives GPUs to virtual machines "
		       "keeps it for isolation, and this is a note there.",
		.check =
			"for d in /sys/bus/pci/devices/*/iommu_group/type; do echo $d $(cat $d); done",
		.cost = "Isolation is weaker: a faulty device of this host can then write anywhere in memory.",
		.is_risk = true,
		.sources =
			"docs.nvidia.com/maxine/triton: PCIe Multi-GPU Systems\n"
			"Linux 6.1.192: Documentation/ABI/testing/sysfs-kernel-iommu_groups, drivers/pci/ats.c, "
			"Documentation/admin-guide/kernel-parameters.txt (iommu=, iommu.passthrough=)\n"
			"Linux 6.12.117: arch/x86/kernel/apic/apic.c (try_to_enable_x2apic)\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-dma.c (nv_dma_map_mmio), "
			"kernel-open/nvidia-uvm/uvm_ats_sva.c\n"
			"github.com/NVIDIA/NV-Kernels pull 226 (October 2025): DGX Spark iGPU default domain type\n"
			"github.com/tinygrad/open-gpu-kernel-modules issue 18",
	},
	{
		.id = "iommu/faults-logged",
		.title = "Transfers failed: the IOMMU stopped accesses of a GPU or NIC",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_faults,
		.impact = "The transfers failed or read zeros.",
		.remedy =
			"Set the IOMMU to passthrough. If it is already, send the line to the support of the device's vendor.",
		.activation = ACTIVATION_REBOOT,
		.follows = { "iommu/translation-enabled" },
		.reads =
			"IO_PAGE_FAULT (AMD), DMAR fault (Intel) and SMMU event (Arm) lines of the kernel log about a GPU or NIC, "
			"and \"Failed to DMA map MMIO range\" of the NVIDIA driver.",
		.why = "A peer copy to an address that no driver mapped in the IOMMU ends in such a fault.",
		.check = "dmesg | grep -E 'IO_PAGE_FAULT|DMAR:.*fault'",
		.sources =
			"Linux 6.1.192: drivers/iommu/amd/iommu.c, drivers/iommu/intel/dmar.c; 6.12.117: "
			"drivers/iommu/arm/arm-smmu-v3/arm-smmu-v3.c\n"
			"github.com/tinygrad/open-gpu-kernel-modules issue 18 (zeros)\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-dma.c (nv_dma_map_mmio)",
	},
	{
		.id = "iommu/inert-argument",
		.title = "A kernel argument has no effect: the kernel does not know its value",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_inert,
		.impact = "The setting that the argument was meant to change keeps its default.",
		.then = THEN_REBOOT,
		.remedy = "Replace the argument with the one that works.",
		.fix = { "remove-argument" },
		.activation = ACTIVATION_REBOOT,
		.reads = "The kernel command lines of this boot and of the next one.",
		.why = "The kernel ignores unknown values, at best with a line in the log (AMD-Vi: Unknown option - 'on'). "
		       "pci=noacs, amd_iommu=on and iommu=passthru are common in recipes.",
		.check = "cat /proc/cmdline; dmesg | grep 'Unknown option'",
		.sources =
			"Linux 6.1.192: drivers/pci/pci.c, drivers/iommu/amd/init.c, drivers/iommu/intel/iommu.c, "
			"arch/x86/kernel/pci-dma.c, Documentation/admin-guide/kernel-parameters.txt\n"
			"github.com/NVIDIA/nccl issue 2079",
	},
};

RULE_TABLE(iommu);
