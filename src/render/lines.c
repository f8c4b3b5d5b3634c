/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.c - a line for each thing that is wrong, the worst first: the first one alone is a reason for
 * draining the node, and nothing is written for a node that is well. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "render/render.h"

#define SUBJECTS_SHOWN 4

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The same is said of several subjects: one line for all. */
static bool same_line(const struct finding *a, const struct finding *b)
{
	return a->rule == b->rule && a->answer.verdict == b->answer.verdict &&
	       same_text(a->answer.observed, b->answer.observed);
}

static bool is_first(const struct report *r, const struct finding *f)
{
	for_each(other, &r->findings) {
		if (other == f)
			return true;
		if (same_line(other, f))
			return false;
	}
	return true;
}

const char *render_subjects(const struct report *r, const struct finding *f)
{
	const char *text = "";
	size_t count = 0;

	for_each(other, &r->findings) {
		if (!same_line(other, f) || !other->answer.subject || other->off)
			continue;
		if (count++ < SUBJECTS_SHOWN)
			text = arena_printf(r->arena, "%s%s%s", text, *text ? ", " : "",
					    other->answer.subject);
	}
	if (count > SUBJECTS_SHOWN)
		text = arena_printf(r->arena, "%s and %zu more", text, count - SUBJECTS_SHOWN);
	return text;
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

const char *render_reason(const struct report *r, const struct finding *f)
{
	const char *subjects = render_subjects(r, f), *text = f->answer.observed;
	const struct gap *gap;

	if (f->answer.verdict == VERDICT_UNKNOWN) {
		gap = report_gap(r, f);
		text = gap ? arena_printf(r->arena, "unknown: %s: %s", gap->path.value, gap->why.value)
			   : arena_printf(r->arena, "unknown: %s",
					  text		   ? text
					  : f->answer.evidence[0] ? f->answer.evidence[0]
								  : f->rule->title);
	} else if (f->answer.verdict == VERDICT_PENDING) {
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
