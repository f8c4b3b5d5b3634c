/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * expect.h - what an [expect] section can say of a node. One table: node/expectation is evaluated with it,
 * `nvnodecheck expect` prints a section from it, and a test holds nvnodecheck.conf.example and
 * nvnodecheck.conf(5) to it.
 *
 * A key looks at one or several values of the node (every GPU's model, every active port's rate).
 * What is expected of them is one or several alternatives, separated by commas: each value has to
 * fit one of them. An alternative that begins with "8 x " has to fit exactly eight values.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include "facts/facts.h"

/* Bytes of a line of a configuration: inih cuts longer ones in two without a word (INI_MAX_LINE of the
 * distributions' builds). */
#define EXPECT_LINE_MAX 199

enum expect_kind {
	EXPECT_NUMBER,	 /* 8, >=8, 4..8 */
	EXPECT_AT_LEAST, /* a number that the value must reach */
	EXPECT_VERSION,	 /* 580.159.04, 580, 580.*, >=570 <590, 570..580 */
	EXPECT_WORD,	 /* one of those that the key names */
	EXPECT_TEXT,	 /* what the value contains */
	EXPECT_MOUNT,	 /* TYPE [OPTION...] [from=SOURCE] */
};
extern const char *const expect_kind_help[]; /* how each is compared, for people */

struct expect_seen {
	const char *subject; /* GPU, RDMA device, port; NULL: the node */
	enum fact_state state;
	const char *value;
	const char *fact; /* path */
};

struct expect_look {
	const struct node *node;
	struct arena *arena;
	const char *argument; /* of a key such as sysctl.NAME */
	LIST(struct expect_seen) seen;
	const char *none; /* what to say when nothing is seen: "no RDMA device" */
};

struct expect_key {
	const char *key; /* "sysctl.NAME": what follows the dot is its argument */
	enum expect_kind kind;
	const char *words;   /* EXPECT_WORD: those there are */
	const char *example; /* KEY = VALUE, as in nvnodecheck.conf.example */
	const char *reads;   /* path of the facts */
	const char *help;
	void (*look)(struct expect_look *look);
	/* For keys with an argument: returns the next argument that is useful on this node, beginning with I = 0;
	 * NULL at the end. */
	const char *(*argument)(const struct node *node, uint32_t *i, struct arena *arena);
	/* Returns NULL, or why the argument is not valid. */
	const char *(*refuse)(const char *argument);
};
extern const struct expect_key expect_keys[]; /* ends with a NULL key */

/* The row of KEY as a configuration writes it, and its argument or NULL. */
const struct expect_key *expect_find(const char *key, const char **argument);
/* NULL, or the kind of value that is expected instead of VALUE. */
const char *expect_refuse(const struct expect_key *key, const char *value);
void expect_read_value(const struct expect_key *key, const char *argument, const struct node *node,
		       struct arena *arena, struct expect_look *look);
/* Calls CALL for every key that a configuration could set for NODE, in the order of the table. NAME is the key as a
 * configuration writes it. */
typedef void expect_each(void *user, const struct expect_key *key, const char *name,
			 const char *argument);
void expect_each_key(const struct node *node, struct arena *arena, expect_each *call, void *user);
/* Returns true if one value matches an alternative of WANTED. WHICH, unless it is NULL, gets its number. */
bool expect_fits(const struct expect_key *key, const char *value, const char *wanted,
		 size_t *which);
/* Gets the number of values that alternative WHICH must match. Returns false when any number will do, or when there
 * is no such alternative. */
bool expect_count(const char *wanted, size_t which, uint64_t *count);
/* Returns the value for a configuration that matches exactly what LOOK has seen; NULL when something is unknown,
 * when nothing was seen, or when one line cannot express it. */
const char *expect_value(const struct expect_key *key, const struct expect_look *look);
/* Like expect_value(), for a line "NAME = VALUE". Returns NULL with REASON set when such a line cannot hold the
 * value. */
const char *expect_line_value(const struct expect_key *key, const char *name,
			      const struct expect_look *look, const char **reason);

#endif
