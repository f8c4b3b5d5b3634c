/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/known-bad.h"

#include <stdint.h>
#include <string.h>

#include "parse/nvidia.h"

/* A row of the table, but for its texts: what has no pointers needs no relocation, of which every run would pay. */
struct row {
	uint8_t component, hits, severity, range;
	struct {
		uint8_t key, op;
	} conditions[CONDITIONS_MAX];
};
/* Written from data/known-bad.tsv when the program is built. */
#include "known-bad.inc"

/* The text at AT, which is then behind it; NULL: an empty one. */
static const char *take(const char **at)
{
	const char *text = *at;

	*at += strlen(text) + 1;
	return *text ? text : NULL;
}

/* In the order in which data/known-bad.awk writes them. */
static void take_texts(struct known_bad *bad, const char **at)
{
	bad->id = take(at);
	bad->from = take(at);
	bad->to = take(at);
	bad->rule = take(at);
	bad->effect = take(at);
	bad->cure = take(at);
	bad->source = take(at);
	bad->read = take(at);
	for (size_t i = 0; i < CONDITIONS_MAX && bad->conditions[i].key; i++) {
		bad->conditions[i].name = take(at);
		bad->conditions[i].values = take(at);
	}
}

static const struct known_bad *all_rows(void)
{
	static struct known_bad all[ROWS];
	const char *at = texts;

	for (size_t i = 0; !all[ROWS - 1].id && i < ROWS; i++) {
		const struct row *row = &rows[i];

		all[i] = (struct known_bad){ .component = row->component,
					     .hits = row->hits,
					     .severity = row->severity,
					     .range = row->range };
		for (size_t k = 0; k < CONDITIONS_MAX; k++) {
			all[i].conditions[k].key = row->conditions[k].key;
			all[i].conditions[k].op = row->conditions[k].op;
		}
		take_texts(&all[i], &at);
	}
	return all;
}

static bool is_in_range(const struct known_bad *row, const char *version)
{
	return (!row->from || version_compare(version, row->from) >= 0) &&
	       (!row->to || version_compare(version, row->to) < 0);
}

static void add_fact(struct known_bad_match *match, const char *fact)
{
	for (size_t i = 0; fact && i < MATCH_FACTS_MAX; i++) {
		if (match->facts[i] && strcmp(match->facts[i], fact) == 0)
			return;
		if (!match->facts[i]) {
			match->facts[i] = fact;
			return;
		}
	}
}

/* False: a condition does not hold. */
static bool may_hold(struct row_question *q, struct known_bad_match *match)
{
	const struct condition *missing = NULL;
	const char *fact = NULL;

	for (q->condition = match->row->conditions; q->condition->key; q->condition++) {
		q->fact = NULL;
		switch (condition_holds(q)) {
		case TRUTH_NO:
			return false;
		case TRUTH_UNKNOWN:
			if (!missing)
				fact = q->fact;
			missing = q->condition;
			break;
		case TRUTH_YES:
			add_fact(match, q->fact);
		}
	}
	if (!missing)
		return true;
	match->unknown = true;
	memset(match->facts, 0, sizeof(match->facts));
	add_fact(match, fact);
	return true;
}

static const char *unaffected(const struct known_bad *row, const struct component_versions *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (!is_in_range(row, all->versions[i].version))
			return all->versions[i].version;
	return NULL;
}

static void match_row(const struct row_question *asked, const struct known_bad *row,
		      const struct component_versions *all, struct known_bad_matches *matches)
{
	for (size_t i = 0; i < all->count; i++) {
		struct row_question q = *asked;
		struct known_bad_match match = {
			.row = row,
			.version = all->versions[i].version,
			.fact = all->versions[i].fact,
			.place = all->versions[i].place,
			.other = unaffected(row, all),
		};

		q.self = match.version;
		if (is_in_range(row, match.version) && may_hold(&q, &match))
			*LIST_ADD(q.arena, &matches->items) = match;
	}
}

struct known_bad_matches known_bad_find(const struct node *node, const struct endpoints *endpoints,
					struct arena *arena)
{
	struct row_question q = { .node = node, .endpoints = endpoints, .arena = arena };
	const struct known_bad *table = all_rows();
	struct known_bad_matches matches = { 0 };
	struct component_versions all;

	/* Rows of one component stand together. */
	for (size_t i = 0; i < ROWS; i++) {
		if (i == 0 || table[i].component != table[i - 1].component)
			component_find(node, table[i].component, arena, &all);
		match_row(&q, &table[i], &all, &matches);
	}
	return matches;
}

const struct known_bad *known_bad_of_rule(const struct node *node,
					  const struct endpoints *endpoints, struct arena *arena,
					  const char *rule)
{
	struct row_question q = { .node = node, .endpoints = endpoints, .arena = arena };
	const struct known_bad *table = all_rows();

	for (size_t i = 0; i < ROWS; i++) {
		struct known_bad_matches matches = { 0 };
		struct component_versions all;

		if (!table[i].rule || strcmp(table[i].rule, rule) != 0)
			continue;
		component_find(node, table[i].component, arena, &all);
		match_row(&q, &table[i], &all, &matches);
		for_each(match, &matches.items)
			if (!match->unknown && !match->other)
				return match->row;
	}
	return NULL;
}
