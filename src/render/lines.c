/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines.c - a line for each problem, the worst first. The first line alone is a reason for draining the node. A node
 * without problems has no line. */
#include <stdio.h>

#include "base/escape.h"
#include "base/output.h"
#include "query/names.h"
#include "render/render.h"

#define LISTED 4

/* Returns true if both findings fit one line: the same text about several subjects, or the same gap of several
 * rules. */
static bool same_line(const struct finding *a, const struct finding *b)
{
	if (a == b)
		return true;
	if (a->answer.verdict != b->answer.verdict)
		return false;
	return (a->gap && a->gap == b->gap) ||
	       (a->rule == b->rule && same_text(a->answer.observed, b->answer.observed));
}

static bool is_first(const struct report *r, const struct finding *f)
{
	for_each(other, &r->findings) {
		if (other == f)
			return true;
		if (!other->off && same_line(other, f))
			return false;
	}
	return true;
}

static bool is_listed(const struct finding *f, const struct finding *other)
{
	return !other->off && same_line(other, f);
}

/* The rules of all findings of F's line, each once. */
static const char *rules(const struct report *r, const struct finding *f)
{
	const struct rule *last = NULL;
	const char *text = "";
	size_t count = 0;

	for_each(other, &r->findings) {
		if (!is_listed(f, other) || other->rule == last)
			continue;
		last = other->rule;
		if (count++ < LISTED)
			text = arena_printf(r->arena, "%s%s%s", text, *text ? ", " : "", last->id);
	}
	if (count > LISTED)
		text = arena_printf(r->arena, "%s and %zu more", text, count - LISTED);
	return text;
}

/* The subjects of all findings of F's line, in the form for people or as in the facts. */
static const char *subjects(const struct report *r, const struct finding *f, bool names)
{
	const char **labels = arena_alloc(r->arena, (r->findings.count + 1) * sizeof(*labels));
	size_t count = 0;

	for_each(other, &r->findings) {
		const char *subject = other->answer.subject;

		if (subject && is_listed(f, other))
			labels[count++] = names ? subject_label(r->node, subject, r->arena)
						: subject;
	}
	if (count == 1 && names)
		return subject_name(r->node, f->answer.subject, r->arena);
	return labels_join(labels, count, LISTED, r->arena);
}

const char *render_subjects(const struct report *r, const struct finding *f)
{
	return subjects(r, f, false);
}

/* Begins with the missing file, because a person must start there. */
static const char *unknown_reason(const struct report *r, const struct finding *f)
{
	const struct gap *gap = f->gap;
	const char *fact = f->answer.evidence[0];

	if (gap)
		return arena_printf(r->arena, "unknown: %s: %s (for %s)", gap->path.value,
				    gap->why.value, rules(r, f));
	return arena_printf(r->arena, "unknown: %s (for %s)",
			    f->answer.observed ? f->answer.observed
			    : fact	       ? fact
					       : finding_title(f),
			    f->rule->id);
}

const char *render_reason(const struct report *r, const struct finding *f)
{
	const char *where = subjects(r, f, true), *text = f->answer.observed;

	if (f->answer.verdict == VERDICT_UNKNOWN)
		return unknown_reason(r, f);
	if (f->answer.verdict == VERDICT_PENDING) {
		text = arena_printf(r->arena, "pending: %s", text ? text : finding_title(f));
	}
	return arena_printf(r->arena, "%s%s%s: %s", f->rule->id, *where ? " " : "", where,
			    text ? text : finding_title(f));
}

/* The position of the finding in the output, from 1; 0: it is not shown. */
static int rank(const struct finding *f)
{
	static const int verdicts[] = {
		[VERDICT_FAIL] = 1,
		[VERDICT_PENDING] = 2,
		[VERDICT_UNKNOWN] = 3,
		[VERDICT_NOT_APPLICABLE] = 0,
	};
	int verdict = verdicts[f->answer.verdict];

	return verdict && !f->off ? verdict * (SEVERITY_CRIT + 1) - (int)f->severity : 0;
}

/* Findings of equal rank keep the report's order. */
static bool is_behind(const struct finding *f, const struct finding *other)
{
	return rank(f) > rank(other) || (rank(f) == rank(other) && f > other);
}

const struct finding *render_next(const struct report *r, const struct finding *after)
{
	const struct finding *next;

	do {
		next = NULL;
		for_each(f, &r->findings)
			if (rank(f) && (!after || is_behind(f, after)) &&
			    (!next || is_behind(next, f)))
				next = f;
		after = next;
	} while (next && !is_first(r, next));
	return next;
}

enum exit_status render_report_lines(const struct report *report, enum exit_status status)
{
	for (const struct finding *f = render_next(report, NULL); f; f = render_next(report, f))
		escape_printf(stdout, SINK_TERMINAL, "%s\n", render_reason(report, f));
	return finish_output(status);
}

/* ---- a line for a node ---- */

/* The worst finding that decides the verdict, without information; NULL for none. */
static const struct finding *worst(const struct report *r)
{
	const struct finding *f = render_next(r, NULL);

	while (f && f->answer.verdict != r->verdict)
		f = render_next(r, f);
	return f;
}

void render_report_line(const char *name, const struct report *r)
{
	const struct finding *first = worst(r);
	size_t failed = r->count[VERDICT_FAIL];

	/* The reason of an unknown begins with that word. */
	if (r->verdict == VERDICT_UNKNOWN && first)
		escape_printf(stdout, SINK_TERMINAL, "%s: %s", name, render_reason(r, first));
	else if (first)
		escape_printf(stdout, SINK_TERMINAL, "%s: %s: %s", name, verdict_words[r->verdict],
			      render_reason(r, first));
	else
		escape_printf(stdout, SINK_TERMINAL, "%s: %s", name, verdict_words[r->verdict]);
	if (failed > 1)
		printf(" (of %zu that failed)", failed);
	putchar('\n');
}
