/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * distribution.h - the commands of this node's distribution: one command, ready to paste, instead of a list of the
 * commands of all distributions. Each function returns NULL if the distribution or its command is not known, or if a
 * word of the node must not be put into a command (base/shell.h).
 */
#ifndef DISTRIBUTION_H
#define DISTRIBUTION_H

#include "facts/facts.h"

enum distribution {
	DISTRIBUTION_UNKNOWN,
	DISTRIBUTION_DEBIAN, /* and Ubuntu and their relatives: apt, dpkg, update-initramfs */
	DISTRIBUTION_RHEL,   /* and Fedora, Amazon Linux: dnf, rpm, dracut, grubby */
	DISTRIBUTION_SUSE,   /* zypper, rpm, dracut */
	DISTRIBUTION_ARCH,   /* pacman, mkinitcpio */
};

/* Determines the distribution by ID and ID_LIKE of os-release(5). */
enum distribution distribution_of(const struct node *node);

/* The generator of initramfs images that the distribution uses: initramfs-tools, dracut, mkinitcpio. */
const char *distribution_generator(const struct node *node);

/* Installs a package that has these names; a NULL name: the family has no such package. */
struct package_names {
	const char *debian, *rhel, *suse, *arch;
};
const char *shell_install(struct arena *arena, const struct node *node,
			  const struct package_names *names);
/* Removes them: each name can be several packages. */
const char *shell_remove(struct arena *arena, const struct node *node,
			 const struct package_names *names);
/* The headers that modules of kernel RELEASE are built with. */
const char *shell_install_headers(struct arena *arena, const struct node *node,
				  const char *release);
/* Rebuilds the initramfs of kernel RELEASE, by the generator that made the present one. */
const char *shell_rebuild_initramfs(struct arena *arena, const struct node *node,
				    const char *release);
/* Adds ARGUMENT, which can be a list with semicolons, to the kernel command line of every later boot. */
const char *shell_add_argument(struct arena *arena, const struct node *node, const char *argument);
/* Makes the boot loader's entries again from its configuration. */
const char *shell_write_entries(const struct node *node);
/* Says which package a file belongs to. */
const char *shell_owner(struct arena *arena, const struct node *node, const char *path);

#endif
