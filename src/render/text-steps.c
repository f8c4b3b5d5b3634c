/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-steps.c - the end of the report: what is to be done, in order, with the commands to paste. */
#include <string.h>

#include "query/names.h"
#include "render/text.h"

#define NUMBER 4 /* width of " 1. " */

/* As it is to be pasted: not wrapped. */
static void command(struct view *v, int indent, const char *text)
{
	struct span rest = span_of(text), line;

	while (span_cut(&rest, '\n', &line))
		if (line.n)
			page_printf(&v->page, "%*s%.*s\n", indent, "", SPAN_FMT(line));
}

static void sentence(struct view *v, int indent, int at, const char *text)
{
	text_wrap(v->page.out, text, indent, at, v->page.width);
}

static void title(struct view *v, size_t number, const char *text)
{
	page_printf(&v->page, "%2zu. ", number);
	text_wrap(v->page.out, text, NUMBER, NUMBER, v->page.width);
}

/* "[1, 4] " of the problems for which it is done, "" for the only one; the text begins beside it. */
static int numbers(struct view *v, const char *list)
{
	const char *text = *list ? arena_printf(v->report->arena, "[%s] ", list) : "";

	return page_printf(&v->page, "%*s%s", NUMBER, "", text);
}

static const char *list_number(struct view *v, const char *list, const struct problem *p)
{
	unsigned int number = steps_number(v->steps, p);

	return number ? arena_printf(v->report->arena, "%s%s%u", list, *list ? ", " : "", number)
		      : "";
}

/* One thing that the program changes, and the problems that this repairs. */
struct change {
	const char *what, *numbers;
	const char *effect; /* NULL: a step of its own says it */
	const char *cost;   /* in a sentence, or NULL */
	const struct problem *last;
};

struct changes_list {
	enum fact_state state;
	uint32_t count;
	struct change *items;
};

static struct change *find_change(struct changes_list *list, const char *what)
{
	for_each_mut(change, list)
		if (strcmp(change->what, what) == 0)
			return change;
	return NULL;
}

static void add_changes(struct view *v, struct changes_list *list, const struct problem *p)
{
	for_each(member, &p->members) {
		const struct plan_repair *r = steps_repair(v->steps, *member);
		struct change *change;

		if (!r || !r->what)
			continue;
		change = find_change(list, r->what);
		if (!change) {
			change = LIST_ADD(v->report->arena, list);
			*change = (struct change){ .what = r->what,
						   .numbers = "",
						   .effect = steps_effect(v->steps, p),
						   .cost = r->cost };
		}
		if (change->last != p)
			change->numbers = list_number(v, change->numbers, p);
		change->last = p;
	}
}

static void show_changes(struct view *v, const struct step *step)
{
	struct changes_list list = { 0 };

	for_each(p, &step->problems)
		add_changes(v, &list, *p);
	for_each(change, &list) {
		int at = numbers(v, change->numbers);

		sentence(v, at, at,
			 change->effect ? arena_printf(v->report->arena, "%s (takes effect %s)",
						       change->what, change->effect)
					: change->what);
		if (change->cost)
			sentence(v, at, 0,
				 arena_strndup(v->report->arena, change->cost,
					       text_sentence(change->cost)));
	}
}

static bool is_one_sentence(const char *text)
{
	return !text[text_sentence(text)];
}

static bool is_same_advice(const struct view *v, const struct problem *a, const struct problem *b)
{
	return same_text(steps_what(v->steps, a), steps_what(v->steps, b)) &&
	       same_text(finding_command(a->first), finding_command(b->first)) &&
	       same_text(steps_effect(v->steps, a), steps_effect(v->steps, b));
}

static bool is_advised_before(const struct view *v, const struct step *step,
			      const struct problem *problem)
{
	for_each(p, &step->problems) {
		if (*p == problem)
			return false;
		if (is_same_advice(v, *p, problem))
			return true;
	}
	return false;
}

/* The reason was given already. */
static bool is_refused_before(const struct view *v, const struct step *step,
			      const struct problem *problem)
{
	for_each(p, &step->problems) {
		if (*p == problem)
			return false;
		if (same_text(render_refused(v->steps, *p), render_refused(v->steps, problem)))
			return true;
	}
	return false;
}

/* The problems that one instruction is for, where there are several in the report. Where it begins. */
static int titles(struct view *v, const struct step *step, const struct problem *problem)
{
	int at = NUMBER;

	for_each(p, &step->problems) {
		const char *number = list_number(v, "", *p);

		if (!*number || !is_same_advice(v, *p, problem))
			continue;
		at = numbers(v, number);
		sentence(v, at, at, text_title(v, *p, v->page.width - at));
	}
	return at;
}

/* What is to be done about it, and the commands for that. */
static void advice(struct view *v, const struct step *step, const struct problem *p)
{
	const char *refused = render_refused(v->steps, p);
	const char *effect = steps_effect(v->steps, p), *text = finding_command(p->first);
	const char *what = steps_what(v->steps, p);
	int at = titles(v, step, p);

	if (steps_is_blind(v->steps, p))
		text = NULL;

	/* Of what only waits for the restart there is no more to say. */
	if (step->kind == STEP_RESTART && is_one_sentence(what) && !text)
		return;
	if (effect)
		what = arena_printf(v->report->arena, "%s Takes effect %s.", what, effect);
	sentence(v, at, 0, what);
	if (refused && !is_refused_before(v, step, p))
		sentence(v, at, 0, refused);
	if (text)
		command(v, at > NUMBER ? 3 * NUMBER : 2 * NUMBER, text);
}

static void refused(struct view *v)
{
	if (v->steps->plan && v->steps->plan->refused)
		sentence(v, 0, 0,
			 arena_printf(v->report->arena,
				      "nvnodecheck fix changes nothing on this node: %s.",
				      v->steps->plan->refused));
}

/* Instructions for users without root, and for things outside this node. */
static bool needs_others(const struct view *v)
{
	bool others = known_not(v->report->node->os.observed_uid, 0);

	for_each(step, &v->steps->items)
		others |= step->kind > STEP_RESTART && step->kind < STEP_CHECK;
	return others;
}

static void step_text(struct view *v, size_t number, const struct step *step)
{
	const char *text = steps_command(v->steps, step);

	if (step->kind == STEP_FIX)
		title(v, number, steps_fix_text(v->steps, step));
	else
		title(v, number,
		      arena_printf(v->report->arena, "%s%s", steps_title(v->steps, step),
				   step->problems.count || text ? ":" : "."));
	if (text)
		command(v, 2 * NUMBER, text);
	if (step->kind == STEP_FIX) {
		show_changes(v, step);
		return;
	}
	for_each(p, &step->problems)
		if (!is_advised_before(v, step, *p))
			advice(v, step, *p);
}

void text_steps(struct view *v)
{
	size_t number = 0;

	if (!v->steps->items.count)
		return;
	text_heading(v, "What to do, in this order");
	refused(v);
	for_each(step, &v->steps->items)
		step_text(v, ++number, step);
	fputc('\n', v->page.out);
	if (needs_others(v))
		fputs("No root? Send your administrator the output of nvnodecheck doctor --for provider\n",
		      v->page.out);
	fputs("Why, and how to check by hand: nvnodecheck explain RULE\n", v->page.out);
}
