/* SPDX-License-Identifier: GPL-2.0-or-later */
/* outcome-json.c - the outcome of a transaction, in the document of its plan or in one of its own. */
#include <string.h>

#include "base/json.h"
#include "render/render.h"
#include "txn/repair-outcome.h"

static struct json_object *strings(const void *list)
{
	const struct fact_list *l = list;
	const char *const *items = l->items;
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < l->count; i++)
		json_object_array_add(array, json_text(items[i], strlen(items[i])));
	return array;
}

static struct json_object *item_json(const struct txn_item *item)
{
	struct json_object *json = json_object_new_object();

	json_put_string(json, "kind", item->step ? "step" : "file");
	json_put_string(json, "subject", item->subject);
	json_put_string(json, "state", txn_item_words[item->state]);
	json_put_string(json, "text", item->text);
	json_put_string(json, "output", item->output);
	return json;
}

static struct json_object *repair_json(const struct plan_repair *r, enum repair_result result)
{
	struct json_object *json = json_object_new_object();

	json_put_string(json, "rule", r->finding->rule->id);
	json_put_string(json, "subject", r->finding->answer.subject);
	json_put_string(json, "result", repair_result_words[result]);
	return json;
}

static struct json_object *outcome_json(const struct repair_outcome *o)
{
	struct json_object *json = json_object_new_object();
	struct json_object *items = json_object_new_array();
	struct json_object *repairs = json_object_new_array();

	for_each(item, &o->txn->items)
		json_object_array_add(items, item_json(item));
	for (uint32_t i = 0; o->plan && i < o->plan->repairs.count; i++)
		json_object_array_add(repairs,
				      repair_json(&o->plan->repairs.items[i], o->results[i]));
	json_put_string(json, "result", txn_result_words[o->txn->result]);
	json_put_string(json, "id", o->txn->id);
	json_put_string(json, "text", o->txn->text);
	json_put_string(json, "waits_for_boot_id_to_change", o->boot_id);
	json_put(json, "repairs", repairs);
	json_put(json, "items", items);
	json_put(json, "notes", strings(&o->txn->notes));
	json_put(json, "recovered", strings(&o->txn->recovered));
	return json;
}

enum exit_status render_applied_json(const struct repair_outcome *o, const struct report *report,
				     enum exit_status status)
{
	_cleanup_json_ struct json_object *json = render_plan_object(o->plan, report);

	json_put(json, "outcome", outcome_json(o));
	return render_json(json, status);
}

enum exit_status render_undone_json(const struct repair_outcome *o, enum exit_status status)
{
	_cleanup_json_ struct json_object *json = json_document("nvnodecheck-undo");

	json_put(json, "outcome", outcome_json(o));
	return render_json(json, status);
}

static struct json_object *entry_json(const struct txn_entry *entry)
{
	struct json_object *json = json_object_new_object();
	struct json_object *repairs = json_object_new_array();

	for_each(r, &entry->repairs) {
		struct json_object *repair = json_object_new_object();

		json_put_string(repair, "rule", r->rule);
		json_put_string(repair, "subject", r->subject);
		json_put_string(repair, "what", r->what);
		json_put_string(repair, "activation", activation_words[r->activation]);
		json_object_array_add(repairs, repair);
	}
	json_put_string(json, "id", entry->id);
	json_put_string(json, "plan_id", entry->plan_id);
	json_put_string(json, "status", txn_record_state_words[entry->status]);
	json_put_string(json, "text", entry->text);
	json_put_number(json, "time_s", entry->time_s);
	json_put_string(json, "boot_id", entry->boot_id);
	json_put_string(json, "who", entry->who);
	json_put(json, "files", strings(&entry->files));
	json_put(json, "repairs", repairs);
	return json;
}

enum exit_status render_entries_json(const struct txn_entries *entries)
{
	_cleanup_json_ struct json_object *json = json_document("nvnodecheck-undo");
	struct json_object *array = json_object_new_array();

	for_each(entry, &entries->entries)
		json_object_array_add(array, entry_json(entry));
	json_put(json, "transactions", array);
	return render_json(json, EXIT_WELL);
}
