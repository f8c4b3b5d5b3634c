/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.c - the report and the rules as documents; docs/formats/ has their schemas. */
#include <stdio.h>
#include <string.h>

#include "advice/readiness.h"
#include "base/cleanup.h"
#include "base/json-stream.h"
#include "base/output.h"
#include "evaluate/problems.h"
#include "fleet/since.h"
#include "query/names.h"
#include "query/node-find.h"
#include "query/pci-device.h"
#include "query/topology.h"
#include "render/render.h"

enum exit_status render_json(struct json_object *json, enum exit_status status)
{
	json_print(stdout, json, RENDER_JSON_FLAGS);
	return finish_output(status);
}

static void put_str(struct json_object *json, const char *key, struct fact_str fact)
{
	json_put_string(json, key, is_known(fact) ? fact.value : NULL);
}

struct json_object *render_words(const char *const *list, unsigned int bits)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int i = 0; list[i]; i++)
		if (bits & 1u << i)
			json_object_array_add(array, json_object_new_string(list[i]));
	return array;
}

/* Writes the kinds that are known to be true, with the reason. */
static struct json_object *kinds_json(const struct node *node)
{
	struct json_object *array;

	if (!is_known(node->kinds))
		return NULL;
	array = json_object_new_array();
	for_each(kind, &node->kinds) {
		struct json_object *json;

		if (!known_is(kind->is, true))
			continue;
		json = json_object_new_object();
		put_str(json, "name", kind->name);
		put_str(json, "reason", kind->reason);
		json_object_array_add(array, json);
	}
	return array;
}

struct json_object *render_node(const struct node *node)
{
	struct json_object *json = json_object_new_object();
	size_t gpus = 0;

	for_each(d, &node->pci.devices)
		gpus += pci_is_gpu(d);
	put_str(json, "hostname", node->os.hostname);
	put_str(json, "machine", node->os.machine);
	put_str(json, "kernel", node->os.kernel);
	put_str(json, "driver", node->driver.version);
	json_put(json, "gpus", was_read(node->pci.devices) ? json_u64(gpus) : NULL);
	json_put(json, "rdma_devices",
		 was_read(node->rdma.devices) ? json_u64(node->rdma.devices.count) : NULL);
	put_str(json, "os", node->os.name);
	put_str(json, "hypervisor", node->os.hypervisor);
	json_put(json, "kinds", kinds_json(node));
	return json;
}

/* Writes the counts of problems (problems.h) instead of findings. */
static struct json_object *problems_json(const struct problems *problems)
{
	struct json_object *json = json_object_new_object();

	for (int s = SEVERITY_CRIT; s > SEVERITY_INFO; s--)
		json_put_number(json, severity_words[s], problems->count[s]);
	json_put_number(json, "waiting", problems->waiting);
	return json;
}

static struct json_object *summary_json(const struct report *report)
{
	struct json_object *json = json_object_new_object();

	json_put_string(json, "verdict", verdict_words[report->verdict]);
	json_put_number(json, "pass", report->count[VERDICT_PASS]);
	json_put_number(json, "fail", report->count[VERDICT_FAIL]);
	json_put_number(json, "pending", report->count[VERDICT_PENDING]);
	json_put_number(json, "unknown", report->count[VERDICT_UNKNOWN]);
	json_put_number(json, "note", report->count[VERDICT_NOTE]);
	json_put_number(json, "not_applicable", report->count[VERDICT_NOT_APPLICABLE]);
	json_put_string(json, "worst", report->any_worst ? severity_words[report->worst] : NULL);
	json_put_number(json, "off", report->off);
	json_put(json, "problems", problems_json(problems_find(report)));
	return json;
}

/* Writes for each profile of the head whether its jobs should start. */
static struct json_object *readiness_json(const struct steps *steps)
{
	struct json_object *json = json_object_new_object();
	unsigned int profiles = readiness_profiles(steps->report, steps->problems);

	for (unsigned int bit = 0; profile_words[bit]; bit++) {
		struct profile_readiness ready = readiness_of(steps, 1u << bit);
		struct json_object *own;

		if (!(profiles & 1u << bit))
			continue;
		own = json_object_new_object();
		json_put_string(own, "state", readiness_words[ready.state]);
		json_put(own, "jobs_should_start", json_object_new_boolean(!ready.stops_jobs));
		json_put(own, "checked", json_object_new_boolean(ready.is_checked));
		json_put(json, profile_words[bit], own);
	}
	return json;
}

/* Writes the time of the facts and the user who read them. */
static struct json_object *taken_json(const struct report *report)
{
	const struct os_facts *os = &report->node->os;
	struct json_object *json = json_object_new_object();

	json_put_string(json, "time", render_time(os->observed_time_s, report->arena));
	json_put(json, "uid", is_known(os->observed_uid) ? json_u64(os->observed_uid.value) : NULL);
	return json;
}

static struct json_object *not_evaluated_json(const struct report *report)
{
	struct json_object *array = json_object_new_array();

	for_each(hint, &report->not_evaluated) {
		struct json_object *json = json_object_new_object();

		json_put_string(json, "profile", profiles_text(report->arena, hint->profile));
		json_put_string(json, "reason", hint->reason);
		json_object_array_add(array, json);
	}
	return array;
}

static struct json_object *evidence_json(const struct report *report, const char *fact)
{
	struct json_object *json = json_object_new_object();
	struct fact_ref ref;

	json_put_string(json, "fact", fact);
	if (report_find(report, fact, &ref))
		return json;
	if (fact_ref_state(&ref) != FACT_UNKNOWN && ref.field->type != FIELD_LIST &&
	    ref.field->type != FIELD_STRUCT)
		json_put(json, "value", fact_ref_json(&ref));
	if (ref.source)
		json_put_string(json, "path", ref.source);
	if (ref.line)
		json_put_number(json, "line", ref.line);
	return json;
}

static struct json_object *arguments_json(const struct fix_call *fix)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < FIX_ARGS_MAX && fix->args[i]; i++)
		json_object_array_add(array, json_object_new_string(fix->args[i]));
	return array;
}

static struct json_object *fix_json(const struct finding *f)
{
	const struct fix_call *fix = finding_is_problem(f) ? finding_fix(f) : NULL;
	struct json_object *json;

	if (!fix)
		return NULL;
	json = json_object_new_object();
	json_put_string(json, "id", fix->kind);
	json_put(json, "arguments", arguments_json(fix));
	json_put_string(json, "activation", activation_words[finding_activation(f)]);
	return json;
}

/* Rule and subject name one finding of a report. */
static struct json_object *cause_json(const struct finding *cause)
{
	struct json_object *json;

	if (!cause)
		return NULL;
	json = json_object_new_object();
	json_put_string(json, "rule", cause->rule->id);
	json_put_string(json, "subject", cause->answer.subject);
	return json;
}

/* For a GPU, writes its number and UUID, by which other programs know it. */
static void put_gpu(struct json_object *json, const struct node *node, const char *subject)
{
	struct json_object *gpu;
	uint64_t number;

	if (!subject || !node_pci(node, subject) ||
	    topology_end(node, node_pci(node, subject)) != END_GPU)
		return;
	gpu = json_object_new_object();
	json_put(gpu, "index", gpu_number(node, subject, &number) ? json_u64(number) : NULL);
	json_put_string(gpu, "uuid", gpu_uuid(node, subject));
	json_put(json, "gpu", gpu);
}

/* The reason why it is not known, and the way to know it. */
static void put_unknown(struct json_object *json, const struct report *report,
			const struct finding *f)
{
	struct unknown u = render_unknown(report, f);

	if (f->gap)
		json_put_string(json, "unknown_path", f->gap->path.value);
	json_put_string(json, "unknown_why", u.why);
	json_put_string(json, "unknown_check", u.to_check);
}

static void put_mending(struct json_object *json, const struct finding *f)
{
	json_put_string(json, "repaired_by", repaired_by_words[finding_repaired_by(f)]);
	json_put_string(json, "command", f->command);
	json_put_string(json, "activation", activation_words[finding_activation(f)]);
	json_put(json, "follows_from", cause_json(f->follows_from));
}

static struct json_object *acknowledged_json(const struct acknowledgement *a)
{
	struct json_object *json = json_object_new_object();

	json_put_string(json, "reason", a->reason.value);
	json_put_number(json, "time_s", a->time_s.value);
	json_put_string(json, "until", acknowledged_until_words[a->until.value]);
	if (is_known(a->until_s))
		json_put_number(json, "until_s", a->until_s.value);
	return json;
}

struct json_object *render_finding(const struct report *report, const struct finding *f)
{
	const struct answer *a = &f->answer;
	struct json_object *json = json_object_new_object();
	struct json_object *evidence = json_object_new_array();
	bool bad = finding_is_problem(f);

	json_put_string(json, "rule", f->rule->id);
	json_put_string(json, "verdict", verdict_words[a->verdict]);
	json_put_string(json, "severity", severity_words[f->severity]);
	json_put_string(json, "title", finding_title(f));
	json_put_string(json, "subject", a->subject);
	if (a->subject)
		json_put_string(json, "name",
				subject_name(report->node, a->subject, report->arena));
	put_gpu(json, report->node, a->subject);
	json_put_string(json, "observed", a->observed);
	json_put_string(json, "expected", a->expected);
	json_put_string(json, "impact", bad ? finding_impact(f) : NULL);
	json_put_string(json, "remedy", bad || a->remedy ? finding_remedy(f) : NULL);
	for (size_t i = 0; i < EVIDENCE_MAX && a->evidence[i]; i++)
		json_object_array_add(evidence, evidence_json(report, a->evidence[i]));
	json_put(json, "evidence", evidence);
	json_put(json, "fix", fix_json(f));
	json_put_string(json, "action", action_words[finding_action(f)]);
	if (bad)
		put_mending(json, f);
	if (a->source)
		json_put_string(json, "source", a->source);
	if (a->verdict == VERDICT_UNKNOWN)
		put_unknown(json, report, f);
	if (f->why_graded)
		json_put_string(json, "configured_reason", f->why_graded);
	if (f->proved) {
		json_put_string(json, "proved", f->proved);
		json_put_string(json, "configured_verdict", verdict_words[f->configured]);
	}
	if (f->off)
		json_put(json, "off", json_object_new_boolean(true));
	if (f->acknowledged)
		json_put(json, "acknowledged", acknowledged_json(f->acknowledged));
	return json;
}

static struct json_object *note_json(const struct gap *gap)
{
	_cleanup_free_ char *note = NULL;
	int n = asprintf(&note, "%s: %s", gap->path.value, gap->why.value);

	memory_need(n < 0 ? NULL : note);
	return json_text(note, (size_t)n);
}

static struct json_object *probe_json(const struct node *node, const struct probe_result *probe)
{
	struct json_object *json = json_object_new_object();
	struct json_object *notes = json_object_new_array();

	put_str(json, "name", probe->name);
	json_put_string(json, "state", probe_state_words[probe->state.value]);
	json_put_number(json, "duration_us", probe->duration_us.value);
	for_each(g, &node->gaps) {
		if (!str_is(g->probe, probe->name.value))
			continue;
		json_object_array_add(notes, note_json(g));
	}
	json_put(json, "notes", notes);
	return json;
}

static struct json_object *changes_json(const struct changes *changes)
{
	struct json_object *array = json_object_new_array();

	for_each(c, &changes->items) {
		struct json_object *json = json_object_new_object();

		json_put_string(json, "fact", c->fact);
		json_put(json, "before", c->before ? json_tokener_parse(c->before) : NULL);
		json_put(json, "after", c->after ? json_tokener_parse(c->after) : NULL);
		json_object_array_add(array, json);
	}
	return array;
}

/* Findings are printed one by one, because a stranger's file can have ten thousand of them. */
static enum exit_status put_report(const struct report *report, const struct steps *steps,
				   int flags, enum exit_status status)
{
	struct json_stream s;

	json_stream_begin(&s, stdout, flags, json_document("nvnodecheck-report"));
	json_stream_put(&s, "taken", taken_json(report));
	json_stream_put(&s, "node", render_node(report->node));
	json_stream_put(&s, "profiles", render_words(profile_words, report->profiles));
	json_stream_put(&s, "profiles_reason", json_text_or_null(report->profiles_reason));
	json_stream_put(&s, "not_evaluated", not_evaluated_json(report));
	json_stream_put(&s, "summary", summary_json(report));
	if (steps) {
		json_stream_put(&s, "readiness", readiness_json(steps));
		json_stream_put(&s, "steps", render_steps(steps));
	}
	json_stream_list(&s, "findings");
	for_each(f, &report->findings)
		json_stream_add(&s, render_finding(report, f));
	json_stream_list_end(&s);
	json_stream_list(&s, "probes");
	for_each(p, &report->node->probes)
		json_stream_add(&s, probe_json(report->node, p));
	json_stream_list_end(&s);
	if (report->changes)
		json_stream_put(&s, "changes", changes_json(report->changes));
	json_stream_end(&s);
	return finish_output(status);
}

enum exit_status render_report_json(const struct report *report, const struct steps *steps,
				    enum exit_status status)
{
	return put_report(report, steps, RENDER_JSON_FLAGS, status);
}

enum exit_status render_report_jsonl(const struct report *report, const struct steps *steps,
				     enum exit_status status)
{
	return put_report(report, steps, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE,
			  status);
}

/* ---- rules ---- */

static struct json_object *rule_json(const struct rule *rule)
{
	struct json_object *json = json_object_new_object();
	char remedy[REMEDY_MAX];

	json_put_string(json, "id", rule->id);
	json_put_string(json, "title", rule->title);
	json_put(json, "profiles", render_words(profile_words, rule->profiles));
	json_put_string(json, "used_modules", rule->used_modules);
	json_put_string(json, "used_variables", rule->used_variables);
	json_put_string(json, "severity", severity_words[rule->severity]);
	json_put_string(json, "fix", rule->fix.kind);
	json_put_string(json, "repaired_by", repaired_by_words[rule_repaired_by(rule)]);
	json_put_string(json, "activation", activation_words[rule->activation]);
	json_put_string(json, "reads", rule->reads);
	json_put_string(json, "why", rule->why);
	json_put_string(json, "impact", rule->impact);
	json_put_string(json, "remedy", rule_remedy(rule, remedy));
	json_put_string(json, "check", rule->check);
	json_put_string(json, "cost", rule->cost);
	json_put_string(json, "sources", rule->sources);
	return json;
}

enum exit_status render_rules_json(const struct rule *const *rules, size_t count)
{
	_cleanup_json_ struct json_object *json = json_document("nvnodecheck-rules");
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < count; i++)
		json_object_array_add(array, rule_json(rules[i]));
	json_put(json, "rules", array);
	return render_json(json, EXIT_WELL);
}
