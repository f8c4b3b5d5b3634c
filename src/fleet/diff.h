/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff.h - the differences between nodes: for each fact its values and the nodes that have them, and the nodes that
 * differ from most.
 */
#ifndef DIFF_H
#define DIFF_H

#include <stdint.h>

#include "facts/facts.h"
#include "fleet/fleet.h"
#include "fleet/node-set.h"

/* A fact with more values than this has practically a value of its own on each node. */
#define DIFF_VALUES_MAX 32

/* Most memory of one table. Nodes of a fleet are alike, so that the table of thousands takes some MiB. */
#define DIFF_BYTES_MAX (256u << 20)

struct diff_value {
	char *text;
	struct node_set nodes;
};

struct diff_key {
	char *path;
	bool own;      /* not compared */
	bool various;  /* more than DIFF_VALUES_MAX values */
	bool presence; /* an item of a list: the nodes that have it; its only value is "there" */
	struct diff_value *values;
	size_t count;

	/* The identity of this key without its path: the key above, and the field in it. In a list it is the item's
	 * name, which is in the path, followed by a bracket. */
	const struct diff_key *above;
	const struct field *field;
	const char *item;
	struct diff_key *next; /* the key after it in the node before */
	size_t last;	       /* the latest value */
	bool numbered;	       /* it was a number: */
	uint64_t number;
};

struct diff {
	size_t nodes;	   /* files; their order gives the numbers of nodes */
	size_t unreadable; /* of them: no node */
	struct diff_key **keys;
	size_t count, room;
	struct diff_key **index; /* by the hash of the path */
	size_t slots;
	uint64_t secret[2];   /* of that hash */
	size_t bytes;	      /* that its keys and values take */
	struct diff_key root; /* above all others */
};

void diff_init(struct diff *diff, size_t nodes);
void diff_free(struct diff *diff);
/* Adds the facts of one node, or with more than DIFF_BYTES_MAX a part of them. Nodes come in the order of their
 * numbers. */
void diff_add(struct diff *diff, size_t node, const struct node *facts);

/* diff-merge.c: from a worker to the process that merges its table. Workers come in the order of their nodes. */
int diff_write(const struct diff *diff, FILE *out);
/* -EFBIG: more than DIFF_BYTES_MAX. */
int diff_merge(struct diff *diff, FILE *in);

/* Returns the key with that path, a new one if necessary, or NULL. */
struct diff_key *diff_key(struct diff *diff, const char *path);
struct diff_key *diff_find_key(const struct diff *diff, const char *path);
/* Returns the value with that text, a new one if necessary; NULL: there are too many. */
struct diff_value *diff_value(struct diff *diff, struct diff_key *key, const char *text);
void diff_add_nodes(struct diff *diff, struct diff_value *value, struct node_run nodes);
void diff_free_values(struct diff *diff, struct diff_key *key);
void diff_sort_values(struct diff_key *key); /* by number of nodes */

/* diff-finish.c. Call after all additions: only differences stay, sorted by path, and values by number of nodes. */
void diff_finish(struct diff *diff);
/* Returns the value of more than half of the nodes that know it; NULL: none. */
const struct diff_value *diff_majority(const struct diff_key *key);
/* Returns for each node the number of facts that differ from the majority. The caller frees it. */
size_t *diff_odd(const struct diff *diff);

#endif
