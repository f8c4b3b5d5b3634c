/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * problems.c - a report's failures as a person counts them: one for each rule whatever number of devices it names, and
 * what follows from another failure folded under that one.
 */
#include "evaluate/problems.h"

/* A table of causes that holds a circle must not hang a report. */
#define CAUSES_MAX 8

static const struct finding *root_of(const struct finding *f)
{
	for (int i = 0; i < CAUSES_MAX && f->follows_from; i++)
		f = f->follows_from;
	return f;
}

static bool is_shown(const struct finding *f)
{
	return !f->off && finding_is_problem(f);
}

/* Returns true if A and B share one line of a report, because they have the same remedy. */
static bool is_same(const struct finding *a, const struct finding *b)
{
	if (a->answer.is_alone || b->answer.is_alone)
		return a == b;
	return a->rule == b->rule && a->answer.verdict == b->answer.verdict &&
	       same_text(finding_title(a), finding_title(b)) &&
	       finding_repaired_by(a) == finding_repaired_by(b) &&
	       finding_action(a) == finding_action(b);
}

static struct problem *find(struct problems *problems, const struct finding *f)
{
	for_each_mut(p, &problems->items)
		if (is_same(p->first, f))
			return p;
	return NULL;
}

static struct problem *find_or_add(struct problems *problems, const struct finding *f,
				   struct arena *arena)
{
	struct problem *p = find(problems, f);

	if (p)
		return p;
	p = LIST_ADD(arena, &problems->items);
	p->first = f;
	p->waits = f->answer.verdict == VERDICT_PENDING;
	return p;
}

static void collect(struct problems *problems, const struct report *report)
{
	for_each(f, &report->findings) {
		struct problem *p;

		if (!is_shown(f) || root_of(f) != f)
			continue;
		p = find_or_add(problems, f, report->arena);
		*LIST_ADD(report->arena, &p->members) = f;
		p->severity = f->severity > p->severity ? f->severity : p->severity;
		p->wrong_data |= f->rule->wrong_data || f->answer.wrong_data;
	}
	for_each(f, &report->findings) {
		struct problem *p = is_shown(f) && root_of(f) != f ? find(problems, root_of(f))
								   : NULL;

		if (!p)
			continue;
		*LIST_ADD(report->arena, &p->follows) = f;
		p->severity = f->severity > p->severity ? f->severity : p->severity;
	}
}

/* Orders problems of one severity: those that only a hardware repair can solve come first, because they can make the
 * others pointless. */
static int rank(const struct problem *p)
{
	bool final = finding_repaired_by(p->first) == BY_HARDWARE &&
		     finding_action(p->first) == ACTION_NONE;

	return 2 * ((p->waits ? 0 : SEVERITY_CRIT + 1) + (int)p->severity) + final;
}

/* Few, and those of equal rank stay in their order. */
static void sort(struct problems *problems)
{
	for (uint32_t i = 1; i < problems->items.count; i++)
		for (uint32_t k = i; k > 0; k--) {
			struct problem *p = &problems->items.items[k], swap = *p;

			if (rank(&p[-1]) >= rank(p))
				break;
			*p = p[-1];
			p[-1] = swap;
		}
}

const struct problems *problems_find(const struct report *report)
{
	struct problems *problems = arena_alloc(report->arena, sizeof(*problems));

	collect(problems, report);
	sort(problems);
	for_each(p, &problems->items) {
		problems->waiting += p->waits;
		problems->count[p->severity] += !p->waits;
	}
	return problems;
}

static size_t count_unknown(const struct report *report, bool not_here)
{
	const struct rule *last = NULL;
	size_t count = 0;

	for_each(f, &report->findings) {
		if (f->off || f->answer.verdict != VERDICT_UNKNOWN || f->rule == last ||
		    f->not_here != not_here)
			continue;
		last = f->rule;
		count++;
	}
	return count;
}

size_t problems_unknown(const struct report *report)
{
	return count_unknown(report, false);
}

size_t problems_not_here(const struct report *report)
{
	return count_unknown(report, true);
}
