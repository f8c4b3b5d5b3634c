/* SPDX-License-Identifier: GPL-2.0-or-later */
/* iommu-domains.c - whether the IOMMU does what the kernel command line sets, and the same for all GPUs and NICs
 * (rules iommu/...). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/bootargs.h"
#include "query/distribution.h"
#include "query/kind.h"
#include "query/names.h"
#include "query/pci-device.h"
#include "query/topology.h"

static bool is_peer(const struct rule_context *ctx, const struct pci_device *d)
{
	return (pci_is_gpu(d) || topology_is_nic(ctx->node, d)) && !pci_is_for_guest(d);
}

static const char *type_fact(struct rule_context *ctx, const struct pci_device *d)
{
	return fact_path(ctx->arena, "iommu.devices", d->bdf.value, "type");
}

/* ---- arguments without effect ---- */

/* drivers/iommu/intel/iommu.c, drivers/iommu/amd/init.c */
static const char *find_off(const char *text)
{
	static const struct {
		const char *name;
		const char *argument;
	} off[] = {
		{ "iommu", "iommu=off" },
		{ "intel_iommu", "intel_iommu=off" },
		{ "amd_iommu", "amd_iommu=off" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(off); i++)
		if (bootargs_find(text, off[i].name, "off"))
			return off[i].argument;
	return NULL;
}

/* intel_iommu=off is not for AMD's, nor the other way round. */
static bool is_for_these(const struct node *node, const char *argument)
{
	const char *prefix = starts_with(argument, "intel") ? "dmar"
			     : starts_with(argument, "amd") ? "ivhd"
							    : "";

	for (uint32_t i = 0; i < node->iommu.units.count; i++)
		if (starts_with(node->iommu.units.items[i], prefix))
			return true;
	return false;
}

/* Device by device: one that is not trusted, or is forced by its firmware, gets another domain. */
static void check_asked(struct rule_context *ctx, const char *passthrough, const char *off)
{
	for_each(d, &ctx->node->pci.devices) {
		const struct iommu_device *i = is_peer(ctx, d) ? topology_iommu(ctx->node, d)
							       : NULL;

		if (!i)
			continue;
		if (!is_known(i->type))
			UNKNOWN(ctx, .subject = d->bdf.value,
				.observed = is_absent(i->type) ? "this kernel does not show the "
								 "type of IOMMU groups"
							       : NULL,
				.evidence = { type_fact(ctx, d) });
		else if (!str_starts(i->type, "DMA"))
			PASS(ctx, .subject = d->bdf.value,
			     .evidence = { type_fact(ctx, d), "cmdline.running" });
		else
			FAIL(ctx, .subject = d->bdf.value,
			     .observed = text_printf(
				     ctx, "%s is on the command line; the type of its group is %s",
				     passthrough ? passthrough : off, i->type.value),
			     .expected = passthrough ? "identity" : "no IOMMU group",
			     .evidence = { type_fact(ctx, d), "cmdline.running" });
	}
}

static void check_ineffective(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t before = ctx->findings->count;
	const char *text, *passthrough, *off;

	if (!is_known(node->cmdline.running)) {
		UNKNOWN(ctx, .evidence = { "cmdline.running" });
		return;
	}
	if (skip_without_gpu(ctx))
		return;
	/* Their GPUs walk the processor's page tables: translation is right. */
	if (node_is(node, KIND_GRACE) || node_is(node, KIND_GB10)) {
		NOT_APPLICABLE(ctx, .observed = "GPUs of this platform work with translation");
		return;
	}
	text = node->cmdline.running.value;
	passthrough = bootargs_passthrough(text);
	off = find_off(text);
	if (off && !is_for_these(node, off))
		off = NULL;
	if (!was_read(node->iommu.devices)) {
		UNKNOWN(ctx, .evidence = { "iommu.devices" });
		return;
	}
	if (passthrough || off)
		check_asked(ctx, passthrough, off);
	if (ctx->findings->count > before)
		return;
	if (bootargs_find(text, "intel_iommu", "on") &&
	    str_is(node->os.cpu_vendor, "GenuineIntel") && !node->iommu.units.count &&
	    is_known(node->iommu.units) && is_absent(node->os.hypervisor))
		NOTE(ctx,
		     .observed = "intel_iommu=on is on the command line, but VT-d is off in the "
				 "firmware: this node has no IOMMU",
		     .evidence = { "cmdline.running", "iommu.units" });
	else if (passthrough || off)
		PASS(ctx, .observed = "no GPU or NIC is behind an IOMMU",
		     .evidence = { "cmdline.running", "iommu.devices" });
	else
		NOT_APPLICABLE(
			ctx,
			.observed =
				"the command line neither sets passthrough nor switches the IOMMU off",
			.evidence = { "cmdline.running" });
}

/* ---- the same for all ---- */

struct types {
	const char *first; /* with its device */
	const struct pci_device *first_device;
	const char *other;
	const struct pci_device *other_device;
	size_t count;
	size_t unknown;
};

static void add_type(struct types *types, const struct pci_device *d, const char *type)
{
	types->count++;
	if (!types->first) {
		types->first = type;
		types->first_device = d;
	} else if (!types->other && strcmp(types->first, type) != 0) {
		types->other = type;
		types->other_device = d;
	}
}

/* DMA and DMA-FQ differ only in when they flush. */
static const char *domain_of(const struct iommu_device *i)
{
	if (!i)
		return "no group";
	return str_starts(i->type, "DMA") ? "translated (DMA)" : i->type.value;
}

static void fail_mixed(struct rule_context *ctx, const struct types *types)
{
	const struct node *node = ctx->node;
	/* On these nodes the right type is translation, or this rule cannot decide it. */
	bool keeps = node_may_be(node, KIND_GRACE) || node_may_be(node, KIND_GB10) ||
		     node_may_be(node, KIND_VFIO_HOST);

	FAIL(ctx,
	     .observed = text_printf(
		     ctx, "%s: %s; %s: %s",
		     subject_name(ctx->node, types->first_device->bdf.value, ctx->arena),
		     types->first,
		     subject_name(ctx->node, types->other_device->bdf.value, ctx->arena),
		     types->other),
	     .expected = "the same type for all GPUs and NICs", .then = THEN_REBOOT,
	     .remedy =
		     keeps ? "Remove the setting that gives single groups another type: a udev rule, "
			     "TuneD or a kernel argument."
			   : NULL,
	     .command = keeps ? NULL : shell_add_argument(ctx->arena, node, "iommu=pt"),
	     .has_fix = keeps,
	     .evidence = { type_fact(ctx, types->first_device),
			   type_fact(ctx, types->other_device) });
}

static void check_mixed(struct rule_context *ctx)
{
	struct types types = { .count = 0 };

	if (skip_without_gpu(ctx))
		return;
	if (!was_read(ctx->node->iommu.devices)) {
		UNKNOWN(ctx, .evidence = { "iommu.devices" });
		return;
	}
	for_each(d, &ctx->node->pci.devices) {
		const struct iommu_device *i;

		if (!is_peer(ctx, d))
			continue;
		i = topology_iommu(ctx->node, d);
		if (i && !is_known(i->type))
			types.unknown++;
		else
			add_type(&types, d, domain_of(i));
	}
	if (types.other)
		fail_mixed(ctx, &types);
	else if (types.unknown)
		UNKNOWN(ctx, .observed = "this kernel does not show the type of every IOMMU group",
			.evidence = { "iommu.devices" });
	else if (types.count < 2)
		NOT_APPLICABLE(ctx, .observed = "fewer than two GPUs and NICs",
			       .evidence = { "iommu.devices" });
	else
		PASS(ctx, .observed = text_printf(ctx, "%s, all of them", types.first),
		     .evidence = { "iommu.devices" });
}

static const struct rule iommu_domains_rules[] = {
	{
		.id = "iommu/cmdline-ineffective",
		.title = "The IOMMU translates although the kernel command line switches that off",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_ineffective,
		.impact =
			"On bare metal NVIDIA supports no peer copies over PCIe with translation: they fail, are slow or "
			"deliver wrong data.",
		.then = THEN_REBOOT,
		.remedy =
			"Find what writes another type to the groups, and remove it: a udev rule, "
			"TuneD or a script. If nothing does, the firmware marks the devices as "
			"untrusted: look for that setting in the firmware setup.",
		.command =
			"grep -rs iommu_group /etc/udev/rules.d /usr/lib/udev/rules.d /etc/tuned /usr/lib/tuned",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"iommu=, iommu.passthrough=, intel_iommu= and amd_iommu= of the running kernel, and the type of the "
			"group of each GPU and NIC.",
		.why = "The type of the group decides, not the command line. A device that the firmware marks as external or "
		       "untrusted is translated in any case. Misspelt arguments are reported by iommu/inert-argument.",
		.check =
			"cat /proc/cmdline; grep . /sys/kernel/iommu_groups/*/type; dmesg | grep 'Default domain'",
		.sources =
			"Linux 6.1.192: drivers/iommu/iommu.c (iommu_get_def_domain_type), arch/x86/kernel/pci-dma.c, "
			"Documentation/admin-guide/kernel-parameters.txt, "
			"Documentation/ABI/testing/sysfs-kernel-iommu_groups\n"
			"docs.nvidia.com/maxine/triton (2025): PCIe Multi-GPU Systems",
	},
	{
		.id = "iommu/mixed-domains",
		.title = "Some peer copies fail or are slow: the IOMMU treats GPUs and NICs "
			 "differently",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_mixed,
		.impact = "Peer transfers can fail or be slow between some pairs of devices.",
		.then = THEN_REBOOT,
		.remedy = "Add iommu=pt to the kernel command line.",
		.fix = { "iommu-passthrough" },
		.activation = ACTIVATION_REBOOT,
		.follows = { "iommu/cmdline-ineffective" },
		.reads = "The type of the IOMMU group of every GPU and NIC that this host uses.",
		.why = "The driver maps a peer through the IOMMU of the device that reads or writes. Devices that are given to "
		       "virtual machines are left out. The effect is concluded from the driver's code, not from reports.",
		.check =
			"for d in /sys/bus/pci/devices/*/iommu_group/type; do echo $d $(cat $d); done",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-dma.c (nv_dma_map_peer)\n"
			"Linux 6.1.192: Documentation/ABI/testing/sysfs-kernel-iommu_groups",
	},
};

RULE_TABLE(iommu_domains);
