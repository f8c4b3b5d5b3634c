/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unknowns.c - what could not be told: by what would make it known, and then by reason, since one
 * reason often leaves many rules open, and one remedy answers many reasons. */
#include <string.h>

#include "render/render.h"

#define LABEL 10
#define INDENT 5

struct reason {
	const char *path; /* what could not be read; NULL: the reason says it */
	bool others;	  /* and more of its kind, for the same reason */
	const char *why;
	const char *to_know;	 /* NULL: nothing that is known would help */
	const char *rules;	 /* that it leaves open, with commas */
	const struct rule *last; /* of those */
};

struct reasons {
	LIST(struct reason) items;
};

static const char *how_to_know(const struct gap *gap)
{
	if (str_is(gap->error, "EACCES") || str_is(gap->error, "EPERM"))
		return "run as root";
	if (str_is(gap->error, "ELIBACC"))
		return "install the library";
	/* probe_hides_host() */
	if (str_is(gap->error, "ENODATA") && str_starts(gap->why, "a container"))
		return "run it on the host, or with --root on the host's files";
	if (str_is(gap->error, "ENODATA"))
		return "look at the node itself, or at a more complete copy of it";
	return NULL;
}

static struct reason reason_of(const struct report *report, const struct finding *f)
{
	const struct gap *gap = f->gap;
	struct reason r = { .why = f->answer.observed, .to_know = f->answer.remedy };

	if (!r.why && gap) {
		r.path = gap->path.value;
		r.why = gap->why.value;
	}
	if (!r.why)
		r.why = f->answer.evidence[0] ? arena_printf(report->arena, "%s was not read",
							     f->answer.evidence[0])
					      : "it was not read";
	if (!r.to_know && gap)
		r.to_know = how_to_know(gap);
	return r;
}

/* The same file, or one more of those that a rule reads for each GPU or NIC. */
static struct reason *find_reason(struct reasons *reasons, const struct reason *like,
				  const struct rule *rule)
{
	for_each_mut(r, &reasons->items) {
		if (!same_text(r->why, like->why) || !same_text(r->to_know, like->to_know))
			continue;
		if (same_text(r->path, like->path))
			return r;
		if (r->path && like->path && r->last == rule) {
			r->others = true;
			return r;
		}
	}
	return NULL;
}

static void collect(const struct report *report, struct reasons *reasons)
{
	for_each(f, &report->findings) {
		struct reason like, *r;

		if (f->off || f->answer.verdict != VERDICT_UNKNOWN)
			continue;
		like = reason_of(report, f);
		r = find_reason(reasons, &like, f->rule);
		if (!r) {
			r = LIST_ADD(report->arena, &reasons->items);
			*r = like;
		}
		if (r->last == f->rule) /* about another subject */
			continue;
		r->rules = r->rules ? arena_printf(report->arena, "%s, %s", r->rules, f->rule->id)
				    : f->rule->id;
		r->last = f->rule;
	}
}

static void show_reason(struct page *page, const struct reason *r, struct arena *arena)
{
	const char *why = r->why;

	if (r->path)
		why = arena_printf(arena, "%s%s: %s", r->path, r->others ? " and others" : "", why);
	page_printf(page, "%s%-*s%s", page_style(page, STYLE_BLUE), INDENT, "?",
		    page_style(page, STYLE_PLAIN));
	text_wrap(page->out, why, INDENT, INDENT, page->width);
	page_label(page, INDENT, LABEL, "unknown", r->rules);
}

static void show_those_with(struct page *page, const struct reasons *reasons, const char *to_know,
			    struct arena *arena)
{
	for_each(r, &reasons->items)
		if (same_text(r->to_know, to_know))
			show_reason(page, r, arena);
}

static bool is_first_with(const struct reasons *reasons, const struct reason *reason)
{
	for_each(r, &reasons->items)
		if (same_text(r->to_know, reason->to_know))
			return r == reason;
	return false;
}

void render_unknowns(struct page *page, const struct report *report)
{
	struct reasons reasons = { 0 };

	collect(report, &reasons);
	if (!reasons.items.count)
		return;
	page_printf(page, "\n%sWhat could not be told%s\n", page_style(page, STYLE_BOLD),
		    page_style(page, STYLE_PLAIN));
	show_those_with(page, &reasons, NULL, report->arena);
	for_each(r, &reasons.items) {
		if (!r->to_know || !is_first_with(&reasons, r))
			continue;
		page_printf(page, r == reasons.items.items ? "To know: " : "\nTo know: ");
		text_wrap(page->out, r->to_know, INDENT, (int)strlen("To know: "), page->width);
		show_those_with(page, &reasons, r->to_know, report->arena);
	}
}
