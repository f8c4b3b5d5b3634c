/* SPDX-License-Identifier: GPL-2.0-or-later */
/* iommu-groups.c - whether a virtual machine can get the GPU that vfio-pci holds for it (rule iommu/group-shared). */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/skip.h"
#include "query/pci-device.h"
#include "query/ports.h"
#include "query/topology.h"

/* VFIO gives a group to a user if no function in it has a driver that uses it: bridges, pci-stub and functions
 * without a driver do not count (drivers/vfio/vfio.c, vfio_dev_driver_allowed()). */
static bool is_in_the_way(const struct pci_device *d)
{
	static const char *const allowed[] = { "vfio-pci", "pci-stub", "pcieport" };

	if (!is_known(d->driver) || (is_known(d->class_id) && d->class_id.value >> 16 == 0x06))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++)
		if (str_is(d->driver, allowed[i]))
			return false;
	return !str_starts(d->driver, "vfio") && strstr(d->driver.value, "vfio") == NULL;
}

static const struct pci_device *find_other(const struct node *node, const struct pci_device *gpu,
					   uint64_t group, bool *unread)
{
	for_each(d, &node->pci.devices) {
		const struct iommu_device *i = d == gpu ? NULL : topology_iommu(node, d);

		if (!i || !known_is(i->group, group))
			continue;
		*unread |= is_unknown(d->driver);
		if (is_in_the_way(d))
			return d;
	}
	return NULL;
}

static bool has_no_iommu(const struct node *node)
{
	return is_absent(node->os.hypervisor) && was_read(node->iommu.devices) &&
	       was_read(node->iommu.units) && !node->iommu.units.count &&
	       !node->iommu.devices.count;
}

static void fail_shared(struct rule_context *ctx, const struct pci_device *gpu,
			const struct pci_device *other, uint64_t group)
{
	bool same = is_same_slot(gpu->bdf.value, other->bdf.value);

	FAIL(ctx, .subject = gpu->bdf.value,
	     .observed = text_printf(ctx,
				     "vfio-pci holds it, and %s in the same IOMMU group (%" PRIu64
				     ") has the driver %s",
				     other->bdf.value, group, other->driver.value),
	     .expected = "vfio-pci for every function of the group, or no driver",
	     .remedy =
		     same ? text_printf(ctx,
					"%s belongs to the same card. Bind it to vfio-pci too, now "
					"and at every boot:",
					other->bdf.value)
			  : NULL,
	     .command = same ? shell_printf(ctx->arena, "sudo driverctl set-override %s vfio-pci",
					    other->bdf.value)
			     : NULL,
	     .evidence = { fact_path(ctx->arena, "iommu.devices", gpu->bdf.value, "group"),
			   fact_path(ctx->arena, "pci.devices", other->bdf.value, "driver"),
			   fact_path(ctx->arena, "pci.devices", gpu->bdf.value, "driver") });
}

static void check_gpu(struct rule_context *ctx, const struct pci_device *gpu)
{
	const struct iommu_device *own = topology_iommu(ctx->node, gpu);
	const char *fact = fact_path(ctx->arena, "iommu.devices", gpu->bdf.value, "group");
	const struct pci_device *other;
	bool unread = false;

	if (!own && has_no_iommu(ctx->node)) {
		FAIL(ctx, .subject = gpu->bdf.value,
		     .observed =
			     "vfio-pci holds it, and this node has no IOMMU: there are no IOMMU groups",
		     .expected = "an IOMMU that is on",
		     .impact =
			     "No virtual machine can get the GPU: \"No IOMMU detected\", or the device is "
			     "in no group.",
		     .remedy =
			     "Enable VT-d or AMD-Vi (IOMMU) in the firmware setup. On Intel also boot with intel_iommu=on.",
		     .evidence = {
			     "iommu.units", "iommu.devices",
			     fact_path(ctx->arena, "pci.devices", gpu->bdf.value, "driver") });
		return;
	}
	if (!own || !is_known(own->group)) {
		UNKNOWN(ctx, .subject = gpu->bdf.value, .evidence = { fact });
		return;
	}
	other = find_other(ctx->node, gpu, own->group.value, &unread);
	if (other)
		fail_shared(ctx, gpu, other, own->group.value);
	else if (unread)
		UNKNOWN(ctx, .subject = gpu->bdf.value, .evidence = { "pci.devices" });
	else
		PASS(ctx, .subject = gpu->bdf.value, .evidence = { fact });
}

static void check_shared(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx))
		return;
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && str_is(d->driver, "vfio-pci"))
			check_gpu(ctx, d);
		else if (pci_is_gpu(d) && !was_read(d->driver))
			UNKNOWN(ctx, .subject = d->bdf.value,
				.evidence = { fact_path(ctx->arena, "pci.devices", d->bdf.value,
							"driver") });
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "vfio-pci holds no GPU",
			       .evidence = { "pci.devices" });
}

static const struct rule iommu_groups_rules[] = {
	{
		.id = "iommu/group-shared",
		.title =
			"A virtual machine cannot get the GPU: its IOMMU group is shared with the host",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_shared,
		.impact = "The virtual machine does not start: \"group N is not viable\".",
		.remedy =
			"If a virtual machine is to have the GPU, bind the other function to vfio-pci too: set its "
			"driver_override (ids= of vfio-pci would bind every device of the model). If it is another card that the "
			"host needs, move one of the two cards to another slot.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The drivers and IOMMU groups of the PCI functions, where vfio-pci holds a GPU.",
		.why = "The IOMMU cannot separate functions of one group. So VFIO gives a group away only as a whole. "
		       "A GPU's audio function is mostly in its group, and snd_hda_intel takes it.",
		.check =
			"for d in /sys/kernel/iommu_groups/*/devices/*; do echo $d; done; lspci -nnk",
		.sources =
			"Linux 4.4: drivers/vfio/vfio.c, vfio_dev_driver_allowed() (commit 5f096b14d421)\n"
			"github.com/NVIDIA/kubevirt-gpu-device-plugin issue 27",
	},
};

RULE_TABLE(iommu_groups);
