/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff.h - the differences between nodes: for each fact the values that there are and the nodes that have them, and
 * which nodes differ from most.
 */
#ifndef DIFF_H
#define DIFF_H

#include <stdint.h>

#include "facts/facts.h"
#include "fleet/fleet.h"
#include "fleet/node-set.h"

/* Facts with more values than this are each node's own in all but name. */
#define DIFF_VALUES_MAX 32

struct diff_value {
	char *text;
	struct node_set nodes;
};

struct diff_key {
	char *path;
	bool own;      /* not compared */
	bool various;  /* more than DIFF_VALUES_MAX values */
	bool presence; /* an item of a list: who has it, "there" alone as value */
	struct diff_value *values;
	size_t count;

	/* The place of this key without its path: the key above, and the field in it. In a list it is the item's
	 * name, which is in the path, followed by a bracket. */
	const struct diff_key *above;
	const struct field *field;
	const char *item;
	struct diff_key *next; /* what came after it in the node before */
	size_t last;	       /* the value that was said last */
	bool numbered;	       /* it was a number: */
	uint64_t number;
};

struct diff {
	size_t nodes;	   /* files, by which nodes are numbered */
	size_t unreadable; /* of them: no node */
	struct diff_key **keys;
	size_t count, room;
	struct diff_key **index; /* by the hash of the path */
	size_t slots;
	uint64_t secret[2];   /* of that hash */
	struct diff_key root; /* above all others */
};

void diff_init(struct diff *diff, size_t nodes);
void diff_free(struct diff *diff);
/* Takes in what one node's facts say; nodes come by rising numbers. */
void diff_add(struct diff *diff, size_t node, const struct node *facts);

/* diff-merge.c: between a worker and who takes its table in; workers come by rising numbers of their nodes. */
int diff_write(const struct diff *diff, FILE *out);
int diff_merge(struct diff *diff, FILE *in);

/* The key with that path; where there is none a new one, or NULL. */
struct diff_key *diff_key(struct diff *diff, const char *path);
struct diff_key *diff_find_key(const struct diff *diff, const char *path);
/* The value with that text, a new one where there is none; NULL: there are too many. */
struct diff_value *diff_value(struct diff_key *key, const char *text);
void diff_free_values(struct diff_key *key);
void diff_sort_values(struct diff_key *key); /* by how many nodes have them */

/* diff-finish.c. When all is in: only what differs stays, sorted by path, values by how many have them. */
void diff_finish(struct diff *diff);
/* The value that more than half of the nodes that say it have; NULL: none. */
const struct diff_value *diff_majority(const struct diff_key *key);
/* Returns for each node the number of facts that differ from the majority. The caller frees it. */
size_t *diff_odd(const struct diff *diff);

#endif
