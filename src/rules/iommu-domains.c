/* SPDX-License-Identifier: GPL-2.0-or-later */
/* iommu-domains.c - whether the IOMMU does what the kernel command line asks for, and the same for all
 * that talk to each other (rules iommu/...). */
#include <string.h>

#include "evaluate/skip.h"
#include "query/bootargs.h"
#include "query/kind.h"
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
static const char *wants_off(const char *text)
{
	static const struct {
		const char *name;
		const char *argument;
	} off[] = {
		{ "iommu", "iommu=off" },
		{ "intel_iommu", "intel_iommu=off" },
		{ "amd_iommu", "amd_iommu=off" },
	};

	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		if (bootargs_find(text, off[i].name, "off"))
			return off[i].argument;
	return NULL;
}

/* intel_iommu=off is not for AMD's, nor the other way round. */
static bool is_for_these(const struct node *node, const char *argument)
{
	const char *prefix = strncmp(argument, "intel", 5) == 0 ? "dmar"
			     : strncmp(argument, "amd", 3) == 0 ? "ivhd"
								: "";

	for (uint32_t i = 0; i < node->iommu.units.count; i++)
		if (strncmp(node->iommu.units.items[i], prefix, strlen(prefix)) == 0)
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
				     ctx, "%s is on the command line, and its group is %s",
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
	text = node->cmdline.running.value;
	passthrough = bootargs_passthrough(text);
	off = wants_off(text);
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
		     .observed = "intel_iommu=on is on the command line, and there is no IOMMU: "
				 "VT-d is off in the firmware",
		     .expected = "nothing; peer-to-peer is best without one",
		     .evidence = { "cmdline.running", "iommu.units" });
	else if (passthrough || off)
		PASS(ctx, .observed = "no GPU or NIC is behind an IOMMU",
		     .evidence = { "cmdline.running", "iommu.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = "the command line asks for nothing of the IOMMU",
			       .evidence = { "cmdline.running" });
}

/* ---- one way for all ---- */

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

/* DMA and DMA-FQ differ in when they flush alone. */
static const char *domain_of(const struct iommu_device *i)
{
	if (!i)
		return "no group";
	return str_starts(i->type, "DMA") ? "translated (DMA)" : i->type.value;
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
		FAIL(ctx,
		     .observed = text_printf(ctx, "%s: %s; %s: %s", types.first_device->bdf.value,
					     types.first, types.other_device->bdf.value,
					     types.other),
		     .expected = "the same for all GPUs and NICs",
		     .evidence = { type_fact(ctx, types.first_device),
				   type_fact(ctx, types.other_device) });
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
		.title = "The IOMMU does not do what the kernel command line asks for",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_ineffective,
		.impact = "Addresses are translated though somebody switched that off: see "
			  "iommu/translation-enabled.",
		.remedy = "Look for what overrides it: a later iommu=nopt or iommu.passthrough=0, "
			  "a type written to the group in sysfs (udev rule, TuneD), a device that "
			  "the firmware calls external or untrusted.",
		.activation = ACTIVATION_REBOOT,
		.mender = MENDER_FIRMWARE,
		.reads = "iommu=, iommu.passthrough=, intel_iommu= and amd_iommu= of the running "
			 "kernel, and the type of each GPU's and NIC's group.",
		.why = "The command line is a wish; the type of the group is what counts. Misspelt "
		       "arguments are iommu/inert-argument's.",
		.check = "cat /proc/cmdline; grep . /sys/kernel/iommu_groups/*/type; dmesg | grep "
			 "'Default domain'",
		.sources = "Linux: drivers/iommu/iommu.c, arch/x86/kernel/pci-dma.c, "
			   "Documentation/admin-guide/kernel-parameters.txt\n"
			   "Linux: Documentation/ABI/testing/sysfs-kernel-iommu_groups",
	},
	{
		.id = "iommu/mixed-domains",
		.title = "GPUs and NICs are treated differently by the IOMMU",
		.profiles = PROFILE_P2P | PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_mixed,
		.impact =
			"Peer transfers work between some pairs and fail or crawl between others.",
		.remedy = "Give all of them the same: iommu=pt on the kernel command line, and no "
			  "type written to single groups.",
		.fix = { "iommu-passthrough" },
		.activation = ACTIVATION_REBOOT,
		.reads = "The type of the IOMMU group of every GPU and NIC that this host uses "
			 "itself.",
		.why = "The driver maps a peer through the IOMMU of the device that reads or "
		       "writes. Devices that are passed to virtual machines are left out. That a "
		       "mixture fails is concluded from the driver's code, not from reports.",
		.check = "for d in /sys/bus/pci/devices/*/iommu_group/type; do echo $d $(cat $d); "
			 "done",
		.sources = "open-gpu-kernel-modules: kernel-open/nvidia/nv-dma.c\n"
			   "Linux: Documentation/ABI/testing/sysfs-kernel-iommu_groups",
	},
};

RULE_TABLE(iommu_domains);
