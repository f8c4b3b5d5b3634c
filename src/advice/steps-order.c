/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps-order.c - the order of problems: that of the steps that solve them, so that the table, the steps and the
 * details have one numbering. */
#include <string.h>

#include "advice/steps-private.h"
#include "base/text.h"

/* ---- one instruction for several problems ---- */

bool steps_is_restart_alone(const struct steps *steps, const struct problem *p)
{
	const char *what = steps_what(steps, p);

	enum step_kind kind = steps_kind(steps, p);

	return (kind == STEP_RESTART || kind == STEP_POWER) && !steps_is_reset_by_boot(steps, p) &&
	       !what[text_sentence(what)] && !steps_command_of(steps, p);
}

static const char *first_change(const struct steps *steps, const struct problem *p)
{
	for_each(member, &p->members) {
		const struct plan_repair *r = steps_repair(steps, *member);

		if (r && r->what)
			return r->what;
	}
	return NULL;
}

bool steps_is_same(const struct steps *steps, const struct problem *a, const struct problem *b)
{
	enum step_kind kind = steps_kind(steps, a);

	if (a == b || kind != steps_kind(steps, b))
		return a == b;
	if (kind == STEP_FIX && steps->plan)
		return same_text(first_change(steps, a), first_change(steps, b));
	if (steps_is_restart_alone(steps, a) || steps_is_restart_alone(steps, b))
		return steps_is_restart_alone(steps, a) && steps_is_restart_alone(steps, b);
	return kind != STEP_HARDWARE && same_text(steps_what(steps, a), steps_what(steps, b)) &&
	       same_text(steps_command_of(steps, a), steps_command_of(steps, b)) &&
	       steps_waits_for(steps, a) == steps_waits_for(steps, b);
}

/* ---- the order ---- */

static int worst_of(const struct steps *steps, enum step_kind kind)
{
	int worst = -1;

	for_each(p, &steps->problems->items)
		if (steps_kind(steps, p) == kind && (int)p->severity > worst)
			worst = (int)p->severity;
	return worst;
}

/* An administrator who comes before fix is as urgent as what waits for that. */
static int urgency(const struct steps *steps, enum step_kind kind)
{
	int own = worst_of(steps, kind), waiting = worst_of(steps, STEP_FIX);

	return kind == STEP_HAND && steps_is_hand_first(steps) && waiting > own ? waiting : own;
}

/* Those that need no other: the one with the gravest problem is first. */
static void order_middle(struct steps *steps)
{
	enum step_kind *order = steps->order;

	if (steps_is_hand_first(steps)) {
		order[STEP_FIX] = STEP_HAND;
		order[STEP_HAND] = STEP_FIX;
	}
	for (int i = STEP_FIX + 1; i <= STEP_SITE; i++)
		for (int k = i; k > STEP_FIX; k--) {
			enum step_kind kind = order[k];

			if (urgency(steps, order[k - 1]) >= urgency(steps, kind))
				break;
			order[k] = order[k - 1];
			order[k - 1] = kind;
		}
}

static int index_of(const struct steps *steps, enum step_kind kind)
{
	int i = 0;

	while (steps->order[i] != kind)
		i++;
	return i;
}

/* KIND comes directly after AFTER, which is before it. */
static void move_up(struct steps *steps, enum step_kind kind, enum step_kind after)
{
	int to = index_of(steps, after) + 1, from = index_of(steps, kind);

	memmove(&steps->order[to + 1], &steps->order[to],
		(size_t)(from - to) * sizeof(steps->order[0]));
	steps->order[to] = kind;
}

void steps_order(struct steps *steps)
{
	for (int i = 0; i < STEP_KINDS; i++)
		steps->order[i] = (enum step_kind)i;
	order_middle(steps);
	/* What a user without root can do comes before what others do. */
	if (steps_is_not_root(steps))
		move_up(steps, STEP_JOB, STEP_FINAL);
	if (steps_is_hardware_first(steps))
		move_up(steps, STEP_HARDWARE, STEP_POWER);
	if (steps_is_host_first(steps)) {
		move_up(steps, STEP_PROVIDER, STEP_BOOT);
		move_up(steps, STEP_HOST, STEP_BOOT);
	}
}

#define PLACES 3 /* in a step */

/* A unit is restarted after all corrections of its files. */
static int place_by_hand(const struct steps *steps, const struct problem *p)
{
	return steps_is_unit_restart(p) ? 2 : steps_refused(steps, p) != NULL;
}

/* Returns the place of P: in its step, what fix refuses and what only needs the restart is last. */
static int place(const struct steps *steps, const struct problem *p)
{
	enum step_kind kind = steps_kind(steps, p);
	int last = kind == STEP_HAND ? place_by_hand(steps, p) : steps_is_restart_alone(steps, p);

	return PLACES * index_of(steps, kind) + last;
}

static bool is_before(const struct steps *steps, const struct problem *a, const struct problem *b)
{
	int first = place(steps, a), second = place(steps, b);

	if (first != second)
		return first < second;
	if (a->waits != b->waits)
		return b->waits;
	if (a->severity != b->severity)
		return a->severity > b->severity;
	return a->wrong_data && !b->wrong_data;
}

static void insert(struct problem *items, uint32_t from, uint32_t to)
{
	struct problem moved = items[from];

	memmove(&items[to + 1], &items[to], (from - to) * sizeof(*items));
	items[to] = moved;
}

/* Sorts by insertion: there are few, and equal ones keep their order. */
void steps_sort(struct steps *steps)
{
	struct problems *sorted = arena_alloc(steps->report->arena, sizeof(*sorted));
	struct problem *items;
	uint32_t count = steps->problems->items.count;

	*sorted = *steps->problems;
	items = arena_alloc(steps->report->arena, (count + 1) * sizeof(*items));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t to = i;

		items[i] = steps->problems->items.items[i];
		while (to && is_before(steps, &items[i], &items[to - 1]))
			to--;
		insert(items, i, to);
	}
	/* Problems with the same instruction are side by side. */
	for (uint32_t i = 0; i + 1 < count; i++)
		for (uint32_t k = i + 1; k < count; k++)
			if (steps_is_same(steps, &items[i], &items[k]))
				insert(items, k, ++i);
	sorted->items.items = items;
	steps->problems = sorted;
}

unsigned int steps_number(const struct steps *steps, const struct problem *problem)
{
	unsigned int number = 0;

	if (steps->problems->items.count < 2)
		return 0;
	for_each(p, &steps->problems->items) {
		number++;
		if (p == problem)
			return number;
	}
	return 0;
}
