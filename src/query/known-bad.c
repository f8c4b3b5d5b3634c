/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known-bad.c - finds the versions with known defects (data/known-bad.tsv) that a node has. */
#include "query/known-bad.h"

#include <stdint.h>
#include <string.h>

#include "base/packed.h"
#include "parse/version.h"

/* A row of the table, and where its texts begin. It has no pointers: every run would relocate those. */
struct row {
	uint8_t component, hits, severity, range;
	struct {
		uint8_t key, op;
	} conditions[CONDITIONS_MAX];
	uint32_t text;
};
/* Written from data/known-bad.tsv when the program is built. */
#include "known-bad.inc"

/* The first texts of a row: they decide whether the others are needed. */
struct row_head {
	const char *rule, *from, *to;
};

/* Moves AT after them. */
static struct row_head take_head(const char **at)
{
	struct row_head head;

	head.rule = packed_optional(at);
	head.from = packed_optional(at);
	head.to = packed_optional(at);
	return head;
}

static void unpack_condition(const struct row *row, size_t i, const char **at,
			     struct condition *condition)
{
	condition->key = row->conditions[i].key;
	condition->op = row->conditions[i].op;
	condition->name = packed_optional(at);
	condition->values = packed_text(at);
}

/* In the order in which data/known-bad.awk writes the texts. */
static const struct known_bad *unpack_row(const struct row *row, struct arena *arena)
{
	struct known_bad *bad = arena_alloc(arena, sizeof(*bad));
	const char *at = texts + row->text;
	struct row_head head = take_head(&at);

	*bad = (struct known_bad){ .component = row->component,
				   .from = head.from,
				   .to = head.to,
				   .hits = row->hits,
				   .severity = row->severity,
				   .range = row->range,
				   .rule = head.rule };
	bad->id = packed_text(&at);
	bad->effect = packed_text(&at);
	bad->cure = packed_text(&at);
	bad->source = packed_text(&at);
	bad->read = packed_text(&at);
	for (size_t i = 0; i < CONDITIONS_MAX && row->conditions[i].key; i++)
		unpack_condition(row, i, &at, &bad->conditions[i]);
	return bad;
}

static bool is_in_range(const struct row_head *row, const char *version)
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

/* The versions that are in the range of a row; another, which is not; or NULL. */
struct affected {
	size_t count;
	const struct component_version *versions[COMPONENT_VERSIONS_MAX];
	const char *other;
};

static struct affected find_affected(const struct row *row, const struct component_versions *all)
{
	const char *at = texts + row->text;
	struct row_head head = take_head(&at);
	struct affected affected = { 0 };

	for (size_t i = 0; i < all->count; i++)
		if (is_in_range(&head, all->versions[i].version))
			affected.versions[affected.count++] = &all->versions[i];
		else if (!affected.other)
			affected.other = all->versions[i].version;
	return affected;
}

static void match_row(const struct row_question *asked, const struct row *row,
		      const struct component_versions *all, struct known_bad_matches *matches)
{
	struct affected affected = { 0 };
	const struct known_bad *bad;

	if (all->count)
		affected = find_affected(row, all);
	if (!affected.count)
		return;
	bad = unpack_row(row, asked->arena);
	for (size_t i = 0; i < affected.count; i++) {
		struct row_question q = *asked;
		struct known_bad_match match = {
			.row = bad,
			.version = affected.versions[i]->version,
			.fact = affected.versions[i]->fact,
			.place = affected.versions[i]->place,
			.other = affected.other,
		};

		q.self = match.version;
		if (may_hold(&q, &match))
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

/* Of a row without a severity, another rule than software/known-bad decides. */
static bool is_of_rule(const struct row *row, const char *rule)
{
	const char *at = texts + row->text;

	return row->severity == DEFECT_ELSEWHERE && strcmp(packed_text(&at), rule) == 0;
}

const struct known_bad *known_bad_of_rule(const struct node *node,
					  const struct endpoints *endpoints, struct arena *arena,
					  const char *rule)
{
	struct row_question q = { .node = node, .endpoints = endpoints, .arena = arena };

	for (size_t i = 0; i < ROWS; i++) {
		struct known_bad_matches matches = { 0 };
		struct component_versions all;

		if (!is_of_rule(&rows[i], rule))
			continue;
		component_find(node, rows[i].component, arena, &all);
		match_row(&q, &rows[i], &all, &matches);
		for_each(match, &matches.items)
			if (!match->unknown && !match->other)
				return match->row;
	}
	return NULL;
}
