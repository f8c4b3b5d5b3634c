/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node-set.c - a set of nodes of a fleet, by their numbers, as runs of neighbours. */
#include "fleet/node-set.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void node_set_add(struct node_set *set, struct node_run run)
{
	struct node_run *last = set->count ? &set->runs[set->count - 1] : NULL;

	if (last && run.first <= last->after) {
		if (run.after <= last->after)
			return;
		set->nodes += run.after - last->after;
		last->after = run.after;
		return;
	}
	if (set->count == set->room) {
		set->room = set->room ? set->room * 2 : 1;
		set->runs = memory_need(realloc(set->runs, set->room * sizeof(*set->runs)));
	}
	set->nodes += run.after - run.first;
	set->runs[set->count++] = run;
}

bool node_set_is(const struct node_set *a, const struct node_set *b)
{
	return a->count == b->count &&
	       (!a->count || memcmp(a->runs, b->runs, a->count * sizeof(*a->runs)) == 0);
}

void node_set_free(struct node_set *set)
{
	free(set->runs);
	*set = (struct node_set){ 0 };
}
