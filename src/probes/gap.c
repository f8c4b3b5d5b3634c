/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gap.c - the list of what could not be read, in the node. */
#include "probes/gap.h"

#include "host/host.h"

void gap_add(struct node *node, struct arena *arena, const char *probe, const char *path, int error,
	     const char *why)
{
	struct gap *gap;

	for_each(g, &node->gaps)
		if (str_is(g->path, path) && str_is(g->probe, probe))
			return;
	if (node->gaps.count == GAPS_MAX)
		return;
	gap = LIST_ADD(arena, &node->gaps);
	gap->path = fact_str(arena, path);
	gap->error = fact_str(arena, host_error_word(error));
	gap->why = fact_str(arena, node->gaps.count == GAPS_MAX ? "and more, not listed" : why);
	gap->probe = fact_str(arena, probe);
}

bool gap_has_any(const struct node *node, const char *probe)
{
	for_each(g, &node->gaps)
		if (str_is(g->probe, probe))
			return true;
	return false;
}
