/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan-refuse.c - nodes on which nothing is repaired, and findings that software cannot repair. */
#include <string.h>

#include "fixes/plan-make.h"

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

const char *plan_refuse_node(const struct node *node, struct arena *arena)
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

const char *plan_refuse_finding(const struct finding *finding, struct arena *arena)
{
	static const char *const who[] = {
		[BY_ADMIN] = "by hand",
		[BY_FIRMWARE] = "in the machine's firmware setup",
		[BY_HARDWARE] = "by hardware service",
		[BY_HOST] = "on the host of this guest or container",
		[BY_PROVIDER] = "by the cloud provider",
		[BY_PROGRAM] = "by hand",
	};

	return arena_printf(arena, "do this %s: %s", who[finding_repaired_by(finding)],
			    finding_remedy(finding));
}
