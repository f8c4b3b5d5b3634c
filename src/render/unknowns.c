/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unknowns.c - checks that could not run, by the way to know their facts, and then by reason: one reason often leaves
 * many rules unknown, and one remedy answers many reasons. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "advice/readiness.h"
#include "render/render.h"
#include "render/text.h"

struct unknown render_unknown(const struct report *report, const struct finding *f)
{
	const struct gap *gap = f->gap;
	struct unknown u = { .why = f->answer.observed,
			     .to_check = readiness_way_to_check(report, f),
			     .needs_nvml = f->answer.needs_nvml };

	if (!u.why && gap) {
		u.path = gap->path.value;
		u.why = gap->why.value;
	}
	u.is_fact = !u.why;
	if (!u.why)
		u.why = f->answer.evidence[0] ? arena_printf(report->arena, "%s was not read",
							     f->answer.evidence[0])
					      : "it was not read";
	return u;
}

/* The same file, or one more of those that a rule reads for each GPU or NIC. */
static struct unknown *find_unknown(struct unknowns *unknowns, const struct unknown *like,
				    const struct rule *rule)
{
	for_each_mut(u, unknowns) {
		if (!same_text(u->why, like->why) || !same_text(u->to_check, like->to_check))
			continue;
		if (same_text(u->path, like->path))
			return u;
		if (u->path && like->path && u->last == rule) {
			u->others = true;
			return u;
		}
	}
	return NULL;
}

struct unknowns render_unknowns(const struct report *report)
{
	struct unknowns unknowns = { 0 };

	for_each(f, &report->findings) {
		struct unknown like, *u;

		if (f->off || f->answer.verdict != VERDICT_UNKNOWN || f->not_here)
			continue;
		like = render_unknown(report, f);
		u = find_unknown(&unknowns, &like, f->rule);
		if (!u) {
			u = LIST_ADD(report->arena, &unknowns);
			*u = like;
		}
		if (u->last == f->rule) /* about another subject */
			continue;
		u->rules = u->rules ? arena_printf(report->arena, "%s, %s", u->rules, f->rule->id)
				    : f->rule->id;
		u->last = f->rule;
		u->count++;
	}
	return unknowns;
}

/* ---- in one line ---- */

/* Of a sentence or of a part of one. */
static const char *without_stop(const struct report *r, const char *text)
{
	size_t n = strlen(text);

	return n && text[n - 1] == '.' ? arena_printf(r->arena, "%.*s", (int)n - 1, text) : text;
}

/* A sentence as a part of one. */
static const char *as_part(const struct report *r, const char *text)
{
	return arena_printf(r->arena, "%c%s", tolower((unsigned char)*text),
			    without_stop(r, text) + 1);
}

/* Returns the first of several ways; its first sentence on a page without problems, which is short. */
static const char *first_way(const struct report *r, const char *how)
{
	const char *end = strstr(how, ", or ");

	if (!end && !problems_find(r)->items.count)
		end = strstr(how, ". ");

	return end ? arena_strndup(r->arena, how, (size_t)(end - how)) : how;
}

static const char *reason_text(const struct report *r, const struct unknown *u)
{
	return u->path ? arena_printf(r->arena, "%s%s: %s", u->path, u->others ? " and others" : "",
				      u->why)
		       : u->why;
}

/* Checks that one way would answer. */
struct way {
	const struct unknown *first;
	size_t count;
};

struct ways {
	LIST(struct way);
};

/* The way for most checks comes first; of equal ones the first in the list. */
static int compare_ways(const void *a, const void *b)
{
	const struct way *left = a, *right = b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return left->first < right->first ? -1 : 1;
}

static struct ways ways_of(const struct report *r, const struct unknowns *unknowns)
{
	struct ways ways = { 0 };

	for_each(u, unknowns) {
		struct way *way = NULL;

		for_each_mut(w, &ways)
			if (same_text(w->first->to_check, u->to_check) &&
			    (u->to_check || same_text(w->first->why, u->why)))
				way = w;
		if (!way) {
			way = LIST_ADD(r->arena, &ways);
			way->first = u;
		}
		way->count += u->count;
	}
	if (ways.count)
		qsort(ways.items, ways.count, sizeof(*ways.items), compare_ways);
	return ways;
}

/* Returns the way, or the only reason if there is no way; NULL: too long for a line or two. */
static const char *way_text(const struct report *r, const struct way *way, size_t all, int width)
{
	const struct unknown *u = way->first;
	const char *reason = reason_text(r, u);

	if (u->needs_nvml && way->count == all)
		return all == 1 ? "add --nvml" : "all need --nvml";
	if (u->needs_nvml)
		return arena_printf(r->arena, "%zu %s --nvml", way->count,
				    way->count == 1 ? "check needs" : "checks need");
	if (u->to_check && *u->to_check)
		reason = first_way(r, as_part(r, u->to_check));
	else if (u->is_fact || text_columns(reason) > 2 * width)
		return NULL;
	reason = without_stop(r, reason);
	/* One way for all of them needs no number. */
	return way->count == all ? reason
				 : arena_printf(r->arena, "%zu check%s (%s)", way->count,
						way->count == 1 ? "" : "s", reason);
}

const char *render_unknown_line(const struct report *r, bool is_page, int width)
{
	struct unknowns unknowns = render_unknowns(r);
	struct ways ways = ways_of(r, &unknowns);
	size_t all = problems_unknown(r), left = 0;
	const char *text = NULL;

	if (!ways.count)
		return NULL;
	for_each(way, &ways) {
		const char *own = text ? NULL : way_text(r, way, all, width);

		if (own)
			text = own;
		else
			left += way->count;
	}
	if (text && left)
		text = arena_printf(r->arena, "%s, %zu other%s", text, left, left == 1 ? "" : "s");
	else
		text = arena_printf(r->arena, "%zu check%s%s%s", all, all == 1 ? "" : "s",
				    text ? ": " : "", text ? text : "");
	return arena_printf(r->arena, "%s (%s)", text,
			    is_page    ? "listed below"
			    : all == 1 ? "-v lists it"
				       : "-v lists them");
}
