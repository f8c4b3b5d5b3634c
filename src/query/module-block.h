/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module-block.h - finds the lines of modprobe's configuration, and the kernel arguments, that keep a module from
 * being loaded.
 */
#ifndef MODULE_BLOCK_H
#define MODULE_BLOCK_H

#include "facts/facts.h"

/* "blacklist nvidia in /etc/modprobe.d/x.conf:3", all of them joined by "and", and the path of the FACT that says
 * the first; NULL: nothing that is known of. NAME is written with underscores. */
const char *module_block_find(struct arena *arena, const struct node *node, const char *name,
			      const char **fact);

#endif
