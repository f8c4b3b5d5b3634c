/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module-block.h - what in modprobe's configuration or on the kernel command line keeps a module from being
 * loaded, which several rules say of one that is missing. */
#ifndef MODULE_BLOCK_H
#define MODULE_BLOCK_H

#include "facts/facts.h"

/* "blacklist nvidia in /etc/modprobe.d/x.conf:3", and the path of the FACT that says so; NULL: nothing that is
 * known of. NAME is written with underscores. */
const char *module_block_find(struct arena *arena, const struct node *node, const char *name,
			      const char **fact);

#endif
