/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fix.c - the answers of a fix: repairs, refusals, steps. */
#include "fixes/fix.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- answers ---- */

__attribute__((format(printf, 2, 0))) static const char *format_text(struct fixing *f,
								     const char *format, va_list ap)
{
	return arena_vprintf(f->arena, format, ap);
}

void fix_does(struct fixing *f, enum activation activation, const char *format, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, format);
	text = format_text(f, format, ap);
	va_end(ap);
	f->repair->what = f->repair->what ? arena_printf(f->arena, "%s; %s", f->repair->what, text)
					  : text;
	if (activation > f->repair->activation)
		f->repair->activation = activation;
}

void fix_costs(struct fixing *f, const char *format, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, format);
	text = format_text(f, format, ap);
	va_end(ap);
	f->repair->cost = f->repair->cost ? arena_printf(f->arena, "%s %s", f->repair->cost, text)
					  : text;
}

void fix_risks(struct fixing *f)
{
	f->repair->is_risk = true;
}

void fix_then_run(struct fixing *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	f->repair->then_run = format_text(f, format, ap);
	va_end(ap);
}

bool fix_refuse(struct fixing *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (!f->repair->refused)
		f->repair->refused = format_text(f, format, ap);
	va_end(ap);
	return false;
}

void fix_waits(struct fixing *f, enum activation activation, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	if (!f->repair->refused) {
		f->repair->refused = format_text(f, format, ap);
		f->repair->activation = activation;
		f->waits = true;
	}
	va_end(ap);
}

bool fix_refuse_unread(struct fixing *f, const struct gap *gap)
{
	return fix_refuse(f, "nothing that was read needs a change, but %s could not be read: %s",
			  gap->path.value, gap->why.value);
}

bool fix_refused(const struct fixing *f)
{
	return f->repair->refused != NULL;
}

const char *fix_subject(const struct fixing *f)
{
	return f->finding->answer.subject ? f->finding->answer.subject : "";
}

const char *fix_arg(const struct fixing *f, size_t i)
{
	const struct fix_call *call = finding_fix(f->finding);

	return call && i < FIX_ARGS_MAX ? call->args[i] : NULL;
}

/* The requested report may be about a single rule. The context has all rules. */
const struct finding *fix_cause(const struct fixing *f)
{
	for_each(finding, &f->report->findings)
		if (finding->rule == f->finding->rule &&
		    same_text(finding->answer.subject, f->finding->answer.subject))
			return finding->follows_from;
	return NULL;
}

const struct finding *fix_failing(const struct fixing *f, const char *rule)
{
	for_each(finding, &f->report->findings)
		if (strcmp(finding->rule->id, rule) == 0 && finding->answer.verdict == VERDICT_FAIL)
			return finding;
	return NULL;
}

/* Returns true for a step that only changes the running system: a boot reverts it. */
static bool is_live(enum plan_step_kind kind)
{
	return kind == PLAN_LOAD_MODULE || kind == PLAN_UNLOAD_MODULE || kind == PLAN_UNIT_START ||
	       kind == PLAN_UNIT_STOP || kind == PLAN_SYSCTL || kind == PLAN_DEVICE_NODE;
}

struct plan_step *fix_step(struct fixing *f, enum plan_step_kind kind, const char *subject,
			   const char *const *argv)
{
	struct plan_step *step;

	f->repair->changes = true;
	f->repair->lasts |= !is_live(kind);
	for_each_mut(s, &f->plan->steps)
		if (s->kind == kind && same_text(s->subject, subject))
			return s;
	step = LIST_ADD(f->arena, &f->plan->steps);
	step->kind = kind;
	step->subject = subject;
	step->argv = argv;
	return step;
}

const char *const *fix_argv(struct fixing *f, const char *program, const char *a, const char *b)
{
	const char **argv = arena_alloc(f->arena, 4 * sizeof(*argv));

	argv[0] = program;
	argv[1] = a;
	argv[2] = b;
	return argv;
}
