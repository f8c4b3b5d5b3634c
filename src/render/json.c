/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json.c - the report and the rules as documents; docs/formats/ has their schemas. */
#include <stdio.h>
#include <string.h>
#include <json-c/json_tokener.h>

#include "base/json-write.h"
#include "base/output.h"
#include "fleet/since.h"
#include "render/render.h"

enum exit_status render_json(struct json_object *json, enum exit_status status)
{
	struct json_writer w;

	json_write_begin(&w, stdout, true);
	json_write_value(&w, NULL, json);
	json_write_end(&w);
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
	json_put(json, "gpus", is_told(node->pci.devices) ? json_u64(gpus) : NULL);
	json_put(json, "rdma_devices",
		 is_told(node->rdma.devices) ? json_u64(node->rdma.devices.count) : NULL);
	put_str(json, "os", node->os.name);
	put_str(json, "hypervisor", node->os.hypervisor);
	return json;
}

static void write_summary(struct json_writer *w, const struct report *report)
{
	json_write_open(w, "summary", '{');
	json_write_string(w, "verdict", verdict_words[report->verdict]);
	json_write_number(w, "pass", report->count[VERDICT_PASS]);
	json_write_number(w, "fail", report->count[VERDICT_FAIL]);
	json_write_number(w, "pending", report->count[VERDICT_PENDING]);
	json_write_number(w, "unknown", report->count[VERDICT_UNKNOWN]);
	json_write_number(w, "not_applicable", report->count[VERDICT_NOT_APPLICABLE]);
	json_write_string(w, "worst", report->any_worst ? severity_words[report->worst] : NULL);
	json_write_number(w, "info", report->info);
	json_write_number(w, "off", report->off);
	json_write_close(w, '}');
}

static void write_evidence(struct json_writer *w, const struct report *report, const char *fact)
{
	struct fact_ref ref;

	json_write_open(w, NULL, '{');
	json_write_string(w, "fact", fact);
	if (report_find(report, fact, &ref) == 0) {
		if (fact_ref_state(&ref) != FACT_UNKNOWN && ref.field->type != FIELD_LIST &&
		    ref.field->type != FIELD_STRUCT) {
			_cleanup_json_ struct json_object *value = fact_ref_json(&ref);

			json_write_value(w, "value", value);
		}
		if (ref.source)
			json_write_string(w, "path", ref.source);
		if (ref.line)
			json_write_number(w, "line", ref.line);
	}
	json_write_close(w, '}');
}

static void write_fix(struct json_writer *w, const struct finding *f)
{
	enum activation activation =
		f->answer.activation ? f->answer.activation : f->rule->activation;

	if (!f->rule->fix || (f->answer.verdict != VERDICT_FAIL &&
			      f->answer.verdict != VERDICT_PENDING)) {
		json_write_string(w, "fix", NULL);
		return;
	}
	json_write_open(w, "fix", '{');
	json_write_string(w, "id", f->rule->fix);
	json_write_string(w, "activation", activation_words[activation]);
	json_write_close(w, '}');
}

static void write_finding(struct json_writer *w, const struct report *report, const struct finding *f)
{
	const struct answer *a = &f->answer;
	bool bad = a->verdict == VERDICT_FAIL || a->verdict == VERDICT_PENDING;

	json_write_open(w, NULL, '{');
	json_write_string(w, "rule", f->rule->id);
	json_write_string(w, "verdict", verdict_words[a->verdict]);
	json_write_string(w, "severity", severity_words[f->severity]);
	json_write_string(w, "title", f->rule->title);
	json_write_string(w, "subject", a->subject);
	json_write_string(w, "observed", a->observed);
	json_write_string(w, "expected", a->expected);
	json_write_string(w, "impact", !bad ? NULL : a->impact ? a->impact : f->rule->impact);
	json_write_string(w, "remedy", a->remedy ? a->remedy : bad ? f->rule->remedy : NULL);
	json_write_open(w, "evidence", '[');
	for (size_t i = 0; i < EVIDENCE_MAX && a->evidence[i]; i++)
		write_evidence(w, report, a->evidence[i]);
	json_write_close(w, ']');
	write_fix(w, f);
	if (f->gap) {
		json_write_string(w, "unknown_path", f->gap->path.value);
		json_write_string(w, "unknown_why", f->gap->why.value);
	}
	if (f->why_graded)
		json_write_string(w, "configured_reason", f->why_graded);
	if (f->proved) {
		json_write_string(w, "proved", f->proved);
		json_write_string(w, "configured_verdict", verdict_words[f->configured]);
	}
	if (f->off)
		json_write_true(w, "off");
	json_write_close(w, '}');
}

static void write_probe(struct json_writer *w, const struct node *node, const struct probe_result *probe)
{
	char note[512];

	json_write_open(w, NULL, '{');
	json_write_string(w, "name", is_known(probe->name) ? probe->name.value : NULL);
	json_write_string(w, "state", probe_state_words[probe->state.value]);
	json_write_number(w, "duration_us", probe->duration_us.value);
	json_write_open(w, "notes", '[');
	for_each(g, &node->gaps) {
		if (!str_is(g->probe, probe->name.value))
			continue;
		snprintf(note, sizeof(note), "%s: %s", g->path.value, g->why.value);
		json_write_string(w, NULL, note);
	}
	json_write_close(w, ']');
	json_write_close(w, '}');
}

/* TEXT is JSON, or NULL. */
static void write_side(struct json_writer *w, const char *key, const char *text)
{
	_cleanup_json_ struct json_object *value = text ? json_tokener_parse(text) : NULL;

	json_write_value(w, key, value);
}

static void write_changes(struct json_writer *w, const struct changes *changes)
{
	json_write_open(w, "changes", '[');
	for_each(c, &changes->items) {
		json_write_open(w, NULL, '{');
		json_write_string(w, "fact", c->fact);
		write_side(w, "before", c->before);
		write_side(w, "after", c->after);
		json_write_close(w, '}');
	}
	json_write_close(w, ']');
}

static enum exit_status write_report(const struct report *report, bool indented, enum exit_status status)
{
	_cleanup_json_ struct json_object *node = render_node(report->node);
	_cleanup_json_ struct json_object *profiles = render_words(profile_words, report->profiles);
	struct json_writer w;

	json_write_begin(&w, stdout, indented);
	json_write_document(&w, "nvnodecheck-report");
	json_write_value(&w, "node", node);
	json_write_value(&w, "profiles", profiles);
	json_write_string(&w, "profiles_reason", report->profiles_reason);
	write_summary(&w, report);
	json_write_open(&w, "findings", '[');
	for_each(f, &report->findings)
		write_finding(&w, report, f);
	json_write_close(&w, ']');
	json_write_open(&w, "probes", '[');
	for_each(p, &report->node->probes)
		write_probe(&w, report->node, p);
	json_write_close(&w, ']');
	if (report->changes)
		write_changes(&w, report->changes);
	json_write_close(&w, '}');
	json_write_end(&w);
	return finish_output(status);
}

enum exit_status render_report_json(const struct report *report, enum exit_status status)
{
	return write_report(report, true, status);
}

enum exit_status render_report_jsonl(const struct report *report, enum exit_status status)
{
	return write_report(report, false, status);
}

/* ---- rules ---- */

static struct json_object *rule_json(const struct rule *rule)
{
	struct json_object *json = json_object_new_object();

	json_put_string(json, "id", rule->id);
	json_put_string(json, "title", rule->title);
	json_put(json, "profiles", render_words(profile_words, rule->profiles));
	json_put_string(json, "severity", severity_words[rule->severity]);
	json_put_string(json, "fix", rule->fix);
	json_put_string(json, "activation", activation_words[rule->activation]);
	json_put_string(json, "reads", rule->reads);
	json_put_string(json, "why", rule->why);
	json_put_string(json, "impact", rule->impact);
	json_put_string(json, "remedy", rule->remedy);
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
