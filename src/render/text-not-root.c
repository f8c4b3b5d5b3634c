/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-not-root.c - what a user without root can do, and the request to send for the rest. */
#include "render/text.h"

/* Returns "step 1" or "steps 1 and 2", which a user without root can do; NULL: none. */
static const char *own_steps(const struct view *v)
{
	struct arena *arena = v->report->arena;
	size_t job = 0, container = 0;

	for_each(step, &v->steps->items) {
		size_t number = (size_t)(step - v->steps->items.items) + 1;

		if (step->kind == STEP_JOB)
			job = number;
		if (step->kind == STEP_CONTAINER)
			container = number;
	}
	if (job && container)
		return arena_printf(arena, "steps %zu and %zu", job, container);
	return job || container ? arena_printf(arena, "step %zu", job ? job : container) : NULL;
}

bool text_are_all_own(const struct steps *steps)
{
	for_each(step, &steps->items)
		if (step->kind != STEP_JOB && step->kind != STEP_CONTAINER &&
		    step->kind != STEP_CHECK && step->kind != STEP_FINAL)
			return false;
	return true;
}

/* Returns true if a step has the command that writes the request. */
static bool has_letter_step(const struct steps *steps)
{
	for_each(step, &steps->items)
		if (step->kind == STEP_HOST || step->kind == STEP_PROVIDER)
			return true;
	return false;
}

void text_not_root(struct view *v)
{
	struct arena *arena = v->report->arena;
	const char *own = own_steps(v);
	const char *text = "The repairs need an administrator";

	if (!known_not(v->report->node->os.observed_uid, 0) || text_are_all_own(v->steps))
		return;
	if (own && v->options->brief)
		text = "You can change the job settings yourself. The repairs need an administrator";
	else if (own)
		text = arena_printf(
			arena, "You can do %s yourself. The other repairs need an administrator",
			own);
	if (has_letter_step(v->steps) && !v->is_long) {
		text_wrap(v->page.out, arena_printf(arena, "You are not root. %s.", text), 0, 0,
			  v->page.width);
		return;
	}
	text_wrap(v->page.out,
		  arena_printf(
			  arena,
			  "You are not root. %s. This writes a request that you can send:", text),
		  0, 0, v->page.width);
	page_printf(&v->page, "%*s%s\n", COMMAND, "", v->steps->letter_command);
}
