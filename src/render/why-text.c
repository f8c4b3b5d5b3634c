/* SPDX-License-Identifier: GPL-2.0-or-later */
/* why-text.c - the result of why for people: the first failure, its meaning, the problems of this node that explain it,
 * rules that do not apply, and other places to look at. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "render/text.h"
#include "why/why.h"

#define LABEL 15     /* width of "first failure  " */
#define EVENTS_MAX 5 /* of one kind that are listed */
#define FACTS_MAX 8  /* of one name */
#define CAUSES_MAX 3 /* that are shown with their titles, of those that the first message names */
#define PLACES_MAX 8 /* among which these are */
#define RULES_MAX 5  /* that are named, of those that are ruled out or do not apply */

struct why_view {
	struct view v;
	const struct why *why;
	struct arena *arena;
};

static void field(struct why_view *w, const char *name, const char *text)
{
	page_label(&w->v.page, 0, LABEL, name, text);
}

/* "1 line", "2 lines" */
static const char *counted(struct arena *arena, uint64_t count, const char *noun)
{
	return arena_printf(arena, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : "s");
}

/* ---- the log ---- */

static const char *rank_text(struct why_view *w, uint32_t number)
{
	const struct job_rank *rank = &w->why->job->ranks.items[number];

	if (rank->number != LINE_NONE)
		return arena_printf(w->arena, ", rank %" PRId64, rank->number);
	return arena_printf(w->arena, ", process %" PRId64, rank->pid);
}

/* "line 57, rank 3 on gpu01, 2025-01-31T23:59:59Z" */
static const char *place_text(struct why_view *w, const struct job_place *place)
{
	const struct job *job = w->why->job;
	const char *rank = place->rank == JOB_NOBODY ? "" : rank_text(w, place->rank);
	const char *on = place->host == JOB_NOBODY ? NULL : job->hosts.items[place->host].name;

	return arena_printf(w->arena, "line %" PRIu64 "%s%s%s%s%s", place->line, rank,
			    on ? " on " : "", on ? on : "", place->time ? ", " : "",
			    place->time ? place->time : "");
}

/* "60 times, on 8 of 8 hosts, by 60 ranks"; NULL: once */
static const char *times_text(struct why_view *w, const struct job_event *e)
{
	const struct job *job = w->why->job;
	const char *hosts = "", *ranks = "";

	if (e->count == 1)
		return NULL;
	if (e->hosts && job->hosts.count > 1)
		hosts = arena_printf(w->arena, ", on %u of %s", e->hosts,
				     counted(w->arena, job->hosts.count, "host"));
	if (e->ranks > 1)
		ranks = arena_printf(w->arena, ", by %u processes", e->ranks);
	return arena_printf(w->arena, "%" PRIu64 " times%s%s", e->count, hosts, ranks);
}

static void show_decisive(struct why_view *w)
{
	const struct job_event *e = w->why->decisive;
	bool is_failure = e->message->kind == MESSAGE_FAILURE;

	field(w,
	      w->why->job->is_undecided ? "First message"
	      : is_failure		? "First failure"
					: "First sign",
	      place_text(w, &e->first));
	field(w, "", e->first.text ? e->first.text : e->message->pattern);
	field(w, "It means", e->message->meaning);
	if (e->message->when)
		field(w, "",
		      "The table does not have this message: the names in the line say this.");
	if (!is_failure)
		field(w, "",
		      "It follows from an earlier failure, which was not recognised in the log.");
	field(w, "Seen", times_text(w, e));
	if (w->why->job->is_undecided)
		field(w, "Undecided", "Later lines show neither progress of the job nor its end.");
}

/* "gdrdrv, libgdrapi" */
static const char *words_text(struct why_view *w)
{
	const char *text = "";

	for_each(word, &w->why->words)
		text = arena_printf(w->arena, "%s%s%s", text, *text ? ", " : "", *word);
	return text;
}

static void show_unrecognised(struct why_view *w)
{
	const struct job_place *place = w->why->unrecognised;

	field(w, "Suspect", place_text(w, place));
	field(w, "", place->text);
	field(w, "",
	      w->why->related.count
		      ? arena_printf(
				w->arena,
				"No message of the table is like it. The rules below mention: %s.",
				words_text(w))
		      : "No message of the table is like it.");
	if (w->why->job->unrecognised_survived)
		field(w, "", "The job went on after it.");
}

static const char *event_text(struct why_view *w, const struct job_event *e)
{
	return arena_printf(w->arena, "%s: %s", place_text(w, &e->first),
			    e->first.text ? e->first.text : e->message->pattern);
}

static void show_fallback(struct why_view *w, const struct job_event *e)
{
	field(w, "Slower path", event_text(w, e));
	field(w, "", e->message->meaning);
}

static void show_survived(struct why_view *w, const struct job_event *e)
{
	field(w, "Survived", event_text(w, e));
	field(w, "", arena_printf(w->arena, "%s The job went on after it.", e->message->meaning));
}

/* Consequences of the first failure are counted, not shown. */
static void show_consequences(struct why_view *w)
{
	uint64_t count = 0;

	for_each(e, &w->why->consequences)
		count += (*e)->count;
	if (!count)
		return;
	field(w, "Then",
	      arena_printf(w->arena, "%s that follow%s from a failure, from line %" PRIu64 " on",
			   counted(w->arena, count, "line"), count == 1 ? "s" : "",
			   w->why->consequences.items[0]->first.line));
}

static void show_events(struct why_view *w)
{
	const struct why *why = w->why;
	uint32_t shown = 0;

	for_each(e, &why->failures) {
		if (shown++ < EVENTS_MAX || w->v.options->verbose)
			field(w, shown == 1 ? "Also" : "", event_text(w, *e));
	}
	if (shown > EVENTS_MAX && !w->v.options->verbose)
		field(w, "",
		      arena_printf(w->arena, "and %s of other kinds: -v shows them",
				   counted(w->arena, shown - EVENTS_MAX, "failure")));
	show_consequences(w);
	for_each(e, &why->fallbacks)
		show_fallback(w, *e);
	for_each(e, &why->survived)
		show_survived(w, *e);
	for_each(odd, &why->odd)
		field(w, "Odd one out", arena_printf(w->arena, "%s: %s", odd->host, odd->text));
}

/* ---- a description of the job ---- */

static bool is_shown_before(const struct job *job, const struct job_fact *fact)
{
	for_each(other, &job->facts) {
		if (other == fact)
			return false;
		if (strcmp(other->name, fact->name) == 0)
			return true;
	}
	return false;
}

/* The values of one name, each once. */
static const char *values_text(struct why_view *w, const struct job_fact *fact)
{
	const char *text = "";
	size_t count = 0;

	for_each(other, &w->why->job->facts) {
		bool is_new = strcmp(other->name, fact->name) == 0;

		for (const struct job_fact *f = fact; is_new && f < other; f++)
			is_new = strcmp(f->name, other->name) != 0 ||
				 strcasecmp(f->value, other->value) != 0;
		if (is_new && ++count <= FACTS_MAX)
			text = arena_printf(w->arena, "%s%s%s", text, *text ? ", " : "",
					    other->value);
	}
	return count > FACTS_MAX
		       ? arena_printf(w->arena, "%s and %zu more", text, count - FACTS_MAX)
		       : text;
}

static void show_job(struct why_view *w)
{
	const struct job *job = w->why->job;
	const char *text = "";

	field(w, "Log",
	      arena_printf(
		      w->arena, "%s, %s recognised%s%s%s%s%s",
		      counted(w->arena, job->lines, "line"),
		      counted(w->arena, job->recognised, "message"), job->hosts.count ? "; " : "",
		      job->hosts.count ? counted(w->arena, job->hosts.count, "host") : "",
		      job->ranks.count ? "; " : "",
		      job->ranks.count ? arena_printf(w->arena, "%u process%s", job->ranks.count,
						      job->ranks.count == 1 ? "" : "es")
				       : "",
		      job->is_cut ? "; more hosts or processes than are counted" : ""));
	for_each(fact, &job->facts)
		if (!is_shown_before(job, fact))
			text = arena_printf(w->arena, "%s%s%s: %s", text, *text ? "; " : "",
					    starts_with(fact->name, "env:") ? fact->name + 4
									    : fact->name,
					    values_text(w, fact));
	field(w, "The job had", *text ? text : NULL);
	for_each(d, &w->why->differences)
		field(w, d == w->why->differences.items ? "Contradiction" : "",
		      arena_printf(w->arena, "%s (line %" PRIu64 ")", d->text, d->line));
}

/* ---- this node ---- */

/* The likeliest rules; the others are counted. */
static const char *rules_text(struct why_view *w, const struct finding *const *list, uint32_t count)
{
	uint32_t shown = count > RULES_MAX && !w->v.options->verbose ? RULES_MAX : count;
	const char *text = NULL;

	for (uint32_t i = 0; i < shown; i++)
		text = arena_printf(w->arena, "%s%s%s", i ? text : "", i ? ", " : "",
				    list[i]->rule->id);
	return shown < count ? arena_printf(w->arena, "%s and %s: -v shows them", text,
					    counted(w->arena, count - shown, "other rule"))
			     : text;
}

static void show_notes(struct why_view *w)
{
	for_each(f, &w->why->notes)
		field(w, "Note", text_note(&w->v, *f));
}

static const char *reason_text(struct why_view *w, const struct finding *f)
{
	struct unknown u = render_unknown(w->v.report, f);

	return arena_printf(w->arena, "%s%s%s", u.path ? u.path : "", u.path ? ": " : "",
			    u.why ? u.why : "not known");
}

/* Each reason once, with the rules that it keeps from an answer. */
static void show_unknown(struct why_view *w)
{
	uint32_t count = w->why->unknown.count;
	const struct finding *const *list = (const struct finding *const *)w->why->unknown.items;
	const char **reasons = arena_alloc(w->arena, (count + 1) * sizeof(*reasons));
	const char *label = "Not checked";

	for (uint32_t i = 0; i < count; i++)
		reasons[i] = reason_text(w, list[i]);
	for (uint32_t i = 0; i < count; i++) {
		const char *rules = "", *reason = reasons[i];

		for (uint32_t k = i; reason && k < count; k++) {
			if (!reasons[k] || strcmp(reasons[k], reason) != 0)
				continue;
			rules = arena_printf(w->arena, "%s%s%s", rules, *rules ? ", " : "",
					     list[k]->rule->id);
			reasons[k] = NULL;
		}
		if (!reason)
			continue;
		field(w, label, arena_printf(w->arena, "%s (%s)", reason, rules));
		label = "";
	}
}

static const char *node_name(const struct why_view *w)
{
	return w->why->name ? w->why->name : "this node";
}

static bool is_evaluated(const struct why *why)
{
	return why->problems.items.count || why->notes.count || why->passed.count ||
	       why->unknown.count;
}

/* ---- the likeliest rules ---- */

struct cause {
	const struct finding *finding;
	const char *answer; /* NULL: the log rules it out */
};

/* A driver that reported its version to the job was loaded. */
static bool is_ruled_out_by_log(const struct job *job, const char *id)
{
	static const char *const rules[] = { "driver/loaded", "modules/nvidia-not-built-for-kernel",
					     "modules/nouveau-loaded" };
	bool is_about_loading = false;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		is_about_loading |= strcmp(id, rules[i]) == 0;
	for_each(fact, &job->facts)
		if (is_about_loading && strcmp(fact->name, "driver.version") == 0)
			return true;
	return false;
}

/* Moves the findings of LIST, of COUNT findings, that the first message names to the front, in the order of the
 * message's rules. */
static void take_causes(const struct why *why, const struct finding **list, uint32_t count,
			const char *answer, struct cause causes[PLACES_MAX])
{
	for (uint32_t i = 0; i < count; i++) {
		int place = message_names_rule(why->decisive->message, list[i]->rule->id);

		if (place < 0 || place >= PLACES_MAX || causes[place].finding)
			continue;
		causes[place].finding = list[i];
		if (!is_ruled_out_by_log(why->job, list[i]->rule->id))
			causes[place].answer = answer;
	}
}

/* The most common causes of the message, whatever this node has: also if the log is of another node. */
static void show_causes(struct why_view *w)
{
	const struct why *why = w->why;
	struct cause causes[PLACES_MAX] = { 0 };
	const char *label = "Usual causes";

	if (!why->decisive)
		return;
	take_causes(why, why->passed.items, why->passed.count, "ruled out here", causes);
	take_causes(why, why->unknown.items, why->unknown.count, "not checked here", causes);
	take_causes(why, why->inapplicable.items, why->inapplicable.count, "does not apply here",
		    causes);
	for (int i = 0, end = CAUSES_MAX; i < end && i < PLACES_MAX; i++) {
		const struct finding *f = causes[i].finding;

		if (f && !causes[i].answer)
			end++;
		if (!f || !causes[i].answer)
			continue;
		field(w, label,
		      arena_printf(w->arena, "%s (%s, %s)", finding_title(f), f->rule->id,
				   causes[i].answer));
		label = "";
	}
}

static void show_node(struct why_view *w)
{
	const struct why *why = w->why;

	text_heading(&w->v, arena_printf(w->arena, "On %s", node_name(w)));
	text_problems(&w->v);
	if (why->problems.items.count)
		page_printf(&w->v.page, "\n");
	show_notes(w);
	show_causes(w);
	field(w, "Ruled out", rules_text(w, w->why->passed.items, w->why->passed.count));
	show_unknown(w);
	if (w->v.options->verbose)
		field(w, "Not applicable",
		      rules_text(w, w->why->inapplicable.items, w->why->inapplicable.count));
}

/* ---- elsewhere ---- */

static const char *first_hosts(struct why_view *w)
{
	const struct job *job = w->why->job;
	const char *text = "";
	uint32_t shown = 0;

	for_each(host, &job->hosts)
		if (shown++ < 3)
			text = arena_printf(w->arena, "%s%s%s", text, *text ? ", " : "",
					    host->name);
	return shown > 3 ? arena_printf(w->arena, "%s and %u more", text, shown - 3) : text;
}

static void show_whose(struct why_view *w)
{
	const struct why *why = w->why;

	if (why->own_host == JOB_NOBODY && why->job->hosts.count)
		field(w, "Other host",
		      arena_printf(w->arena, "The log does not name %s. It names %s.", node_name(w),
				   first_hosts(w)));
	else if (why->decisive && why->whose == WHY_OTHER)
		field(w, "Other host",
		      arena_printf(
			      w->arena,
			      "The first failure is on %s, not on this node. Run the same command there.",
			      why->job->hosts.items[why->decisive->first.host].name));
}

/* The log can be of hosts that are not this node. */
static const char *not_explained(const struct why *why)
{
	if (why->job->is_undecided)
		return "This node's configuration is not known to explain the message.";
	if (!is_evaluated(why))
		return "No rule could look for the cause here.";
	if (why_is_of_others(why))
		return "This node's configuration does not explain the failure, which the log has of another host.";
	return why->unknown.count
		       ? "No configuration of this node that was checked explains the failure."
		       : "This node's configuration does not explain the failure.";
}

static void show_elsewhere(struct why_view *w)
{
	const struct why *why = w->why;
	const char *label = "Look elsewhere";

	if (why->decisive && !why->explaining)
		field(w, "Not this node", not_explained(why));
	if (why->decisive && why->decisive->message->elsewhere)
		field(w, label, why->decisive->message->elsewhere);
	for_each(e, &why->fallbacks)
		if (!why->decisive && (*e)->message->elsewhere)
			field(w, label, (*e)->message->elsewhere);
}

/* ---- the whole ---- */

/* Of a log that has a failure, but does not show that the job failed. */
static const char *verdict_open(struct why_view *w)
{
	const struct why *why = w->why;

	return arena_printf(w->arena,
			    "A message of a failure was recognised, but the log does not show that "
			    "the job failed.%s",
			    why->explaining
				    ? arena_printf(w->arena,
						   " %s on this node can explain the message.",
						   counted(w->arena, why->explaining, "problem"))
				    : "");
}

static const char *verdict(struct why_view *w)
{
	const struct why *why = w->why;
	uint32_t n = why->problems.items.count;

	if (why->decisive && why->job->is_undecided)
		return verdict_open(w);
	if (why->decisive && why->explaining && !why->explaining_first)
		return arena_printf(w->arena,
				    "Nothing on this node is known to explain the first failure. "
				    "%s can explain a later failure in the log.",
				    counted(w->arena, why->explaining, "problem"));
	if (why->decisive && why->explaining)
		return arena_printf(w->arena, "%s on this node %s.",
				    counted(w->arena, why->explaining_first, "problem"),
				    why_is_of_others(why)
					    ? "could explain the failure, but it is of another host"
					    : "can explain the failure");
	if (why->decisive)
		return is_evaluated(why)
			       ? "Nothing on this node is known to explain the failure."
			       : "No rule that could explain the failure applies to this node.";
	if (why->fallbacks.count)
		return arena_printf(w->arena,
				    "No failure was recognised, but the job used a slower path.%s",
				    n ? arena_printf(w->arena, " %s on this node can explain it.",
						     counted(w->arena, n, "problem"))
				      : "");
	return arena_printf(w->arena, "No failure was recognised in %s.%s",
			    why->job->read == JOB_READ_WHOLE ? "the log"
							     : "the part of the log that was read",
			    why->unrecognised && !why->job->unrecognised_survived
				    ? arena_printf(w->arena, " Line %" PRIu64 " reads like one.",
						   why->unrecognised->line)
				    : "");
}

/* Whatever is said of the log is said of its beginning. */
static void show_stopped(struct why_view *w)
{
	const struct job *job = w->why->job;

	if (job->read != JOB_READ_WHOLE)
		field(w, "Incomplete",
		      arena_printf(w->arena,
				   "Only the first %" PRIu64
				   " bytes of the log, up to line %" PRIu64 ", were read: %s.",
				   job->bytes, job->lines,
				   job->read == JOB_READ_SIZE
					   ? "more is not unpacked"
					   : "the time for reading was over (--timeout)"));
}

enum exit_status render_why_text(const struct why *why, const struct render_options *options,
				 enum exit_status status)
{
	struct why_view w = {
		.v = { .report = why->report,
		       .problems = &why->problems,
		       .steps = options->steps,
		       .options = options },
		.why = why,
		.arena = why->report->arena,
	};

	page_begin(&w.v.page, options->color, options->pager);
	fputs(page_style(&w.v.page, STYLE_BOLD), w.v.page.out);
	text_wrap(w.v.page.out, verdict(&w), 0, 0, w.v.page.width);
	page_printf(&w.v.page, "%s\n", page_style(&w.v.page, STYLE_PLAIN));
	show_stopped(&w);
	if (why->decisive)
		show_decisive(&w);
	if (why->unrecognised)
		show_unrecognised(&w);
	show_events(&w);
	show_job(&w);
	if (why->decisive || why->fallbacks.count || why->related.count)
		show_node(&w);
	show_whose(&w);
	show_elsewhere(&w);
	return page_end(&w.v.page, status);
}
