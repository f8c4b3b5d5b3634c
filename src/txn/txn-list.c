/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-list.c - the list of transactions of this node, from the state folder. */
#include <errno.h>

#include "base/cleanup.h"
#include "txn/txn-private.h"

static enum txn_record_state status_of(const struct txn *t, int rc)
{
	if (rc)
		return TXN_IS_DAMAGED;
	if (t->ended)
		return t->status;
	return t->committed && !t->undoing ? TXN_IS_APPLIED : TXN_IS_INTERRUPTED;
}

static void add_entry(struct txn *t, int rc, struct txn_entries *entries)
{
	struct txn_entry *entry = LIST_ADD(t->arena, &entries->entries);
	const char *text = rc ? arena_printf(t->arena, "%s. %s", t->why, txn_state_advice(t))
			      : NULL;

	*entry = (struct txn_entry){ .id = t->id,
				     .plan_id = t->plan_id,
				     .status = status_of(t, rc),
				     .text = text,
				     .time_s = t->time_s,
				     .boot_id = t->boot_id,
				     .who = t->who };
	if (rc)
		return;
	for_each(file, &t->files)
		*LIST_ADD(t->arena, &entry->files) = file->kept.path;
	for_each(step, &t->steps)
		for_each(kept, &step->kept)
			if (!step->left)
				*LIST_ADD(t->arena, &entry->files) = kept->path;
	for_each(repair, &t->repairs)
		*LIST_ADD(t->arena, &entry->repairs) = *repair;
}

int txn_list(const struct root *root, struct arena *arena, struct txn_entries *entries)
{
	const struct txn_options options = { .root = root };
	_cleanup_names_ struct names names = { 0 };
	struct txn_outcome outcome = { 0 };
	struct txn t;
	int rc;

	*entries = (struct txn_entries){ 0 };
	rc = txn_open(&t, &options, arena, &outcome);
	if (rc == 0)
		rc = txn_state_list_ids(&t, &names);
	for (size_t i = names.count; rc == 0 && i-- > 0;) {
		struct txn one = { .arena = arena,
				   .options = &options,
				   .outcome = &outcome,
				   .host = t.host,
				   .w = t.w,
				   .lock = -1,
				   .records = -1,
				   .folder = -1,
				   .journal = -1 };
		add_entry(&one, txn_state_load(&one, arena_strdup(arena, names.items[i])), entries);
		close_fd(&one.folder);
	}
	txn_close(&t);
	return rc;
}
