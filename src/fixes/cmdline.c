/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmdline.c - kernel arguments added and removed. */
#include <string.h>

#include "fixes/cmdline-edit.h"
#include "fixes/fix.h"
#include "query/kind.h"
#include "query/node-find.h"
#include "query/pci-device.h"
#include "query/topology.h"

static bool is_live(const struct fixing *f, const char *key, const char *value)
{
	return is_known(f->node->cmdline.running) &&
	       cmdline_has(span_of(f->node->cmdline.running.value), key, value);
}

static void remove_argument(struct fixing *f, const char *argument)
{
	const char *equals = strchr(argument, '=');
	const char *key = equals ? arena_strndup(f->arena, argument, (size_t)(equals - argument))
				 : argument;

	if (!fix_argument_remove(f, key, equals ? equals + 1 : NULL))
		return;
	fix_does(f, ACTIVATION_REBOOT, "remove %s from the kernel command line", argument);
}

/* Returns true for a GPU of a Grace module, for which pci=noats disables translation by ATS. */
static bool lacks_ats(const struct fixing *f)
{
	const struct pci_device *d = node_pci(f->node, fix_subject(f));
	const struct iommu_device *i = d ? topology_iommu(f->node, d) : NULL;

	return i && pci_is_gpu(d) && known_is(d->ats_enabled, false) &&
	       !str_is(i->type, "identity") && is_live(f, "pci", "noats");
}

static void pass_through(struct fixing *f)
{
	if (node_is(f->node, KIND_GRACE) && lacks_ats(f)) {
		remove_argument(f, "pci=noats");
		fix_costs(f, "Devices can request and cache address translations again, which "
			     "pci=noats prevents.");
		return;
	}
	if (node_is(f->node, KIND_GRACE)) {
		fix_refuse(f, "On Grace this program does not switch address translation off: %s",
			   f->finding->answer.remedy
				   ? f->finding->answer.remedy
				   : "run nvnodecheck explain iommu/gpu-domain-translated");
		return;
	}
	if (is_live(f, "iommu", "pt") || is_live(f, "iommu.passthrough", "1")) {
		fix_refuse(f, "iommu=pt is in effect, but these devices are still translated; see "
			      "iommu/cmdline-ineffective");
		return;
	}
	if (!fix_argument(f, "iommu", "pt"))
		return;
	fix_does(f, ACTIVATION_REBOOT, "add iommu=pt to the kernel command line");
}

/* Argument: the argument to remove; without one the finding's subject. */
static void plan_remove(struct fixing *f)
{
	remove_argument(f, fix_arg(f, 0) ? fix_arg(f, 0) : fix_subject(f));
}

const struct fix fix_iommu_passthrough = {
	.name = "iommu-passthrough",
	.title = "iommu=pt on the kernel command line: " OWN_GRUB
		 " on Debian and Ubuntu, the boot entries and what new ones are made from with BLS "
		 "and systemd-boot",
	.plan = pass_through,
};

const struct fix fix_remove_argument = {
	.name = "remove-argument",
	.title = "An argument removed from the boot loader's configuration, and so from the kernel "
		 "command line",
	.plan = plan_remove,
};
