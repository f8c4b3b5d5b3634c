/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-lxc.c - whether LXC containers may open the GPUs that they are given (rule dev/lxc-devices). */
#include "evaluate/references.h"

/* A device that is not there is another rule's; its mount can be optional. */
static bool counts(const struct node *node, const struct reference *r)
{
	(void)node;
	return reference_state(r) != REFERENCE_MISSING;
}

static void check_devices(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_LXC,
		.none = "no LXC container of Proxmox VE has a configuration here",
		.expected = "the major number of each device that is mounted",
		.counts = counts,
	};

	references_check(ctx, &check);
}

static const struct rule dev_lxc_rules[] = {
	{
		.id = "dev/lxc-devices",
		.title = "CUDA fails in an LXC container: it may not open a GPU's device",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_devices,
		.needs_running = true,
		.impact =
			"nvidia-smi works in the container, and CUDA finds no device if nvidia-uvm is the one that is not allowed.",
		.remedy =
			"Correct the numbers in lxc.cgroup2.devices.allow (ls -l /dev/nvidia*), then restart the container. From "
			"Proxmox VE 8.2 on, the line dev0: /dev/nvidia-uvm can replace both lines and needs no number.",
		.activation = ACTIVATION_RECREATE,
		.reads =
			"lxc.cgroup2.devices.allow and lxc.mount.entry in /etc/pve/lxc, and the device numbers in /proc/devices.",
		.why = "The kernel gives out the number of nvidia-uvm and of nvidia-caps when the module is loaded. After an "
		       "update of the kernel or the driver it can differ. 195 of /dev/nvidia0 is fixed.",
		.check = "grep nvidia /proc/devices; grep -r devices.allow /etc/pve/lxc",
		.sources =
			"lxc 5.0: lxc.container.conf(5)\n"
			"github.com/jammsen/proxmox-setup-scripts issue 7\n"
			"github.com/NVIDIA/libnvidia-container issue 154\n"
			"github.com/jellyfin/jellyfin.org issue 982 (2024-05-09): dev0 of Proxmox VE 8.2",
	},
};

RULE_TABLE(dev_lxc);
