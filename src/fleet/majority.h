/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * majority.h - the values that most nodes of a fleet have, for all keys of [expect]. It is counted in the table of
 * diff.h, with a key of [expect] as the path of a fact. A node that does not know a value agrees with none.
 */
#ifndef MAJORITY_H
#define MAJORITY_H

#include "evaluate/expect.h"
#include "fleet/diff.h"

/* The answer of a node for one key: a value, or the reason why it has none. */
struct said {
	const char *text;
	bool is_value;
	size_t nodes;
};

struct majority {
	const char *name; /* as a configuration writes it */
	const struct expect_key *row;
	const char *value;	    /* of more than half of all nodes; NULL: none */
	size_t nodes;		    /* that have it */
	const struct diff_key *key; /* all answers, by decreasing number of nodes */
};

/* Adds the answers of one node. Nodes come in the order of their numbers. */
void majority_add(struct diff *table, size_t node, const struct node *facts, struct arena *arena);

/* Called for each row, in the order of expect_keys and by name within a key. NODES counts the nodes that were read. */
typedef void majority_each(void *user, const struct majority *majority);
void majority_find(struct diff *table, size_t nodes, majority_each *call, void *user);

/* Answer number I. */
struct said majority_value(const struct majority *majority, size_t i);
/* Returns true if a node with this value would satisfy the line. */
bool majority_agrees(const struct majority *majority, const char *value);

#endif
