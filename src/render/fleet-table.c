/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet-table.c - the problems of many nodes: for each rule and severity the nodes that have it. */
#include "render/fleet-table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "evaluate/report.h"

static uint16_t place_of(const struct rule *rule)
{
	size_t count;
	const struct rule *const *rules = rule_all(&count);
	uint16_t i = 0;

	while (rules[i] != rule)
		i++;
	return i;
}

/* A rule can be several problems of one node. */
struct table_item *table_items(const struct report *report, uint32_t *count)
{
	const struct problems *problems = problems_find(report);
	struct table_item *items = arena_alloc(report->arena,
					       (problems->items.count + 1) * sizeof(*items));

	*count = 0;
	for_each(p, &problems->items)
		items[(*count)++] = (struct table_item){ place_of(p->first->rule),
							 (uint8_t)p->severity, p->waits };
	return items;
}

static struct table_row *find_row(struct table *table, const struct table_item *item)
{
	struct table_row *row;
	size_t rules;

	for (size_t i = 0; i < table->count; i++)
		if (memcmp(&table->rows[i].key, item, sizeof(*item)) == 0)
			return &table->rows[i];
	if (table->count == table->room) {
		table->room = table->room ? table->room * 2 : 64;
		table->rows = memory_need(realloc(table->rows, table->room * sizeof(*table->rows)));
	}
	row = &table->rows[table->count++];
	*row = (struct table_row){ .rule = rule_all(&rules)[item->rule], .key = *item };
	return row;
}

void table_add(struct table *table, size_t node, const struct table_item *items, uint32_t count)
{
	struct node_run run = { (uint32_t)node, (uint32_t)node + 1 };

	for (uint32_t i = 0; i < count; i++)
		node_set_add(&find_row(table, &items[i])->nodes, run);
	if (count)
		node_set_add(&table->troubled, run);
}

static int compare_rows(const void *a, const void *b)
{
	const struct table_row *x = a, *y = b;

	if (x->key.waits != y->key.waits)
		return x->key.waits - y->key.waits;
	if (x->key.severity != y->key.severity)
		return y->key.severity - x->key.severity;
	if (x->nodes.nodes != y->nodes.nodes)
		return x->nodes.nodes < y->nodes.nodes ? 1 : -1;
	return strcmp(x->rule->id, y->rule->id);
}

void table_sort(struct table *table)
{
	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows), compare_rows);
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->count; i++)
		node_set_free(&table->rows[i].nodes);
	free(table->rows);
	node_set_free(&table->troubled);
	node_set_free(&table->incomplete);
	node_set_free(&table->unreadable);
	*table = (struct table){ 0 };
}
