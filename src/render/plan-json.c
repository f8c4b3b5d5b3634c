/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan-json.c - a plan as a document; docs/formats/plan.schema.json. */
#include <string.h>

#include "base/json.h"
#include "base/sha256.h"
#include "fixes/unified.h"
#include "render/render.h"

static struct json_object *list_json(const char *const *list)
{
	struct json_object *array;

	if (!list)
		return NULL;
	array = json_object_new_array();
	for (; *list; list++)
		json_object_array_add(array, json_text(*list, strlen(*list)));
	return array;
}

static struct json_object *repair_json(const struct plan_repair *r)
{
	const struct finding *f = r->finding;
	struct json_object *json = json_object_new_object();

	json_put_string(json, "rule", f->rule->id);
	json_put_string(json, "severity", severity_words[f->severity]);
	json_put_string(json, "title", finding_title(f));
	json_put_string(json, "subject", f->answer.subject);
	json_put_string(json, "observed", f->answer.observed);
	json_put_string(json, "fix", finding_fix(f) ? finding_fix(f)->kind : NULL);
	json_put_string(json, "what", r->what);
	json_put_string(json, "refused", r->refused);
	json_put_string(json, "activation", activation_words[r->activation]);
	json_put_string(json, "cost", r->cost);
	json_put_string(json, "then_run", r->then_run);
	return json;
}

static void put_hash(struct json_object *json, const char *key, struct span bytes)
{
	char hex[SHA256_HEX];

	bool known = bytes.p && sha256_of(bytes.p, bytes.n, hex) == 0;

	json_put_string(json, key, known ? hex : NULL);
}

static struct json_object *file_json(const struct plan *plan, const struct plan_file *file)
{
	struct json_object *json = json_object_new_object();
	const char *diff = unified_diff(plan->arena, file->path, file->before, file->after);

	json_put_string(json, "path", file->path);
	json_put_string(json, "action",
			!file->before.p ? "create"
			: file->after.p ? "change"
					: "remove");
	json_put_string(json, "why", file->why);
	json_put_string(json, "mode",
			file->before.p ? NULL : arena_printf(plan->arena, "%04o", file->mode));
	put_hash(json, "sha256_before", file->before);
	put_hash(json, "sha256_after", file->after);
	json_put(json, "content", file->after.p ? json_text(file->after.p, file->after.n) : NULL);
	json_put(json, "diff", json_text(diff, strlen(diff)));
	return json;
}

static struct json_object *step_json(const struct plan_step *step)
{
	struct json_object *json = json_object_new_object();

	json_put_string(json, "kind", plan_step_words[step->kind]);
	json_put_string(json, "subject", step->subject);
	json_put_string(json, "path", step->path);
	json_put_string(json, "tool", step->tool);
	json_put(json, "argv", list_json(step->argv));
	json_put(json, "must_hold", list_json(step->must_hold));
	return json;
}

struct json_object *render_plan_object(const struct plan *plan, const struct report *report)
{
	struct json_object *json = json_document("nvnodecheck-plan");
	struct json_object *repairs = json_object_new_array();
	struct json_object *files = json_object_new_array();
	struct json_object *steps = json_object_new_array();

	for_each(r, &plan->repairs)
		json_object_array_add(repairs, repair_json(r));
	for_each(file, &plan->files)
		json_object_array_add(files, file_json(plan, file));
	for_each(step, &plan->steps)
		json_object_array_add(steps, step_json(step));
	json_put(json, "node", render_node(report->node));
	json_put(json, "profiles", render_words(profile_words, report->profiles));
	json_put_string(json, "id", plan->id);
	json_put_string(json, "refused", plan->refused);
	json_put(json, "repairs", repairs);
	json_put(json, "files", files);
	json_put(json, "steps", steps);
	return json;
}

enum exit_status render_plan_json(const struct plan *plan, const struct report *report,
				  enum exit_status status)
{
	_cleanup_json_ struct json_object *json = render_plan_object(plan, report);

	return render_json(json, status);
}
