/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-undo.c - undo: reverts the changes of fix --apply, or lists them. */
#include <errno.h>
#include <string.h>

#include "cli/apply-plan.h"
#include "cli/cmd.h"
#include "cli/source.h"
#include "render/render.h"
#include "txn/repair-outcome.h"

static enum exit_status undo_list(const struct options *options, const struct root *root,
				  struct arena *arena)
{
	struct txn_entries entries;
	int rc = txn_list(root, arena, &entries);

	if (rc == -EACCES || rc == -EPERM) {
		complain("only root can read the repairs of this host: sudo nvnodecheck undo "
			 "--list");
		return EXIT_CANNOT;
	}
	if (rc) {
		complain(TXN_STATE_FOLDER ": %s", strerror(-rc));
		return EXIT_CANNOT;
	}
	return options->format == FORMAT_JSON ? render_entries_json(&entries)
					      : render_entries_text(&entries, &options->render);
}

struct chosen {
	const char *id;	   /* the one that is meant, or NULL */
	const char *names; /* of all transactions to revert; "": none, and txn_undo() reports it */
};

static bool is_meant(const struct txn_entry *entry, const char *id)
{
	if (!id)
		return entry->status == TXN_IS_APPLIED;
	return strcmp(entry->id, id) == 0 || (entry->plan_id && strcmp(entry->plan_id, id) == 0);
}

/* Chooses the transaction to revert: an interrupted one first, whatever the user named. */
static struct chosen undo_choose(const struct options *options, const struct root *root,
				 struct arena *arena)
{
	const char *id = options->args_count ? options->args[0] : NULL;
	struct chosen chosen = { .id = NULL, .names = "" };
	struct txn_entries entries;

	if (txn_list(root, arena, &entries))
		return chosen;
	for_each(entry, &entries.entries) {
		bool meant = !chosen.id && is_meant(entry, id);

		if (meant)
			chosen.id = entry->id;
		if (meant || entry->status == TXN_IS_INTERRUPTED)
			chosen.names = arena_printf(arena, "%s%s%s", chosen.names,
						    *chosen.names ? " and " : "", entry->id);
	}
	return chosen;
}

static enum exit_status status_of(const struct txn_outcome *outcome)
{
	if (outcome->result == TXN_UNDONE || outcome->result == TXN_NOTHING)
		return EXIT_WELL;
	return outcome->result == TXN_REFUSED ? EXIT_CANNOT : EXIT_UNCONFIRMED;
}

static enum exit_status undo(const struct options *options, const struct root *root,
			     struct arena *arena)
{
	const struct txn_options txn = apply_txn_options(options, root);
	const char *id = options->args_count ? options->args[0] : NULL;
	const struct chosen chosen = undo_choose(options, root, arena);
	struct txn_outcome result;
	const struct repair_outcome outcome = { .arena = arena, .txn = &result };
	enum exit_status status;

	if (*chosen.names &&
	    !apply_is_agreed(options, arena_printf(arena, "Undo %s?", chosen.names)))
		return EXIT_CANNOT;
	txn_undo(chosen.id ? chosen.id : id, &txn, arena, &result);
	status = options->format == FORMAT_JSON
			 ? render_undone_json(&outcome, status_of(&result))
			 : render_outcome_text(&outcome, &options->render, status_of(&result));
	return apply_status(status, &result);
}

enum exit_status cmd_undo(const struct options *options)
{
	struct arena *arena = arena_new(ARENA_BYTES, "transactions");
	struct root root = { .fd = -1 };
	const struct root *used;
	enum exit_status status;

	if (!arena) {
		complain("out of memory");
		return EXIT_CANNOT;
	}
	status = open_root(options, &root, &used);
	if (!status)
		status = options->list ? undo_list(options, used, arena)
				       : undo(options, used, arena);
	root_close(&root);
	arena_free(arena);
	return status;
}
