/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unknowns.c - checks that could not run, by the way to know their facts, and then by reason: one reason often leaves
 * many rules unknown, and one remedy answers many reasons. */
#include <ctype.h>
#include <string.h>

#include "render/render.h"
#include "render/text.h"

static const char *how_to_check(const struct report *report, const struct gap *gap)
{
	if (str_is(gap->error, "EACCES") || str_is(gap->error, "EPERM"))
		return known_is(report->node->os.observed_uid, 0)
			       ? "find in the audit log what denied root: SELinux, AppArmor or a missing capability"
			       : "run as root";
	if (str_is(gap->error, "ELIBACC"))
		return "install the library";
	/* probe_hides_host() */
	if (str_is(gap->error, "ENODATA") && str_starts(gap->why, "a container"))
		return "run it on the host, or with --root on the host's files";
	if (str_is(gap->error, "ENODATA"))
		return "read the live node, or a more complete copy";
	return NULL;
}

struct unknown render_unknown(const struct report *report, const struct finding *f)
{
	const struct gap *gap = f->gap;
	struct unknown u = { .why = f->answer.observed, .to_check = f->answer.remedy };

	if (!u.why && gap) {
		u.path = gap->path.value;
		u.why = gap->why.value;
	}
	u.is_fact = !u.why;
	if (!u.why)
		u.why = f->answer.evidence[0] ? arena_printf(report->arena, "%s was not read",
							     f->answer.evidence[0])
					      : "it was not read";
	if (!u.to_check && gap)
		u.to_check = how_to_check(report, gap);
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

/* The rules that would be answered if U were known. */
static size_t answered(const struct unknowns *unknowns, const struct unknown *u)
{
	size_t count = 0;

	for_each(other, unknowns)
		if (same_text(other->to_check, u->to_check))
			count += other->count;
	return count;
}

/* The requests that answer most rules, with the reason of most of them. */
static const struct unknown *main_one(const struct unknowns *unknowns)
{
	const struct unknown *best = NULL;

	for_each(u, unknowns) {
		size_t own = answered(unknowns, u), most = best ? answered(unknowns, best) : 0;

		if (best && best->to_check && !u->to_check)
			continue;
		if (!best || (u->to_check && !best->to_check) || own > most ||
		    (own == most && u->count > best->count))
			best = u;
	}
	return best;
}

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

const char *render_unknown_line(const struct report *r, bool is_page, int width)
{
	struct unknowns unknowns = render_unknowns(r);
	const struct unknown *u = main_one(&unknowns);
	size_t all = problems_unknown(r), own;
	const char *head, *tail = "", *how;
	int room;

	if (!u)
		return NULL;
	own = answered(&unknowns, u);
	head = is_page ? arena_printf(r->arena, "%zu (listed below)", all)
		       : arena_printf(r->arena, "%zu (-v lists %s)", all, all == 1 ? "it" : "them");
	how = u->to_check && *u->to_check ? first_way(r, as_part(r, u->to_check)) : NULL;
	if (how)
		tail = own < all ? arena_printf(r->arena, " For %zu of them: %s.", own, how)
				 : arena_printf(r->arena, " For %s: %s.", all == 1 ? "it" : "them",
						how);
	room = width - text_columns(head) - text_columns(tail) - 3;
	/* Without a way to know the facts, there is only the reason: it gets a second line. A fact's name adds nothing
	 * here. */
	if (u->is_fact || text_columns(reason_text(r, u)) > (*tail ? room : 2 * width))
		return arena_printf(r->arena, "%s.%s", head, tail);
	return arena_printf(r->arena, "%s: %s.%s", head, without_stop(r, reason_text(r, u)), tail);
}
