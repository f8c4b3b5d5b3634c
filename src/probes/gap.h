/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gap.h - the list of what could not be read, in the node. */
#ifndef GAP_H
#define GAP_H

#include "base/arena.h"
#include "facts/facts.h"

#define GAPS_MAX 512 /* more are counted in the last one */

/* Adds a gap of the probe named PROBE, unless the list has it or is full. ERROR is a negative errno. */
void gap_add(struct node *node, struct arena *arena, const char *probe, const char *path, int error,
	     const char *why);
/* Returns true if the list has a gap of PROBE. */
bool gap_has_any(const struct node *node, const char *probe);

#endif
