/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet-table.h - the problems of many nodes: for each rule and severity the nodes that have it. */
#ifndef FLEET_TABLE_H
#define FLEET_TABLE_H

#include "evaluate/problems.h"
#include "fleet/node-set.h"

/* One problem of one node, in the form that a worker writes. */
struct table_item {
	uint16_t rule; /* its place in rule_all() */
	uint8_t severity;
	uint8_t waits;
};

struct table_row {
	const struct rule *rule;
	struct table_item key;
	struct node_set nodes;
};

struct table {
	struct table_row *rows;
	size_t count, room;
	size_t nodes; /* that were read */
	size_t verdicts[VERDICT_NOT_APPLICABLE + 1];
	struct node_set troubled;   /* with a problem of any severity */
	struct node_set incomplete; /* without one, and with checks that could not run */
	struct node_set unreadable;
};

/* The problems of REPORT in its arena. */
struct table_item *table_items(const struct report *report, uint32_t *count);
/* Nodes come by rising numbers. */
void table_add(struct table *table, size_t node, const struct table_item *items, uint32_t count);
/* The worst first, waiting ones last; within a severity by decreasing number of nodes. */
void table_sort(struct table *table);
void table_free(struct table *table);

#endif
