/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job-outcome.c - which failures ended the job, which it survived, and which one was the first. */
#include <string.h>

#include "why/ending.h"
#include "why/job-private.h"
#include "why/sign.h"

#define WENT_ON_LINES 20 /* lines without an error that show that a weak failure was overcome */
#define PROGRESS_LINES \
	3	      /* lines of work that a job does not print after the failure that ends it */
#define PLAIN_LINES 4 /* plain lines that a job does not print after the failure that ends it */

/* A failure is weak if it is mild, or if only its words are known. */
static bool is_weak(const struct job_event *e)
{
	return e->is_mild || e->message->when;
}

/* A job whose ranks no longer reach each other hangs, and the other ranks continue to write. */
static bool can_hang(const struct job_event *e)
{
	return !is_weak(e) && (sign_is_in_text(SIGN_HANG, span_of(e->message->component)) ||
			       sign_is_in_text(SIGN_HANG, span_of(e->message->id)));
}

/* Returns true if the program ends with this failure, as the source of the message or its line says. */
static bool is_fatal(const struct job_event *e)
{
	return !e->is_mild &&
	       (sign_is_in_text(SIGN_FATAL, span_of(e->message->id)) ||
		sign_is_in_text(SIGN_FATAL, span_of(e->first.text ? e->first.text : "")));
}

/* The kernel and services report failures of other processes, and do no work of the job. */
static bool is_of_system(const struct job_event *e)
{
	return sign_is_in_text(SIGN_SYSTEM, span_of(e->message->component));
}

static bool is_cause(const struct message *m)
{
	return m->weight == FAILURE_CAUSE || m->weight == FAILURE_LOSS;
}

/* Lines of work that show that the job continued. */
static uint32_t work_needed(const struct job_event *e)
{
	return is_weak(e) ? 1 : PROGRESS_LINES;
}

static struct ending_message message_place(const struct job_event *e)
{
	return (struct ending_message){ .first = e->first.line,
					.last = e->last_line,
					.host = e->first.host,
					.rank = e->one_rank };
}

/* Returns true if the process of E worked between E and a later failure, which then is the first of its end. */
static bool is_left_behind(const struct job *job, const struct job_event *e,
			   const struct ending *ending, const struct ending_after *after)
{
	const struct ending_message place = message_place(e);

	if (is_cause(e->message) || (!e->is_mild && after->is_raised && !after->overcome))
		return false;
	for_each(f, &job->events)
		if (f->message->kind == MESSAGE_FAILURE && !is_weak(f) &&
		    f->first.line > e->last_line &&
		    ending_progress(ending, &place, f->first.line) >= work_needed(e))
			return true;
	return false;
}

/* Returns true if the process that printed E went on. A process that has ended does not: others can take its place. A
 * line that says of itself that it is no failure needs no other evidence. An exception can be followed by buffered
 * lines. */
static bool has_gone_on(const struct job_event *e, const struct ending_after *after)
{
	if (e->is_mild)
		return true;
	return !is_of_system(e) && !is_fatal(e) && !after->is_raised &&
	       after->own >= work_needed(e);
}

/* The first row that is true decides. docs/job-log.md has the same rows. */
enum job_outcome job_outcome_of(const struct job *job, const struct job_event *e,
				const struct ending *ending)
{
	const struct ending_message place = message_place(e);
	const struct ending_after after = ending_after(ending, &place);
	bool weak = is_weak(e), is_bad = weak ? after.is_very_bad : after.is_bad,
	     worked = !is_bad && after.progress >= work_needed(e);

	if (e->message->kind > MESSAGE_CONSEQUENCE)
		return JOB_NO_FAILURE;
	if (ending->is_success || (weak && ending->is_good))
		return JOB_SURVIVED;
	if (worked && (after.overcome || has_gone_on(e, &after)))
		return JOB_SURVIVED;
	if (weak && !is_bad && after.calm >= WENT_ON_LINES)
		return JOB_SURVIVED;
	if (is_left_behind(job, e, ending, &after))
		return JOB_LEFT_BEHIND;
	if (is_bad)
		return JOB_ENDED;
	if (worked)
		return JOB_UNDECIDED;
	if (can_hang(e) || is_fatal(e) || after.plain < (weak ? 1 : PLAIN_LINES))
		return JOB_ENDED;
	return JOB_UNDECIDED;
}

/* The same of a line that is only known to read like an error. */
static bool is_place_survived(const struct job_place *place, const struct ending *ending)
{
	const struct ending_message own = {
		.first = place->line, .last = place->line, .host = place->host, .rank = place->rank
	};
	struct ending_after after = ending_after(ending, &own);

	if (ending->is_success || ending->is_raised)
		return ending->is_success;
	return (ending->is_good && !ending->is_bad) ||
	       (!after.is_very_bad && (after.own || after.calm >= WENT_ON_LINES));
}

/* The log shows that the job failed if one of its failures ended it. */
void job_find_outcomes(struct job *job, const struct ending *ending)
{
	uint32_t counts[JOB_OUTCOMES] = { 0 };

	for (uint32_t i = 0; i < job->events.count; i++) {
		struct job_event *e = &job->events.items[i];

		e->outcome = job_outcome_of(job, e, ending);
		counts[e->outcome]++;
	}
	job->is_undecided = counts[JOB_UNDECIDED] && !counts[JOB_ENDED];
	job->unrecognised_survived = is_place_survived(&job->unrecognised, ending);
}

bool job_event_is_survived(const struct job_event *e)
{
	return e->outcome == JOB_SURVIVED || e->outcome == JOB_LEFT_BEHIND;
}

/* The first event that counts before M. A GPU that is lost explains all that an Xid can explain. */
static const struct job_event *first_cause(const struct job *job, const struct message *m)
{
	bool is_symptom = m->weight == FAILURE_SYMPTOM,
	     is_of_gpu = !is_cause(m) && message_names_rule(m, "log/xid") >= 0;

	for_each(e, &job->events)
		if (!job_event_is_survived(e) &&
		    ((is_symptom && is_cause(e->message)) ||
		     (is_of_gpu && e->message->weight == FAILURE_LOSS)))
			return e;
	return NULL;
}

static const struct job_event *first_failure(const struct job *job, bool may_be_mild)
{
	for_each(e, &job->events)
		if (e->message->kind == MESSAGE_FAILURE && !job_event_is_survived(e) &&
		    (may_be_mild || !e->is_mild))
			return e;
	return NULL;
}

/* A mild failure counts only before a failure of the same program, or if there is no other failure. */
const struct job_event *job_decisive(const struct job *job)
{
	const struct job_event *first = first_failure(job, true), *serious, *cause;

	if (!first)
		return NULL;
	serious = first_failure(job, false);
	if (serious && strcmp(serious->message->component, first->message->component) != 0)
		first = serious;
	cause = first_cause(job, first->message);
	return cause ? cause : first;
}
