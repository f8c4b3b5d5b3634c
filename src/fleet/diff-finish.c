/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff-finish.c - computes the differences from all values, and the nodes with most of them. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fleet/diff.h"

#define MISSING "not there"

/* The nodes that know the number of items of the list, and lack this item. HERE has room for all nodes. */
static void add_missing(struct diff *diff, struct diff_key *key, bool *here)
{
	char *list = memory_need(strdup(key->path));
	struct diff_key *above;
	char *bracket = strrchr(list, '[');

	if (bracket)
		*bracket = '\0';
	above = diff_find_key(diff, list);
	free(list);
	if (!above || key->count != 1 || key->values[0].nodes.nodes == diff->nodes)
		return;
	memset(here, 0, diff->nodes * sizeof(*here));
	for (size_t i = 0; i < above->count; i++)
		for_each_node(node, &above->values[i].nodes) here[node] = true;
	for_each_node(node, &key->values[0].nodes) here[node] = false;
	for (uint32_t node = 0; node < diff->nodes; node++)
		if (here[node])
			diff_add_nodes(diff, diff_value(diff, key, MISSING),
				       (struct node_run){ node, node + 1 });
}

static int compare_values(const void *a, const void *b)
{
	const struct diff_value *x = a, *y = b;
	size_t n = x->nodes.nodes, m = y->nodes.nodes;

	return n != m ? (n < m) - (n > m) : strcmp(x->text, y->text);
}

void diff_sort_values(struct diff_key *key)
{
	if (key->count)
		qsort(key->values, key->count, sizeof(*key->values), compare_values);
}

static int compare_keys(const void *a, const void *b)
{
	const struct diff_key *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

static void add_all_missing(struct diff *diff)
{
	bool *here = memory_need(malloc((diff->nodes + 1) * sizeof(*here)));

	for (size_t i = 0; i < diff->count; i++)
		if (diff->keys[i]->presence)
			add_missing(diff, diff->keys[i], here);
	free(here);
}

void diff_finish(struct diff *diff)
{
	size_t kept = 0;

	add_all_missing(diff);
	free(diff->index);
	diff->index = NULL;
	diff->slots = 0;
	for (size_t i = 0; i < diff->count; i++) {
		struct diff_key *key = diff->keys[i];

		if (key->own || (key->count < 2 && !key->various)) {
			diff_free_values(diff, key);
			free(key->path);
			free(key);
			continue;
		}
		diff_sort_values(key);
		diff->keys[kept++] = key;
	}
	diff->count = kept;
	if (kept)
		qsort(diff->keys, kept, sizeof(*diff->keys), compare_keys);
}

const struct diff_value *diff_majority(const struct diff_key *key)
{
	size_t all = 0;

	for (size_t i = 0; i < key->count; i++)
		all += key->values[i].nodes.nodes;
	return key->count && key->values[0].nodes.nodes * 2 > all ? &key->values[0] : NULL;
}

size_t *diff_odd(const struct diff *diff)
{
	size_t *odd = memory_need(calloc(diff->nodes + 1, sizeof(*odd)));

	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_key *key = diff->keys[i];
		const struct diff_value *most = diff_majority(key);

		/* The first is the one that most have. */
		for (size_t k = 1; most && k < key->count; k++)
			for_each_node(node, &key->values[k].nodes) odd[node]++;
	}
	return odd;
}
