/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/known-bad.h"

#include <string.h>

#include "parse/nvidia.h"

/* Written from data/known-bad.tsv when the program is built. */
static const struct known_bad rows[] = {
#include "known-bad.inc"
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

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
	struct known_bad_matches matches = { 0 };
	struct component_versions all;

	/* Rows of one component stand together. */
	for (size_t i = 0; i < ROWS; i++) {
		if (i == 0 || rows[i].component != rows[i - 1].component)
			component_find(node, rows[i].component, arena, &all);
		match_row(&q, &rows[i], &all, &matches);
	}
	return matches;
}

const struct known_bad *known_bad_of_rule(const struct node *node,
					  const struct endpoints *endpoints, struct arena *arena,
					  const char *rule)
{
	struct row_question q = { .node = node, .endpoints = endpoints, .arena = arena };

	for (size_t i = 0; i < ROWS; i++) {
		struct known_bad_matches matches = { 0 };
		struct component_versions all;

		if (!rows[i].rule || strcmp(rows[i].rule, rule) != 0)
			continue;
		component_find(node, rows[i].component, arena, &all);
		match_row(&q, &rows[i], &all, &matches);
		for_each(match, &matches.items)
			if (!match->unknown && !match->other)
				return match->row;
	}
	return NULL;
}
