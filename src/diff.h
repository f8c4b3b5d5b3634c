/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff.h - what differs between nodes: for each fact the values that there are and the nodes that have
 * them, and which nodes differ from most. */
#ifndef DIFF_H
#define DIFF_H

#include <stdint.h>

#include "fleet.h"

/* Facts with more values than this are each node's own in all but name. */
#define DIFF_VALUES_MAX 32

struct diff_value {
	char *text;
	uint8_t *nodes;		/* a bit each */
	size_t count;
};

struct diff_key {
	char *path;
	bool own;		/* not compared */
	bool various;		/* more than DIFF_VALUES_MAX values */
	bool presence;		/* an item of a list: who has it, "there" alone as value */
	struct diff_value *values;
	size_t count;
};

struct diff {
	size_t nodes;
	struct diff_key *keys;
	size_t count, room;
	size_t next;		/* the key that is likely to be asked for */
	uint32_t *index;	/* hash of a path -> its place in keys, plus 1 */
	size_t slots;
};

void diff_init(struct diff *diff, size_t nodes);
void diff_free(struct diff *diff);
/* Takes in what one node's facts say. */
void diff_add(struct diff *diff, size_t node, const struct node *facts);

/* Between a worker and who takes its table in. */
int diff_write(const struct diff *diff, FILE *out);
int diff_merge(struct diff *diff, FILE *in);

/* When all is in: only what differs stays, sorted by path, values by how many have them. */
void diff_finish(struct diff *diff);

static inline bool diff_has(const struct diff_value *value, size_t node)
{
	return value->nodes[node / 8] & 1u << node % 8;
}

/* The value that more than half of the nodes that say it have; NULL: none. */
const struct diff_value *diff_majority(const struct diff_key *key);
/* For each node in how many facts it differs from the majority. The caller frees it. */
size_t *diff_odd(const struct diff *diff);

#endif
