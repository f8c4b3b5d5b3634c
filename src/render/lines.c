/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.c - a line for each thing that is wrong, the worst first: the first one alone is a reason for
 * draining the node, and nothing is written for a node that is well. */
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "render/render.h"

#define LISTED 4

/* The same is said of several subjects, or is missing for several rules: one line for all. */
static bool same_line(const struct report *r, const struct finding *a, const struct finding *b)
{
	const struct gap *gap;

	if (a == b)
		return true;
	if (a->answer.verdict == VERDICT_UNKNOWN && b->answer.verdict == VERDICT_UNKNOWN) {
		gap = report_gap(r, a);
		if (gap && gap == report_gap(r, b))
			return true;
	}
	return a->rule == b->rule && a->answer.verdict == b->answer.verdict &&
	       same_text(a->answer.observed, b->answer.observed);
}

static bool is_first(const struct report *r, const struct finding *f)
{
	for_each(other, &r->findings) {
		if (other == f)
			return true;
		if (!other->off && same_line(r, other, f))
			return false;
	}
	return true;
}

/* The subjects of all that F's line stands for, or (with RULES) their rules, each once. */
static const char *list(const struct report *r, const struct finding *f, bool rules)
{
	const char *text = "", *last = NULL;
	size_t count = 0;

	for_each(other, &r->findings) {
		const char *word = rules ? other->rule->id : other->answer.subject;

		if (!word || other->off || !same_line(r, other, f) || (rules && word == last))
			continue;
		last = word;
		if (count++ < LISTED)
			text = arena_printf(r->arena, "%s%s%s", text, *text ? ", " : "", word);
	}
	if (count > LISTED)
		text = arena_printf(r->arena, "%s and %zu more", text, count - LISTED);
	return text;
}

const char *render_subjects(const struct report *r, const struct finding *f)
{
	return list(r, f, false);
}

/* Text of a finding goes into lines of others' formats. */
static const char *one_line(const struct report *r, const char *text)
{
	char *copy = arena_strdup(r->arena, text);

	for (char *p = copy; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	return copy;
}

/* What is missing comes first; it is what to look at. */
static const char *unknown_reason(const struct report *r, const struct finding *f)
{
	const struct gap *gap = report_gap(r, f);
	const char *fact = f->answer.evidence[0];

	if (gap)
		return arena_printf(r->arena, "unknown: %s: %s (for %s)", gap->path.value,
				    gap->why.value, list(r, f, true));
	return arena_printf(r->arena, "unknown: %s (for %s)",
			    f->answer.observed ? f->answer.observed
			    : fact	       ? fact
					       : f->rule->title,
			    f->rule->id);
}

const char *render_reason(const struct report *r, const struct finding *f)
{
	const char *subjects = render_subjects(r, f), *text = f->answer.observed;

	if (f->answer.verdict == VERDICT_UNKNOWN)
		return one_line(r, unknown_reason(r, f));
	if (f->answer.verdict == VERDICT_PENDING) {
		text = arena_printf(r->arena, "pending: %s", text ? text : f->rule->title);
	}
	return one_line(r, arena_printf(r->arena, "%s%s%s: %s", f->rule->id, *subjects ? " " : "",
					subjects, text ? text : f->rule->title));
}

const struct finding *render_next(const struct report *r, const struct finding *after)
{
	static const enum verdict order[] = { VERDICT_FAIL, VERDICT_PENDING, VERDICT_UNKNOWN };
	bool begun = !after;

	for (size_t v = 0; v < sizeof(order) / sizeof(order[0]); v++)
		for (int severity = SEVERITY_CRIT; severity >= SEVERITY_INFO; severity--)
			for_each(f, &r->findings) {
				if (f->off || f->answer.verdict != order[v] ||
				    (int)f->severity != severity)
					continue;
				if (begun && is_first(r, f))
					return f;
				begun |= f == after;
			}
	return NULL;
}

enum exit_status render_report_lines(const struct report *report, enum exit_status status)
{
	for (const struct finding *f = render_next(report, NULL); f; f = render_next(report, f))
		puts(render_reason(report, f));
	return finish_output(status);
}
