/* SPDX-License-Identifier: GPL-2.0-or-later */
/* blacklist.c - modules that take GPUs away from the NVIDIA driver. */
#include "fixes/fix.h"

/* "options nouveau modeset=0" beside it holds even if the module is loaded by name. */
static void block_nouveau(struct fixing *f)
{
	if (!fix_module_file(f, "nvidia")) {
		fix_refuse(f, "no NVIDIA driver is installed for this kernel");
		return;
	}
	if (!fix_block_module(f, "nouveau") || !fix_option(f, "nouveau", "modeset", "0"))
		return;
	fix_does(f, ACTIVATION_REBOOT,
		 "keep nouveau from loading, in modprobe.d and in the initramfs");
	fix_costs(
		f,
		"Until the NVIDIA driver is loaded, a screen connected to one of these GPUs shows "
		"only the firmware's frame buffer.");
}

static void block_drm(struct fixing *f)
{
	if (!fix_block_module(f, "nvidia_drm") || !fix_block_module(f, "nvidia_modeset"))
		return;
	fix_does(f, ACTIVATION_REBOOT, "block nvidia-drm and nvidia-modeset");
	fix_costs(f, "These GPUs will have no display.");
	fix_risks(f);
}

const struct fix fix_block_nouveau = {
	.name = "block-nouveau",
	.title = "nouveau kept from loading by a blacklist and an install line in " OWN_MODPROBE
		 ", in the initramfs as well",
	.plan = block_nouveau,
};

const struct fix fix_block_nvidia_drm = {
	.name = "block-nvidia-drm",
	.title = "nvidia-drm and nvidia-modeset kept from loading by a blacklist and install lines "
		 "in " OWN_MODPROBE,
	.plan = block_drm,
};
