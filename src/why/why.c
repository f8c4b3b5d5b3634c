/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "why/why.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NO_PLACE (-1)

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

/* A rule that several messages name has the place that it has in the first of them. */
#define PLACES 64

static int place_in(const struct job_event *event, const char *id, int before)
{
	int place = message_names_rule(event->message, id);

	return place == NO_PLACE ? NO_PLACE : before + (place < PLACES ? place : PLACES - 1);
}

/* A first failure that is known by its words only and names no rule gets the rules of its consequences. */
static int place_in_first(const struct why *why, const char *id)
{
	const struct message *first = why->decisive ? why->decisive->message : NULL;
	int place = first ? place_in(why->decisive, id, 0) : NO_PLACE;

	if (first && first->when && !first->rules)
		for_each(e, &why->consequences)
			if (place == NO_PLACE)
				place = place_in(*e, id, 0);
	return place;
}

/* Returns how likely the rule explains the log, 0 first; NO_PLACE if no message of the log names the rule. */
static int place_of(const struct why *why, const char *id)
{
	int place = place_in_first(why, id), before = PLACES;

	for_each(e, &why->failures) {
		if (place == NO_PLACE)
			place = place_in(*e, id, before);
		before += PLACES;
	}
	for_each(e, &why->fallbacks) {
		if (place == NO_PLACE)
			place = place_in(*e, id, before);
		before += PLACES;
	}
	for_each(rule, &why->related)
		if (place == NO_PLACE && strcmp((*rule)->id, id) == 0)
			place = before + (int)(rule - why->related.items);
	return place;
}

/* A problem is named by its own rule or by one that follows from it: then the problem is the cause. */
static int place_of_problem(const struct why *why, const struct problem *problem)
{
	int place = place_of(why, problem->first->rule->id);

	for_each(f, &problem->follows) {
		int other = place_of(why, (*f)->rule->id);

		if (other != NO_PLACE && (place == NO_PLACE || other < place))
			place = other;
	}
	return place;
}

/* The likeliest first; few. */
static void add_problem(struct why *why, const struct problem *problem, int place, int *places)
{
	uint32_t i = why->problems.items.count;

	*LIST_ADD(why->report->arena, &why->problems.items) = *problem;
	for (; i > 0 && places[i - 1] > place; i--) {
		why->problems.items.items[i] = why->problems.items.items[i - 1];
		places[i] = places[i - 1];
	}
	why->problems.items.items[i] = *problem;
	places[i] = place;
	why->problems.count[problem->severity] += !problem->waits;
	why->problems.waiting += problem->waits;
}

/* A rule that explains a slower path does not explain a failure, and words that a line shares with a rule explain
 * nothing: beside a message with a meaning they are not worth a problem. */
static void find_problems(struct why *why)
{
	const struct problems *all = problems_find(why->report);
	int *places = arena_alloc(why->report->arena, (all->items.count + 1) * sizeof(*places));
	int failures = PLACES *
		       (1 + (int)(why->decisive ? why->failures.count : why->fallbacks.count));
	int events = PLACES * (1 + (int)(why->failures.count + why->fallbacks.count));

	for_each(p, &all->items) {
		int place = place_of_problem(why, p);

		if (place == NO_PLACE || (why->decisive && place >= events))
			continue;
		add_problem(why, p, place, places);
		why->explaining += place < failures;
		why->explaining_first += why->decisive && place < PLACES;
	}
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

/* A rule that failed for one device is not ruled out by the others, and one that could not be evaluated for one of
 * them neither; nor is one that has something to note. */
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
		int place = place_of(why, f->rule->id);
		uint32_t k = i;

		for (; k > 0 && place_of(why, list[k - 1]->rule->id) > place; k--)
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
		bool is_named = place_of(why, f->rule->id) != NO_PLACE;

		f = take_answers(report, f, &answers);
		if (is_named)
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
