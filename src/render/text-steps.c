/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-steps.c - the end of the report: what is to be done, in order, with the commands to paste. */
#include <string.h>

#include "query/names.h"
#include "render/text.h"

#define NUMBER 4 /* width of " 1. " */

/* As it is to be pasted: not wrapped. */
static void command(struct view *v, const char *text)
{
	struct span rest = span_of(text), line;

	while (span_cut(&rest, '\n', &line))
		if (line.n)
			page_printf(&v->page, "%*s%.*s\n", NUMBER + 4, "", SPAN_FMT(line));
}

static void sentence(struct view *v, int indent, const char *text)
{
	text_wrap(v->page.out, text, indent, 0, v->page.width);
}

static void title(struct view *v, size_t number, const char *text)
{
	page_printf(&v->page, "%2zu. ", number);
	text_wrap(v->page.out, text, NUMBER, NUMBER, v->page.width);
}

static void fix(struct view *v, size_t number, const struct step *step)
{
	title(v, number, steps_fix_text(v->steps, step));
	command(v, v->steps->fix_command);
}

/* One line for each thing to do, then its commands. */
static void problem(struct view *v, const struct problem *p)
{
	struct arena *arena = v->report->arena;
	const char *where = render_where(v->report, p, 3);
	const char *remedy = steps_what(v->steps, p), *text = finding_command(p->first);

	page_printf(&v->page, "%*s- ", NUMBER, "");
	text_wrap(v->page.out,
		  arena_printf(arena, "%s%s%s: %s", p->first->rule->id, *where ? ", " : "", where,
			       remedy),
		  NUMBER + 2, NUMBER + 2, v->page.width);
	if (text)
		command(v, text);
}

static void restart(struct view *v, size_t number, const struct step *step)
{
	const char *text = steps_restart_command(v->steps);

	title(v, number, arena_printf(v->report->arena, "%s.", steps_title(v->steps, step)));
	if (text)
		command(v, text);
	for_each(p, &step->problems)
		problem(v, *p);
}

static void refused(struct view *v)
{
	if (v->steps->plan && v->steps->plan->refused)
		sentence(v, 0,
			 arena_printf(v->report->arena,
				      "nvnodecheck fix changes nothing on this node: %s.",
				      v->steps->plan->refused));
}

/* Instructions for users without root, and for things outside this node. */
static bool needs_others(const struct view *v)
{
	const struct steps *steps = v->steps;

	return known_not(v->report->node->os.observed_uid, 0) ||
	       steps->items.items[steps->items.count - 1].kind > STEP_RESTART;
}

void text_steps(struct view *v)
{
	size_t number = 0;

	if (!v->steps->items.count)
		return;
	text_heading(v, "What to do, in this order");
	refused(v);
	for_each(step, &v->steps->items) {
		number++;
		if (step->kind == STEP_FIX) {
			fix(v, number, step);
			continue;
		}
		if (step->kind == STEP_RESTART) {
			restart(v, number, step);
			continue;
		}
		title(v, number,
		      arena_printf(v->report->arena, "%s:", steps_title(v->steps, step)));
		for_each(p, &step->problems)
			problem(v, *p);
	}
	fputc('\n', v->page.out);
	sentence(v, 0, "Why, and how to check by hand: nvnodecheck explain RULE");
	if (needs_others(v))
		fputs("To send to an administrator: nvnodecheck doctor --for provider\n",
		      v->page.out);
}
