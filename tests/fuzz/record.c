/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of a transaction: plan.json, then after byte 1 the journal. A record that is read is
 * written as the same again, and the list of transactions never calls one applied whose journal does
 * not say so. */
#include "tree.h"

#include "base/json.h"
#include "host/root.h"
#include "txn/txn-private.h"

#define ID "20260101T000000Z-0123456789abcdef"
#define FOLDER TXN_STATE_FOLDER "/" ID

static const char *again(struct arena *arena, struct span text)
{
	struct json_error error;
	_cleanup_json_ struct json_object *json = json_parse(text.p, text.n, &error);
	_cleanup_json_ struct json_object *written = NULL;
	struct txn t = { .arena = arena, .id = ID };

	if (!json || txn_record_from_json(&t, json))
		return NULL;
	for_each(file, &t.files)
		assert(file->kept.path && file->kept.number < t.kept_count);
	for_each(step, &t.steps)
		for_each(kept, &step->kept)
			assert(kept->path && kept->number < t.kept_count);
	written = txn_record_to_json(&t);
	return arena_strdup(arena, json_object_to_json_string(written));
}

static void check_list(struct arena *arena, struct span journal)
{
	struct txn_entries entries;
	const char *commit = span_search(journal, "COMMIT");
	struct root root;
	int rc = root_open(&root, tree_folder);

	assert(rc == 0);
	rc = txn_list(&root, arena, &entries);
	root_close(&root);
	assert(rc == 0 && entries.entries.count <= 1);
	for_each(entry, &entries.entries) {
		assert(entry->status != TXN_IS_APPLIED || commit || span_search(journal, "END"));
		for_each(file, &entry->files)
			assert(*file);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = fuzz_span(data, size), plan = { "", 0 };
	struct arena *arena = fuzz_arena();
	const char *one, *two;

	tree_begin();
	span_cut(&rest, '\1', &plan);
	if (!rest.p)
		rest = (struct span){ "", 0 };
	one = again(arena, plan);
	two = one ? again(arena, span_of(one)) : NULL;
	assert(!one || (two && strcmp(one, two) == 0));
	tree_put(FOLDER "/plan.json", plan.p, plan.n);
	tree_put(FOLDER "/journal", rest.p, rest.n);
	check_list(arena, rest);
	return 0;
}
