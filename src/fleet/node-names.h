/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node-names.h - sets of nodes as Slurm and ClusterShell write them: gpu[001-064,070]. The last number of a name is
 * folded; zeros before it are kept. Names without a number are unchanged. Slurm does not read a suffix (n[1-2]-ib).
 */
#ifndef NODE_NAMES_H
#define NODE_NAMES_H

#include "base/span.h"
#include "fleet/fleet.h"
#include "fleet/node-set.h"

struct node_name {
	struct span before, number, after; /* number: empty, or of at most 18 digits */
	uint64_t value;
	const char *whole;
	size_t node;
};

struct node_names {
	struct node_name *sorted;
	size_t count;
};

void node_names_init(struct node_names *names, const struct fleet *fleet);
void node_names_free(struct node_names *names);
#define _cleanup_node_names_ _cleanup_(node_names_free)
/* Returns a new text; "" for an empty set. */
char *node_names_fold(const struct node_names *names, const struct node_set *nodes);

#endif
