/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-undo.c - takes back what fix --apply did, or lists it. */
#include <errno.h>
#include <string.h>

#include "cmd.h"
#include "fix-apply.h"
#include "outcome.h"
#include "render/render.h"

static enum exit_status list(const struct options *options, struct arena *arena)
{
	struct txn_entries entries;
	int rc = txn_list(options->root, arena, &entries);

	if (rc == -EACCES || rc == -EPERM) {
		complain("only root can read what was done on this host");
		return EXIT_CANNOT;
	}
	if (rc) {
		complain(TXN_STATE_FOLDER ": %s", strerror(-rc));
		return EXIT_CANNOT;
	}
	return options->format == FORMAT_JSON ? render_entries_json(&entries)
					      : render_entries_text(&entries, options);
}

/* The one that would be taken back, or one that was interrupted and is recovered first; NULL where there is
 * neither, which txn_undo() says better. */
static const char *which(const struct options *options, struct arena *arena)
{
	const char *id = options->args_count ? options->args[0] : NULL;
	struct txn_entries entries;

	if (txn_list(options->root, arena, &entries))
		return NULL;
	for_each(entry, &entries.entries)
		if (entry->status == TXN_IS_INTERRUPTED ||
		    (id ? strcmp(entry->id, id) == 0 : entry->status == TXN_IS_APPLIED))
			return entry->id;
	return NULL;
}

static enum exit_status status_of(const struct txn_outcome *outcome)
{
	if (outcome->result == TXN_UNDONE || outcome->result == TXN_NOTHING)
		return EXIT_WELL;
	return outcome->result == TXN_REFUSED ? EXIT_CANNOT : EXIT_UNCONFIRMED;
}

static enum exit_status undo(const struct options *options, struct arena *arena)
{
	const struct txn_options txn = fix_txn_options(options);
	const char *id = options->args_count ? options->args[0] : NULL;
	const char *found = which(options, arena);
	struct txn_outcome result;
	const struct outcome outcome = { .txn = &result };

	if (found && !fix_agreed(options, arena_printf(arena, "Take back %s?", found)))
		return EXIT_CANNOT;
	txn_undo(id, &txn, arena, &result);
	return options->format == FORMAT_JSON
		       ? render_undone_json(&outcome, status_of(&result))
		       : render_outcome_text(&outcome, options, status_of(&result));
}

enum exit_status cmd_undo(const struct options *options)
{
	struct arena *arena = arena_new(ARENA_BYTES);
	enum exit_status status;

	if (!arena) {
		complain("out of memory");
		return EXIT_CANNOT;
	}
	status = options->list ? list(options, arena) : undo(options, arena);
	arena_free(arena);
	return status;
}
