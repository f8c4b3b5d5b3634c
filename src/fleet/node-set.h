/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node-set.h - a set of nodes of a fleet, by their numbers, as runs of neighbours. Nodes are much alike, so a set
 * mostly is a single run with few gaps. Memory grows with the number of differences between a node and the one before
 * it, not with the number of nodes.
 */
#ifndef NODE_SET_H
#define NODE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node_run {
	uint32_t first;
	uint32_t after; /* the number after the last one */
};

struct node_set {
	struct node_run *runs; /* in order, with gaps between them */
	uint32_t count, room;
	size_t nodes; /* in all of them */
};

/* Adds RUN, which must not begin before the last node of the set. */
void node_set_add(struct node_set *set, struct node_run run);
bool node_set_is(const struct node_set *a, const struct node_set *b);
void node_set_free(struct node_set *set);

#define for_each_node(node, set)                                                                   \
	for (const struct node_run *run_ = (set)->runs; run_ < (set)->runs + (set)->count; run_++) \
		for (size_t node = run_->first; node < run_->after; node++)

#endif
