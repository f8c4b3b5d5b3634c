/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loads.h - reads the section loads: whether the modules that are chosen by name can be loaded. */
#ifndef LOADS_H
#define LOADS_H

#include "facts/facts.h"
#include "host/host.h"

/* Returns true if the module NAME, with underscores, is to be read. The modules that it needs are read with it. */
typedef bool loads_wanted(const struct node *node, const char *name);

/* Reads for the kernel of NODE, whose sections os and pci are filled. Returns 0, or a negative errno if modules.dep
 * could not be read. */
int loads_read(struct host *host, const struct node *node, loads_wanted *wanted,
	       struct arena *arena, struct loads_facts *facts);

#endif
