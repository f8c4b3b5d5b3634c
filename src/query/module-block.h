/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module-block.h - finds the line of modprobe's configuration, or the kernel argument, that keeps a module from
 * being loaded.
 */
#ifndef MODULE_BLOCK_H
#define MODULE_BLOCK_H

#include "facts/facts.h"

/* "blacklist nvidia in /etc/modprobe.d/x.conf:3", and the path of the FACT that says so; NULL: nothing that is
 * known of. NAME is written with underscores. */
const char *module_block_find(struct arena *arena, const struct node *node, const char *name,
			      const char **fact);

#endif
