/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpulist.h - lists of processors as the kernel writes them: 0-31,64-95 (lib/bitmap.c). */
#ifndef PARSE_CPULIST_H
#define PARSE_CPULIST_H

#include <stdbool.h>

#include "base/span.h"

struct cpulist {
	uint64_t count;
	uint64_t first; /* where count is not 0 */
};

/* Parses a list; an empty one has no processors. Returns 0 or -EINVAL. */
int cpulist_parse(struct span text, struct cpulist *list);

/* Returns true if a processor belongs to both lists. False if one of them is not understood. */
bool cpulist_overlap(struct span a, struct span b);

#endif
