/* SPDX-License-Identifier: GPL-2.0-or-later */
/* repairs.c - repairs that fix --apply made here and that were not undone: from the records that a
 * transaction keeps (txn-journal.c), and from what became of the files that it wrote. */
#include <string.h>

#include "base/json.h"
#include "base/sha256.h"
#include "facts/own-files.h"
#include "parse/journal.h"
#include "probes/probe.h"

#define WRITTEN_MAX (16u << 20) /* of a file that was written */
#define RECORD_MAX (4u << 20)
#define JOURNAL_MAX (1u << 20)

struct asking {
	struct host *host;
	struct arena *arena;
};

/* Committed, and no undo was begun. RECORD is what the journal says of the record. */
static bool is_applied(const char *id, struct span text, struct span *record)
{
	struct journal journal;
	bool committed = false;
	struct span event;

	*record = (struct span){ 0 };
	if (journal_begin(&journal, id, text))
		return false;
	while (journal_next(&journal, &event)) {
		enum journal_event kind = journal_event(&event);

		committed |= kind == JOURNAL_COMMIT;
		if (kind == JOURNAL_BEGIN)
			*record = span_trim(event);
		if (kind == JOURNAL_UNDO || kind == JOURNAL_END)
			return false;
	}
	return committed && !journal.damaged;
}

static struct fact_str text_of(struct arena *arena, struct json_object *json, const char *key)
{
	const char *text = json_string(json, key);

	return text ? fact_str(arena, text) : (struct fact_str){ .state = FACT_ABSENT };
}

/* ---- files ---- */

static struct fact_enum state_of(const struct asking *a, const char *path, const char *sha)
{
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(a->host, &text, WRITTEN_MAX, "%s", path);
	enum repair_file_state state = REPAIR_FILE_CHANGED;
	char found[SHA256_HEX];

	if (rc && rc != -ENOENT)
		return (struct fact_enum){ 0 };
	if (rc == -ENOENT) {
		state = sha ? REPAIR_FILE_GONE : REPAIR_FILE_KEPT;
	} else if (sha) {
		if (sha256_of(text.data, text.size, found))
			return (struct fact_enum){ 0 };
		if (strcmp(found, sha) == 0)
			state = REPAIR_FILE_KEPT;
	}
	return (struct fact_enum){ .state = FACT_KNOWN, .value = state };
}

static int compare_files(const void *a, const void *b)
{
	const struct repair_file *x = a, *y = b;

	return strcmp(x->path.value, y->path.value);
}

static void read_files(const struct asking *a, struct transaction *t, struct json_object *list)
{
	t->files.state = FACT_KNOWN;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *json = json_object_array_get_idx(list, i);
		const char *path = json_string(json, "path");
		struct repair_file *file;

		if (!path)
			continue;
		file = LIST_ADD(a->arena, &t->files);
		file->path = fact_str(a->arena, path);
		file->state = state_of(a, path, json_string(json_member(json, "after"), "sha256"));
	}
	fact_list_sort(&t->files, sizeof(t->files.items[0]), compare_files);
}

/* ---- a record ---- */

static void read_repairs(const struct asking *a, struct transaction *t, struct json_object *list)
{
	t->repairs.state = FACT_KNOWN;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		struct json_object *json = json_object_array_get_idx(list, i);
		struct repair *repair = LIST_ADD(a->arena, &t->repairs);

		repair->rule = text_of(a->arena, json, "rule");
		repair->subject = text_of(a->arena, json, "subject");
		repair->what = text_of(a->arena, json, "what");
	}
}

static void read_kernels(const struct asking *a, struct transaction *t, struct json_object *steps)
{
	t->kernels.state = FACT_KNOWN;
	for (size_t i = 0; i < json_object_array_length(steps); i++) {
		struct json_object *json = json_object_array_get_idx(steps, i);
		const char *kind = json_string(json, "kind");
		const char *release = json_string(json, "subject");

		if (kind && release && strcmp(kind, "initramfs") == 0)
			*LIST_ADD(a->arena, &t->kernels) = arena_strdup(a->arena, release);
	}
}

static bool is_list(struct json_object *json, const char *key)
{
	return json_object_is_type(json_member(json, key), json_type_array);
}

/* Skips a record that cannot be read: 'undo --list' calls it damaged. */
static void read_record(const struct asking *a, struct repairs_facts *repairs, const char *id)
{
	_cleanup_text_ struct text text = { 0 }, journal = { 0 };
	_cleanup_json_ struct json_object *json = NULL;
	struct transaction *t;
	struct json_error error;
	char sha[SHA256_HEX];
	struct span right;
	uint64_t time_s;
	bool later;

	if (host_read(a->host, &journal, JOURNAL_MAX, "%s/%s/journal", OWN_TRANSACTIONS, id) ||
	    !is_applied(id, text_span(&journal), &right) ||
	    host_read(a->host, &text, RECORD_MAX, "%s/%s/plan.json", OWN_TRANSACTIONS, id) ||
	    sha256_of(text.data, text.size, sha) || !span_is(right, sha))
		return;
	json = json_parse(text.data, text.size, &error);
	if (!json || json_check_document(json, OWN_RECORD_FORMAT, &later, &error) ||
	    !json_number(json, "time_s", &time_s) || !is_list(json, "repairs") ||
	    !is_list(json, "files") || !is_list(json, "steps"))
		return;
	t = LIST_ADD(a->arena, &repairs->applied);
	t->id = fact_str(a->arena, id);
	t->time_s = fact_u64(time_s);
	t->boot_id = text_of(a->arena, json, "boot_id");
	read_repairs(a, t, json_member(json, "repairs"));
	read_files(a, t, json_member(json, "files"));
	read_kernels(a, t, json_member(json, "steps"));
}

static int repairs_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	const struct asking asking = { host, arena };
	struct repairs_facts *repairs = facts;
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(host, &names, OWN_TRANSACTIONS);

	(void)user;
	repairs->applied.state = probe_state(rc);
	for (size_t i = 0; i < names.count; i++)
		read_record(&asking, repairs, names.items[i]);
	return rc == -ENOENT ? 0 : rc;
}

/* Asked as one question, so that a capture has what is known here and none of the records. */
static void repairs_run(struct probe_context *ctx)
{
	struct repairs_facts answer = { 0 };

	if (host_query(ctx->host, OWN_TRANSACTIONS, &repairs_facts_desc, &answer, ctx->arena,
		       repairs_ask, NULL) == 0)
		ctx->node->repairs = answer;
}

const struct probe probe_repairs = {
	.name = "repairs",
	.phase = PHASE_ALONE,
	PROBE_SECTION(repairs),
	.run = repairs_run,
};
