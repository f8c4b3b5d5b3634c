/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node-repair.c - nodes on which the program repairs nothing. */
#include "query/node-repair.h"

#include <string.h>

static const char *refuse_image_based(struct arena *arena, const char *kind)
{
	if (strcmp(kind, "ostree") == 0)
		return "this is an image-based system (ostree). Use rpm-ostree kargs for kernel "
		       "arguments. If the initramfs loads the driver, give it files of "
		       "/etc/modprobe.d with rpm-ostree initramfs-etc --track=FILE";
	if (strcmp(kind, "nixos") == 0)
		return "on NixOS these files are generated; set boot.kernelParams and "
		       "boot.extraModprobeConfig in configuration.nix";
	return arena_printf(
		arena,
		"this is an image-based system (%s), and the next image replaces its files; "
		"change the image",
		kind);
}

const char *node_repair_refusal(const struct node *node, struct arena *arena)
{
	if (is_known(node->os.container))
		return arena_printf(
			arena,
			"this is a container (%s). It is repaired on its host and where it is "
			"started",
			node->os.container.value);
	if (is_known(node->os.image_based))
		return refuse_image_based(arena, node->os.image_based.value);
	/* The container's own modprobe.d counts there. */
	if (is_known(node->services.driver_container))
		return "the GPU Operator's driver container loads the driver and does not read "
		       "this host's modprobe.d. Put the options into the ConfigMap that "
		       "driver.kernelModuleConfig.name of the ClusterPolicy names, as "
		       "nvidia.conf: NVreg_...=...";
	return NULL;
}
