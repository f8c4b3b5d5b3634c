/* SPDX-License-Identifier: GPL-2.0-or-later */
/* majority.c - the values that most nodes of a fleet have, for all keys of [expect]. */
#include "fleet/majority.h"

#include <stdlib.h>
#include <string.h>

/* The first character of a text in the table. */
#define VALUE '='
#define REASON '#'

struct adding {
	struct diff *table;
	const struct node *facts;
	struct arena *arena;
	struct node_run node;
};

static void add_key(void *user, const struct expect_key *row, const char *name,
		    const char *argument)
{
	struct adding *a = user;
	struct diff_key *key = diff_key(a->table, name);
	struct expect_look look;
	const char *reason = NULL, *value;
	struct diff_value *said;

	key->own = false; /* that is said of paths */
	if (key->various)
		return;
	expect_read_value(row, argument, a->facts, a->arena, &look);
	value = expect_line_value(row, name, &look, &reason);
	said = diff_value(
		a->table, key,
		arena_printf(a->arena, "%c%s", value ? VALUE : REASON, value ? value : reason));
	if (said)
		diff_add_nodes(a->table, said, a->node);
}

void majority_add(struct diff *table, size_t node, const struct node *facts, struct arena *arena)
{
	struct adding adding = { .table = table,
				 .facts = facts,
				 .arena = arena,
				 .node = { (uint32_t)node, (uint32_t)node + 1 } };

	expect_each_key(facts, arena, add_key, &adding);
}

struct said majority_value(const struct majority *majority, size_t i)
{
	const struct diff_value *value = &majority->key->values[i];

	return (struct said){ value->text + 1, *value->text == VALUE, value->nodes.nodes };
}

/* The firmware keeps some of the memory, not always the same: rounded down, alike nodes have N or N + 1. */
static bool is_same(const struct expect_key *row, const char *wanted, const char *value)
{
	return strcmp(wanted, value) == 0 ||
	       (row->kind == EXPECT_AT_LEAST &&
		strtoull(value, NULL, 10) == strtoull(wanted, NULL, 10) + 1);
}

bool majority_agrees(const struct majority *majority, const char *value)
{
	return is_same(majority->row, majority->value, value);
}

static size_t count_same(const struct majority *majority, const char *wanted)
{
	size_t nodes = 0;

	for (size_t i = 0; i < majority->key->count; i++) {
		struct said said = majority_value(majority, i);

		if (said.is_value && is_same(majority->row, wanted, said.text))
			nodes += said.nodes;
	}
	return nodes;
}

/* Finds the value of most nodes; if two have equally many, the first one. */
static void find_value(struct majority *majority, size_t nodes)
{
	for (size_t i = 0; i < majority->key->count; i++) {
		struct said said = majority_value(majority, i);
		size_t same = said.is_value ? count_same(majority, said.text) : 0;

		if (same * 2 <= nodes || same <= majority->nodes)
			continue;
		majority->value = said.text;
		majority->nodes = same;
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct diff_key *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

void majority_find(struct diff *table, size_t nodes, majority_each *call, void *user)
{
	const char *argument;

	/* The index leads to the keys themselves, in whatever order they are. */
	if (table->count)
		qsort(table->keys, table->count, sizeof(*table->keys), compare_names);
	for (const struct expect_key *row = expect_keys; row->key; row++)
		for (size_t i = 0; i < table->count; i++) {
			struct majority majority = { .name = table->keys[i]->path,
						     .row = row,
						     .key = table->keys[i] };

			if (expect_find(majority.name, &argument) != row)
				continue;
			diff_sort_values(table->keys[i]);
			find_value(&majority, nodes);
			call(user, &majority);
		}
}
