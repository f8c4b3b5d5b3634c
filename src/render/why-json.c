/* SPDX-License-Identifier: GPL-2.0-or-later */
/* why-json.c - the result of why as a document; docs/formats/why.schema.json. */
#include <string.h>

#include "base/json.h"
#include "render/render.h"
#include "why/why.h"

#define HOSTS_MAX 256 /* that are listed; all are counted */
#define RANKS_MAX 1024

static void put_text(struct json_object *json, const char *key, const char *text)
{
	json_put(json, key, text ? json_text(text, strlen(text)) : NULL);
}

static const char *host_of(const struct job *job, uint32_t host)
{
	return host == JOB_NOBODY ? NULL : job->hosts.items[host].name;
}

static void put_signed(struct json_object *json, const char *key, int64_t number)
{
	json_put(json, key, number == LINE_NONE ? NULL : json_u64((uint64_t)number));
}

static void put_rank(struct json_object *json, const struct job *job, uint32_t number)
{
	const struct job_rank *rank = number == JOB_NOBODY ? NULL : &job->ranks.items[number];

	put_signed(json, "rank", rank ? rank->number : LINE_NONE);
	put_signed(json, "pid", rank ? rank->pid : LINE_NONE);
}

/* ---- the log ---- */

static struct json_object *event_json(const struct job *job, const struct job_event *e)
{
	const struct message *m = e->message;
	struct json_object *json = json_object_new_object();

	json_put_string(json, "message", m->id);
	json_put_string(json, "component", m->component);
	json_put_string(json, "kind", message_kind_words[m->kind]);
	json_put_string(json, "pattern", m->pattern);
	json_put(json, "by_words", json_object_new_boolean(m->when != TOPIC_NEVER));
	json_put_string(json, "since", m->since);
	json_put_string(json, "until", m->until);
	json_put_string(json, "meaning", m->meaning);
	json_put_string(json, "elsewhere", m->elsewhere);
	json_put_number(json, "line", e->first.line);
	json_put_number(json, "last_line", e->last_line);
	put_text(json, "time", e->first.time);
	put_text(json, "host", host_of(job, e->first.host));
	put_rank(json, job, e->first.rank);
	put_text(json, "text", e->first.text);
	json_put_number(json, "count", e->count);
	json_put_number(json, "hosts", e->hosts);
	json_put_number(json, "processes", e->ranks);
	return json;
}

static struct json_object *host_json(const struct why *why, uint32_t number)
{
	const struct job_host *host = &why->job->hosts.items[number];
	struct json_object *json = json_object_new_object();

	put_text(json, "name", host->name);
	json_put(json, "own", json_object_new_boolean(why_is_own(why, number)));
	json_put_number(json, "lines", host->lines);
	json_put_number(json, "failures", host->failures);
	json_put_string(json, "first_failure", host->failure ? host->failure->id : NULL);
	if (host->failure)
		json_put_number(json, "first_failure_line", host->failure_line);
	return json;
}

static struct json_object *rank_json(const struct job *job, uint32_t number)
{
	const struct job_rank *rank = &job->ranks.items[number];
	struct json_object *json = json_object_new_object();

	put_rank(json, job, number);
	put_text(json, "host", host_of(job, rank->host));
	json_put_string(json, "first_failure", rank->failure->id);
	json_put_number(json, "first_failure_line", rank->failure_line);
	return json;
}

static struct json_object *hosts_json(const struct why *why)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < why->job->hosts.count && i < HOSTS_MAX; i++)
		json_object_array_add(array, host_json(why, i));
	return array;
}

/* Writes the ranks that failed. */
static struct json_object *ranks_json(const struct job *job)
{
	struct json_object *array = json_object_new_array();
	size_t count = 0;

	for (uint32_t i = 0; i < job->ranks.count && count < RANKS_MAX; i++) {
		if (!job->ranks.items[i].failure)
			continue;
		json_object_array_add(array, rank_json(job, i));
		count++;
	}
	return array;
}

static struct json_object *facts_json(const struct job *job)
{
	struct json_object *array = json_object_new_array();

	for_each(fact, &job->facts) {
		struct json_object *json = json_object_new_object();

		put_text(json, "name", fact->name);
		put_text(json, "value", fact->value);
		put_text(json, "host", host_of(job, fact->host));
		json_put_number(json, "line", fact->line);
		json_object_array_add(array, json);
	}
	return array;
}

static const char *const stopped_words[] = {
	[JOB_READ_SIZE] = "size",
	[JOB_READ_TIME] = "time",
};

static struct json_object *log_json(const struct why *why)
{
	const struct job *job = why->job;
	struct json_object *json = json_object_new_object();

	json_put_number(json, "lines", job->lines);
	json_put_number(json, "bytes", job->bytes);
	json_put_number(json, "recognised", job->recognised);
	json_put_number(json, "hosts_count", job->hosts.count);
	json_put_number(json, "processes_count", job->ranks.count);
	json_put(json, "cut", json_object_new_boolean(job->is_cut));
	json_put_string(json, "stopped", stopped_words[job->read]);
	json_put(json, "hosts", hosts_json(why));
	json_put(json, "failed", ranks_json(job));
	json_put(json, "facts", facts_json(job));
	return json;
}

/* ---- lists ---- */

struct events {
	LIST(const struct job_event *);
};

static void put_events(struct json_object *json, const char *key, const struct job *job,
		       const void *list)
{
	const struct events *events = list;
	struct json_object *array = json_object_new_array();

	for_each(e, events)
		json_object_array_add(array, event_json(job, *e));
	json_put(json, key, array);
}

static struct json_object *differences_json(const struct why *why)
{
	struct json_object *array = json_object_new_array();

	for_each(d, &why->differences) {
		struct json_object *json = json_object_new_object();

		json_put_string(json, "what", d->what);
		put_text(json, "job", d->job);
		put_text(json, "node", d->node);
		put_text(json, "text", d->text);
		json_put_number(json, "line", d->line);
		json_object_array_add(array, json);
	}
	return array;
}

static struct json_object *odd_json(const struct why *why)
{
	struct json_object *array = json_object_new_array();

	for_each(odd, &why->odd) {
		struct json_object *json = json_object_new_object();

		put_text(json, "host", odd->host);
		put_text(json, "text", odd->text);
		json_object_array_add(array, json);
	}
	return array;
}

/* ---- this node ---- */

static struct json_object *problem_json(const struct why *why, const struct problem *p)
{
	struct json_object *json = json_object_new_object();
	struct json_object *members = json_object_new_array();
	struct json_object *follows = json_object_new_array();

	json_put_string(json, "rule", p->first->rule->id);
	for_each(f, &p->members)
		json_object_array_add(members, render_finding(why->report, *f));
	for_each(f, &p->follows)
		json_object_array_add(follows, json_object_new_string((*f)->rule->id));
	json_put(json, "findings", members);
	json_put(json, "causes", follows);
	return json;
}

struct findings {
	LIST(const struct finding *);
};

static void put_findings(struct json_object *json, const char *key, const struct why *why,
			 const void *list)
{
	const struct findings *findings = list;
	struct json_object *array = json_object_new_array();

	for_each(f, findings)
		json_object_array_add(array, render_finding(why->report, *f));
	json_put(json, key, array);
}

static struct json_object *answers_json(const struct why *why)
{
	struct json_object *json = json_object_new_object();
	struct json_object *problems = json_object_new_array();
	struct json_object *inapplicable = json_object_new_array();

	for_each(p, &why->problems.items)
		json_object_array_add(problems, problem_json(why, p));
	json_put(json, "problems", problems);
	put_findings(json, "notes", why, &why->notes);
	put_findings(json, "ruled_out", why, &why->passed);
	put_findings(json, "not_checked", why, &why->unknown);
	for_each(f, &why->inapplicable)
		json_object_array_add(inapplicable, json_object_new_string((*f)->rule->id));
	json_put(json, "not_applicable", inapplicable);
	return json;
}

static struct json_object *words_json(const struct why *why)
{
	struct json_object *array = json_object_new_array();

	for_each(word, &why->words)
		json_object_array_add(array, json_object_new_string(*word));
	return array;
}

static struct json_object *unrecognised_json(const struct why *why)
{
	const struct job_place *place = why->unrecognised;
	struct json_object *json;

	if (!place)
		return NULL;
	json = json_object_new_object();
	json_put_number(json, "line", place->line);
	put_text(json, "time", place->time);
	put_text(json, "host", host_of(why->job, place->host));
	put_rank(json, why->job, place->rank);
	put_text(json, "text", place->text);
	json_put(json, "words", words_json(why));
	return json;
}

static const char *const whose_words[] = {
	[WHY_UNKNOWN] = "unknown",
	[WHY_OWN] = "this-node",
	[WHY_OTHER] = "other-host",
};

enum exit_status render_why_json(const struct why *why, enum exit_status status)
{
	_cleanup_json_ struct json_object *json = json_document("nvnodecheck-why");
	bool is_failure = why->decisive && why->decisive->message->kind == MESSAGE_FAILURE;

	json_put_string(json, "result",
			why->decisive && why->job->is_undecided ? "undecided"
			: is_failure				? "failure"
			: why->decisive				? "consequence"
			: why->fallbacks.count			? "fallback"
								: "nothing");
	json_put(json, "explained", json_object_new_boolean(why_is_explained(why)));
	json_put(json, "decisive", why->decisive ? event_json(why->job, why->decisive) : NULL);
	json_put_string(json, "whose", whose_words[why->whose]);
	json_put(json, "unrecognised", unrecognised_json(why));
	put_events(json, "failures", why->job, &why->failures);
	put_events(json, "consequences", why->job, &why->consequences);
	put_events(json, "fallbacks", why->job, &why->fallbacks);
	put_events(json, "survived", why->job, &why->survived);
	json_put(json, "odd", odd_json(why));
	json_put(json, "differences", differences_json(why));
	json_put(json, "log", log_json(why));
	json_put(json, "node", render_node(why->report->node));
	json_put(json, "answers", answers_json(why));
	return render_json(json, status);
}
