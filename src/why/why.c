/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * why.c - compares a log with a node: the rules that could explain the failures of the log, their findings on this
 * node, and the differences between log and node.
 */
#include "why/why.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- hosts ---- */

/* "gpu01" and "gpu01.example.com" are one host: programs print either. */
static bool is_same_host(const char *a, const char *b)
{
	size_t n = strcspn(a, "."), m = strcspn(b, ".");

	return n == m && n && strncasecmp(a, b, n) == 0;
}

bool why_is_own(const struct why *why, uint32_t host)
{
	return host != JOB_NOBODY && why->name &&
	       is_same_host(why->job->hosts.items[host].name, why->name);
}

static uint32_t find_own_host(const struct why *why)
{
	for (uint32_t i = 0; i < why->job->hosts.count; i++)
		if (why_is_own(why, i))
			return i;
	return JOB_NOBODY;
}

static enum why_whose whose(const struct why *why, uint32_t host)
{
	if (host == JOB_NOBODY || !why->name)
		return WHY_UNKNOWN;
	return why_is_own(why, host) ? WHY_OWN : WHY_OTHER;
}

/* ---- events ---- */

static void sort_events(struct why *why)
{
	struct arena *arena = why->report->arena;

	why->decisive = job_decisive(why->job);
	for_each(e, &why->job->events) {
		if (job_event_is_survived(e))
			*LIST_ADD(arena, &why->survived) = e;
		else if (e->message->kind == MESSAGE_CONSEQUENCE && !why->decisive)
			why->decisive = e;
		else if (e->message->kind == MESSAGE_CONSEQUENCE)
			*LIST_ADD(arena, &why->consequences) = e;
		else if (e->message->kind == MESSAGE_FALLBACK)
			*LIST_ADD(arena, &why->fallbacks) = e;
		else if (e != why->decisive)
			*LIST_ADD(arena, &why->failures) = e;
	}
	if (why->decisive)
		why->whose = whose(why, why->decisive->first.host);
}

/* A consequence needs a failure before it. */
static void find_unrecognised(struct why *why)
{
	const struct job_place *place = &why->job->unrecognised;

	if (!place->line || job_decisive(why->job) ||
	    (why->decisive && why->decisive->first.line < place->line))
		return;
	why->unrecognised = place;
	why_find_related(why, place->text);
}

/* A topic names the rules of many lines. The words of this line can be more specific. */
static void find_related_to_topic(struct why *why)
{
	if (why->decisive && why->decisive->message->when)
		why_find_related(why, why->decisive->first.text);
}

/* ---- rules ---- */

/* Where the log names a rule: by which message, and the rule's number in the list of that message. If several messages
 * name the rule, the first of them counts. The smallest naming is that of the likeliest explanation. */
struct naming {
	enum {
		NAMED_BY_FIRST, /* the decisive message */
		NAMED_BY_FAILURE,
		NAMED_BY_FALLBACK,
		NAMED_BY_WORDS, /* the rule shares words with a line: see related.c */
		NAMED_BY_NOTHING,
	} by;
	uint32_t message; /* its number in its list */
	uint32_t rule;
};

static int compare_namings(struct naming a, struct naming b)
{
	if (a.by != b.by)
		return a.by < b.by ? -1 : 1;
	if (a.message != b.message)
		return a.message < b.message ? -1 : 1;
	return (a.rule > b.rule) - (a.rule < b.rule);
}

/* Sets NAMING if MESSAGE names the rule ID. */
static bool is_named(struct naming *naming, const struct message *message, const char *id)
{
	int rule = message_names_rule(message, id);

	if (rule < 0)
		return false;
	naming->rule = (uint32_t)rule;
	return true;
}

/* A decisive message that is known by its words only and names no rule has the rules of its consequences. */
static bool is_named_by_first(const struct why *why, struct naming *naming, const char *id)
{
	const struct message *first = why->decisive ? why->decisive->message : NULL;

	if (!first)
		return false;
	if (is_named(naming, first, id))
		return true;
	if (first->when && !first->rules)
		for_each(e, &why->consequences)
			if (is_named(naming, (*e)->message, id))
				return true;
	return false;
}

static struct naming naming_of(const struct why *why, const char *id)
{
	struct naming naming = { NAMED_BY_FIRST };

	if (is_named_by_first(why, &naming, id))
		return naming;
	naming.by = NAMED_BY_FAILURE;
	for (; naming.message < why->failures.count; naming.message++)
		if (is_named(&naming, why->failures.items[naming.message]->message, id))
			return naming;
	naming = (struct naming){ NAMED_BY_FALLBACK };
	for (; naming.message < why->fallbacks.count; naming.message++)
		if (is_named(&naming, why->fallbacks.items[naming.message]->message, id))
			return naming;
	naming = (struct naming){ NAMED_BY_WORDS };
	for (; naming.rule < why->related.count; naming.rule++)
		if (strcmp(why->related.items[naming.rule]->id, id) == 0)
			return naming;
	return (struct naming){ NAMED_BY_NOTHING };
}

/* A problem is named by its own rule or by one that follows from it: then the problem is the cause. */
static struct naming naming_of_problem(const struct why *why, const struct problem *problem)
{
	struct naming naming = naming_of(why, problem->first->rule->id);

	for_each(f, &problem->follows) {
		struct naming other = naming_of(why, (*f)->rule->id);

		if (compare_namings(other, naming) < 0)
			naming = other;
	}
	return naming;
}

struct named_problem {
	struct naming naming;
	const struct problem *problem; /* in the report's list */
};

static int compare_named(const void *a, const void *b)
{
	const struct named_problem *x = a, *y = b;
	int order = compare_namings(x->naming, y->naming);

	return order ? order : (x->problem > y->problem) - (x->problem < y->problem);
}

static void add_problem(struct why *why, const struct problem *problem)
{
	*LIST_ADD(why->report->arena, &why->problems.items) = *problem;
	why->problems.count[problem->severity] += !problem->waits;
	why->problems.waiting += problem->waits;
}

/* A rule that explains a slower path does not explain a failure. Words that a line shares with a rule explain nothing:
 * beside a message with a meaning they are not worth a problem. */
static void find_problems(struct why *why)
{
	const struct problems *all = problems_find(why->report);
	struct named_problem *named = arena_alloc(why->report->arena,
						  (all->items.count + 1) * sizeof(*named));
	uint32_t count = 0;

	for_each(p, &all->items) {
		struct naming naming = naming_of_problem(why, p);

		if (naming.by == NAMED_BY_NOTHING || (why->decisive && naming.by == NAMED_BY_WORDS))
			continue;
		named[count++] = (struct named_problem){ naming, p };
		why->explaining += naming.by <=
				   (why->decisive ? NAMED_BY_FAILURE : NAMED_BY_FALLBACK);
		why->explaining_first += why->decisive && naming.by == NAMED_BY_FIRST;
	}
	qsort(named, count, sizeof(*named), compare_named);
	for (uint32_t i = 0; i < count; i++)
		add_problem(why, named[i].problem);
}

/* The answers of one rule, from FIRST on, which are in a row. */
struct answers {
	const struct finding *by[VERDICT_NOT_APPLICABLE + 1]; /* the first of each verdict */
};

static const struct finding *take_answers(const struct report *report, const struct finding *first,
					  struct answers *answers)
{
	const struct finding *end = report->findings.items + report->findings.count, *f;

	for (f = first; f < end && f->rule == first->rule; f++)
		if (!f->off && !answers->by[f->answer.verdict])
			answers->by[f->answer.verdict] = f;
	return f;
}

/* A rule is only ruled out if it has no failure, no unknown and no note for any device. */
static void sort_answers(struct why *why, const struct answers *a)
{
	struct arena *arena = why->report->arena;

	if (a->by[VERDICT_NOTE])
		*LIST_ADD(arena, &why->notes) = a->by[VERDICT_NOTE];
	if (a->by[VERDICT_FAIL] || a->by[VERDICT_PENDING])
		return;
	if (a->by[VERDICT_UNKNOWN])
		*LIST_ADD(arena, &why->unknown) = a->by[VERDICT_UNKNOWN];
	else if (a->by[VERDICT_PASS] && !a->by[VERDICT_NOTE])
		*LIST_ADD(arena, &why->passed) = a->by[VERDICT_PASS];
	else if (a->by[VERDICT_NOT_APPLICABLE])
		*LIST_ADD(arena, &why->inapplicable) = a->by[VERDICT_NOT_APPLICABLE];
}

/* The rule that the first message names first comes first. */
static void sort_findings(const struct why *why, const struct finding **list, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct finding *f = list[i];
		struct naming naming = naming_of(why, f->rule->id);
		uint32_t k = i;

		for (; k > 0 && compare_namings(naming_of(why, list[k - 1]->rule->id), naming) > 0;
		     k--)
			list[k] = list[k - 1];
		list[k] = f;
	}
}

static void find_answers(struct why *why)
{
	const struct report *report = why->report;
	const struct finding *f = report->findings.items, *end = f + report->findings.count;

	while (f < end) {
		struct answers answers = { 0 };
		bool named = naming_of(why, f->rule->id).by != NAMED_BY_NOTHING;

		f = take_answers(report, f, &answers);
		if (named)
			sort_answers(why, &answers);
	}
	sort_findings(why, why->passed.items, why->passed.count);
	sort_findings(why, why->inapplicable.items, why->inapplicable.count);
}

static const char *own_name(const struct node *node)
{
	return is_known(node->os.hostname) ? node->os.hostname.value : NULL;
}

const struct why *why_make(const struct job *job, const struct report *report, const char *name)
{
	struct why *why = arena_alloc(report->arena, sizeof(*why));

	why->job = job;
	why->report = report;
	why->name = name ? name : own_name(report->node);
	why->own_host = find_own_host(why);
	sort_events(why);
	find_unrecognised(why);
	find_related_to_topic(why);
	find_problems(why);
	find_answers(why);
	why_find_differences(why);
	why_find_odd(why);
	return why;
}

bool why_is_of_others(const struct why *why)
{
	return why->whose == WHY_OTHER ||
	       (why->name && why->own_host == JOB_NOBODY && why->job->hosts.count);
}

bool why_is_explained(const struct why *why)
{
	return why->explaining && !(why->decisive && why_is_of_others(why));
}

enum exit_status why_status(const struct why *why)
{
	if (why_is_explained(why))
		return EXIT_FINDINGS;
	if (why->job->read != JOB_READ_WHOLE)
		return EXIT_INCOMPLETE;
	return why->decisive && !why->job->is_undecided ? EXIT_INCOMPLETE : EXIT_WELL;
}
