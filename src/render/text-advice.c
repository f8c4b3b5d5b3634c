/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-advice.c - the instruction for a problem, for the page. */
#include <ctype.h>
#include <string.h>

#include "query/names.h"
#include "render/text.h"

/* Returns true if a problem above has the same reason. */
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

/* Returns an instruction that follows a colon. */
static const char *after_colon(const struct view *v, const char *text)
{
	size_t word = strcspn(text, " ");

	/* Names keep their capitals. */
	for (size_t i = 0; i < word; i++)
		if (i ? !islower((unsigned char)text[i]) : !isupper((unsigned char)text[i]))
			return text;
	return arena_printf(v->report->arena, "%c%s", tolower((unsigned char)*text), text + 1);
}

/* A technician needs to know which part to repair. */
static const char *hardware_text(const struct view *v, const struct problem *p)
{
	const char *where = render_where(v->report, &p->members, LABELS_ALL);

	if (!*where || finding_action(p->first) == ACTION_NONE)
		return steps_what(v->steps, p);
	return arena_printf(v->report->arena, "For the technician, on %s: %s", where,
			    after_colon(v, steps_what(v->steps, p)));
}

/* Returns the number of the step that runs doctor as root. */
static size_t look_number(const struct steps *steps)
{
	for_each(step, &steps->items)
		if (step->kind == STEP_LOOK)
			return (size_t)(step - steps->items.items) + 1;
	return 1;
}

/* Returns the instruction with the time at which it takes effect, and why fix cannot do it. */
static const char *whole_remedy(const struct view *v, const struct step *step,
				const struct problem *p, const char *text)
{
	const char *refused = render_refused(v->steps, p);

	return refused && !is_refused_before(v, step, p)
		       ? arena_printf(v->report->arena, "%s %s", text, refused)
		       : text;
}

const char *text_advice(const struct view *v, const struct step *step, const struct problem *p)
{
	struct arena *arena = v->report->arena;
	const char *text = steps_remedy(v->steps, p, p->first), *effect = steps_effect(v->steps, p);
	const char *whole = effect ? arena_printf(arena, "%s Takes effect %s.", text, effect)
				   : text;

	switch (steps_advice(v->steps, step, p)) {
	case ADVICE_SOLVED:
		return v->is_merged || v->problems->items.count == 1 ? NULL
								     : "Solved by this step.";
	case ADVICE_BOOT_RESTARTS_UNIT:
		return "The reboot restarts the service.";
	case ADVICE_POWER_RESETS_GPU:
		return "The power cycle resets GPUs and NVSwitches. If the problem returns, have "
		       "the board checked.";
	case ADVICE_BOOT_RESETS_GPU:
		return "The reboot resets GPUs and NVSwitches. If the problem returns, have the "
		       "board checked.";
	case ADVICE_HARDWARE:
		return hardware_text(v, p);
	case ADVICE_AFTER_BOOT:
		return arena_printf(arena, "If the boot did not solve this: %s",
				    after_colon(v, text));
	case ADVICE_PROBABLY:
		return arena_printf(arena, "Step %zu shows what to do. Probably: %s",
				    look_number(v->steps), after_colon(v, whole));
	case ADVICE_CONTAINER_IMAGE:
		whole = arena_printf(arena, "In the container's image: %s", after_colon(v, whole));
		break;
	case ADVICE_REMEDY:
		break;
	}
	return whole_remedy(v, step, p, whole);
}

struct text_lines text_other_advice(const struct view *v, const struct problem *p)
{
	struct text_lines texts = { 0 };

	if (!p->first->answer.remedy || p->waits)
		return texts;
	for_each(member, &p->members) {
		const char *text = (*member)->answer.remedy;
		bool known = !text || !*text || same_text(p->first->answer.remedy, text);

		text = known ? text : steps_remedy(v->steps, p, *member);

		for_each(other, &texts)
			known |= same_text(*other, text);
		if (!known)
			*LIST_ADD(v->report->arena, &texts) = text;
	}
	return texts;
}

/* Returns true if TEXT has the name of SUBJECT, or the file of a name like "/etc/x.conf:3". */
static bool names_subject(const struct view *v, const char *text, const char *subject)
{
	struct arena *arena = v->report->arena;
	const char *label = subject_label(v->report->node, subject, arena);
	const char *colon = *label == '/' ? strrchr(label, ':') : NULL;

	if (colon)
		label = arena_strndup(arena, label, (size_t)(colon - label));
	return strstr(text, label) != NULL;
}

const char *text_with_members(const struct view *v, const struct problem *p, const char *own,
			      const char *text)
{
	struct finding_list like = { 0 };
	const char *where;

	for_each(member, &p->members) {
		const char *subject = (*member)->answer.subject;

		if (!same_text(steps_remedy(v->steps, p, *member), own))
			continue;
		if (!subject || names_subject(v, text, subject))
			return text;
		*LIST_ADD(v->report->arena, &like) = *member;
	}
	where = like.count ? render_where(v->report, &like, 4) : "";
	return *where ? arena_printf(v->report->arena, "%s: %s", where, after_colon(v, text))
		      : text;
}
