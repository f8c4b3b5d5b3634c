/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-recover.c - reverting: after a failure, after an interruption, and for undo. All three are the same, and can be
 * interrupted and repeated any number of times. A file in its previous state is left, a file that the transaction made
 * is replaced by the previous one, and any other file belongs to another program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "txn/txn-private.h"
#include "txn/write-private.h"

/* ---- one file ---- */

/* A copy of another size is not read: it can have any. */
static int hash_copy(struct txn *t, const struct kept *kept, int fd, char sha[SHA256_HEX])
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size != kept->before.size) {
		*sha = '\0';
		return 0;
	}
	return write_hash(&t->w, fd, sha);
}

static int open_copy(struct txn *t, const struct kept *kept)
{
	_cleanup_close_ int from = txn_state_kept_open(t, kept);
	char sha[SHA256_HEX];
	int rc = from < 0 ? from : hash_copy(t, kept, from, sha);

	if (rc == -EBADF || rc == -ELOOP)
		return write_refuse(&t->w, -EBADMSG, kept->path,
				    "its kept copy is not a regular file with one name, or a "
				    "file is mounted there");
	if (rc == 0 && strcmp(sha, kept->before.sha256) != 0)
		return write_refuse(&t->w, -EBADMSG, kept->path, "its kept copy is damaged");
	if (rc == 0 && lseek(from, 0, SEEK_SET) < 0)
		rc = -errno;
	if (rc)
		return write_read_failed(&t->w, rc, kept->path, "its kept copy cannot be used");
	rc = fcntl(from, F_DUPFD_CLOEXEC, 0);
	return rc < 0 ? write_failed(&t->w, kept->path, "opening its kept copy") : rc;
}

static int put_back(struct txn *t, const struct kept *kept, const struct file_seen *now)
{
	_cleanup_close_ int from = -1;

	if (!kept->before.there)
		return write_remove(&t->w, kept->path, now);
	if (!kept->is_link) {
		from = open_copy(t, kept);
		if (from < 0)
			return from;
	}
	return write_put(&t->w, &(struct write_request){ .path = kept->path,
							 .link = kept->before.link,
							 .from = from,
							 .meta = &kept->before.meta,
							 .exact = true,
							 .expected = now });
}

/* All files that the transaction may have left in its place. */
struct known {
	const struct file_seen *states[4];
};

static struct known list_known(const struct kept *kept)
{
	static const struct file_seen nothing;

	return (struct known){ { &kept->before, kept->after_known ? &kept->after : &nothing,
				 &kept->remade, NULL } };
}

/* The bytes are not read if the size is that of no known state. */
static int see_kept(struct txn *t, const struct kept *kept, struct file_seen *now)
{
	const struct known known = list_known(kept);

	return write_see_known(&t->w, kept->path, known.states, now);
}

/* Completes an exchange that was interrupted between two renames, and then reads the state; WHOLE: in any case. */
static int see_now(struct txn *t, const struct kept *kept, bool whole, struct file_seen *now)
{
	const struct known known = list_known(kept);
	int rc = write_sweep(&t->w, kept->path);

	if (rc == 0)
		rc = write_settle(&t->w, kept->path, known.states);
	if (rc)
		return rc;
	if (kept->is_link)
		return write_see_link(&t->w, kept->path, now);
	return whole ? write_see(&t->w, kept->path, now) : see_kept(t, kept, now);
}

/* Without its folder, or its copy, no later attempt succeeds; it would only block all later transactions. A change by
 * another program at this moment is left alone. */
static enum txn_item_state not_restored(struct txn *t, int rc, const char **text)
{
	*text = arena_strdup(t->arena, t->w.why);
	if (t->w.refused || t->w.overtaken || rc == -ENOENT)
		return TXN_KEPT;
	t->again = true;
	return TXN_FAILED;
}

static enum txn_item_state stop(struct txn *t, const char **text)
{
	*text = t->why;
	t->again = true;
	return TXN_FAILED;
}

/* Restores the file, unless another program changed it since then. DOUBT: a program was writing it in place, so its
 * content is uncertain: a copy of it is kept first. */
static enum txn_item_state restore_kept(struct txn *t, struct kept *kept, bool doubt,
					const char **text)
{
	struct file_seen now;
	int rc;

	if (txn_generate_check_place(t, kept->path))
		return stop(t, text);
	rc = see_now(t, kept, !kept->after_known && doubt, &now);
	if (rc)
		return not_restored(t, rc, text);
	if (write_same(&now, &kept->before))
		return TXN_RESTORED;
	if (kept->remade.there && write_same(&now, &kept->remade))
		return TXN_REBUILT;
	if (!kept->after_known && doubt) {
		if (txn_state_keep_found(t, kept))
			return stop(t, text);
	} else if (!kept->after_known || !write_same(&now, &kept->after)) {
		*text = arena_printf(t->arena,
				     "%s: it was %s after the repair, so it was left as it is",
				     kept->path, now.there ? "changed" : "removed");
		return TXN_KEPT;
	}
	rc = put_back(t, kept, &now);
	return rc ? not_restored(t, rc, text) : TXN_RESTORED;
}

/* Returns STATE, or the failure to remove the folders that were made for the file. */
static enum txn_item_state drop_folders(struct txn *t, const struct kept *kept,
					enum txn_item_state state, const char **text)
{
	for (uint32_t i = kept->folders.count; i-- > 0;) {
		int rc = write_drop_folder(&t->w, kept->folders.items[i]);

		if (rc && state == TXN_RESTORED)
			state = not_restored(t, rc, text);
	}
	return state;
}

void txn_restore_kept(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	enum txn_item_state worst = TXN_RESTORED;
	const char *text = NULL;

	for (uint32_t i = step->kept.count; i-- > 0;) {
		struct kept *kept = &step->kept.items[i];
		const char *why = NULL;
		enum txn_item_state state = restore_kept(
			t, kept, !step->ended && txn_generate_in_place(step, kept), &why);

		state = drop_folders(t, kept, state, &why);
		if (state == TXN_FAILED || (state == TXN_KEPT && worst != TXN_FAILED) ||
		    (state == TXN_REBUILT && worst == TXN_RESTORED)) {
			worst = state;
			text = why;
		}
	}
	txn_set(item, worst, text);
}

static void restore_file(struct txn *t, struct txn_file *file, struct txn_item *item)
{
	const char *text = NULL;
	enum txn_item_state state = restore_kept(t, &file->kept, false, &text);

	state = drop_folders(t, &file->kept, state, &text);
	if (state == TXN_RESTORED && !file->kept.before.there)
		text = "it did not exist before";
	txn_set(item, state, text);
}

/* ---- all of it ---- */

static enum txn_result finish(struct txn *t)
{
	enum txn_record_state status = t->committed ? TXN_IS_UNDONE : TXN_IS_ROLLED_BACK;
	enum txn_result result = t->committed ? TXN_UNDONE : TXN_ROLLED_BACK;

	for_each(item, &t->outcome->items)
		if (item->state == TXN_KEPT || item->state == TXN_FAILED) {
			status = TXN_IS_PARTLY;
			result = TXN_PARTLY;
		}
	/* Without a last line the next run tries again. */
	if (t->again)
		txn_note(t, "the next fix or undo tries again what failed");
	else if (txn_journal_write(t, JOURNAL_END, "%s", txn_record_state_words[status]))
		txn_note(t, "%s", t->why);
	else if (status != TXN_IS_PARTLY)
		txn_state_forget(t);
	txn_under_way(t->again);
	return result;
}

static void take_back_steps(struct txn *t)
{
	for (uint32_t i = t->steps.count; i-- > 0;) {
		struct txn_step *step = &t->steps.items[i];
		struct txn_item *item = txn_item_of_step(t, step);

		if (step->begun && !step->left)
			txn_step_undo(t, step, item);
		else if (item->state == TXN_FAILED)
			txn_set(item, TXN_NOT_REACHED, NULL);
	}
}

/* A lost line leaves no trace in the journal. The content of the file is one that only this transaction makes. */
static bool was_written(struct txn *t, const struct txn_file *file)
{
	const struct kept *kept = &file->kept;
	struct file_seen now;

	if (file->begun)
		return true;
	if (see_kept(t, kept, &now))
		return !t->w.refused;
	return write_same(&now, &kept->after) && !write_same(&now, &kept->before);
}

static void take_back_files(struct txn *t)
{
	for (uint32_t i = t->files.count; i-- > 0;) {
		struct txn_file *file = &t->files.items[i];
		struct txn_item *item = txn_item_of_file(t, file);

		if (was_written(t, file))
			restore_file(t, file, item);
		else if (item->state == TXN_FAILED)
			txn_set(item, TXN_NOT_REACHED, NULL);
	}
}

enum txn_result txn_revert(struct txn *t)
{
	t->taking_back = t->w.changing = true;
	txn_under_way(true);
	/* Without it the next run would take COMMIT as final; nothing is undone yet. */
	if (txn_journal_note(t, JOURNAL_UNDO) && (t->committed || t->commit_tried)) {
		t->outcome->text = t->why;
		txn_under_way(!t->committed);
		return t->committed ? TXN_REFUSED : TXN_PARTLY;
	}
	take_back_steps(t);
	take_back_files(t);
	for_each_mut(step, &t->steps)
		if (step->begun && !step->left)
			txn_step_redo(t, step, txn_item_of_step(t, step));
	return finish(t);
}

/* STEP was left out when the files were changed, and now they are back. */
static const char *why_still_left(const struct txn_step *step)
{
	return txn_step_is_live(step)
		       ? "it was not done here; a host that has booted with the changed "
			 "files keeps it until its next boot"
		       : step->left;
}

static void make_items(struct txn *t)
{
	for_each(file, &t->files)
		LIST_ADD(t->arena, &t->outcome->items)->subject = file->kept.path;
	for_each(step, &t->steps) {
		struct txn_item *item = LIST_ADD(t->arena, &t->outcome->items);

		item->step = true;
		item->subject = txn_step_title(t->arena, step);
		if (step->left)
			txn_set(item, TXN_LEFT, why_still_left(step));
	}
}

/* A transaction of the state folder that shares open files with T. */
static struct txn another(const struct txn *t, struct txn_outcome *outcome)
{
	return (struct txn){ .arena = t->arena,
			     .options = t->options,
			     .outcome = outcome,
			     .host = t->host,
			     .w = t->w,
			     .lock = t->lock,
			     .records = t->records,
			     .folder = -1,
			     .journal = -1 };
}

static void close_another(struct txn *other)
{
	close_fd(&other->journal);
	close_fd(&other->folder);
}

/* ---- after an interruption ---- */

static const char *where_it_stopped(const struct txn *t)
{
	const char *where = "before its first change";

	if (t->undoing)
		return "while it was being undone";
	for_each(file, &t->files)
		if (file->begun)
			where = arena_printf(t->arena, "at %s", file->kept.path);
	for_each(step, &t->steps)
		if (step->begun)
			where = arena_printf(t->arena, "at: %s", txn_step_title(t->arena, step));
	return where;
}

static bool is_back(const struct txn_item *item)
{
	return item->state == TXN_RESTORED || item->state == TXN_NOT_REACHED;
}

static const char *add_item(struct arena *arena, const char *text, const struct txn_item *item)
{
	return arena_printf(arena, "%s; %s: %s", text, item->subject,
			    item->text ? item->text : txn_item_words[item->state]);
}

/* Lists what was not restored: "; WHAT: WHY; ...". Steps that were never done are not listed. */
static const char *exceptions(struct txn *t)
{
	const char *text = "";

	for_each(file, &t->files)
		if (!is_back(txn_item_of_file(t, file)))
			text = add_item(t->arena, text, txn_item_of_file(t, file));
	for_each(step, &t->steps)
		if (!step->left && !is_back(txn_item_of_step(t, step)))
			text = add_item(t->arena, text, txn_item_of_step(t, step));
	return text;
}

static const char *what_became(struct txn *other)
{
	const char *text = exceptions(other);

	if (*text)
		return arena_printf(other->arena, "undone, except for%s", text + 1);
	if (other->found)
		return "undone; copies of the files found in their place are kept";
	return other->committed ? "the undo is now complete"
				: "rolled back; the node is as it was before";
}

static int take_back_other(struct txn *t, struct txn *other)
{
	const char *where = where_it_stopped(other);
	enum txn_result result;
	int rc = txn_journal_open(other);

	if (rc)
		return txn_fail(t, rc, "%s", other->why);
	make_items(other);
	txn_print_progress(t, "Undoing %s, which was interrupted", other->id);
	result = txn_revert(other);
	txn_audit(other, "recover", txn_result_words[result]);
	*LIST_ADD(t->arena, &t->outcome->recovered) = arena_printf(
		t->arena, "%s was interrupted %s: %s", other->id, where, what_became(other));
	for_each(note, &other->outcome->notes)
		*LIST_ADD(t->arena, &t->outcome->notes) = *note;
	return other->again ? txn_fail(t, -EBUSY, "%s was interrupted and could not be undone%s",
				       other->id, exceptions(other))
			    : 0;
}

static bool is_finished(const struct txn *t)
{
	return !t->journal_damaged && (t->ended || (t->committed && !t->undoing));
}

/* The right state is not known then: nothing is guessed, and the only copies stay. */
static int in_doubt(struct txn *t, struct txn *other)
{
	return txn_fail(t, -EBADMSG, "the changes of %s are not known (%s). %s", other->id,
			other->why, txn_state_advice(other));
}

/* Returns true for a finished transaction. It is read in an arena of its own, because there can be many. */
static bool needs_nothing(const struct txn *t, const char *id)
{
	struct arena *arena = arena_new(ARENA_BYTES, "transactions");
	struct txn_outcome outcome = { 0 };
	struct txn other = another(t, &outcome);
	bool finished;

	if (!arena)
		return false;
	other.arena = other.w.arena = arena;
	finished = txn_state_load(&other, id) == 0 && is_finished(&other);
	close_another(&other);
	arena_free(arena);
	return finished;
}

static int recover_one(struct txn *t, const char *id)
{
	struct txn_outcome outcome = { 0 };
	struct txn other = another(t, &outcome);
	int rc;

	if (needs_nothing(t, id))
		return txn_stop_if_asked(t);
	rc = txn_state_load(&other, id);

	if (rc == -EBADMSG)
		rc = is_finished(&other) ? 0 : in_doubt(t, &other);
	else if (rc)
		rc = txn_fail(t, rc, "%s", other.why);
	else if (!is_finished(&other))
		rc = take_back_other(t, &other);
	close_another(&other);
	return rc;
}

int txn_recover_all(struct txn *t)
{
	_cleanup_names_ struct names names = { 0 };
	int rc;

	txn_state_sweep(t);
	rc = txn_state_list_ids(t, &names);
	if (rc)
		return txn_fail(t, rc, "%s: %s", TXN_STATE_FOLDER, strerror(-rc));
	for (size_t i = names.count; rc == 0 && i-- > 0;)
		rc = recover_one(t, arena_strdup(t->arena, names.items[i]));
	/* The recovery was completed despite the signal, but the requested transaction does not begin. */
	return rc ? rc : txn_stop_if_asked(t);
}

void txn_recover(const struct txn_options *options, struct arena *arena,
		 struct txn_outcome *outcome)
{
	struct txn t;
	int rc;

	*outcome = (struct txn_outcome){ .result = TXN_REFUSED };
	run_hold_signals(true);
	rc = txn_open(&t, options, arena, outcome);
	if (rc == 0)
		rc = txn_check_place(&t);
	if (rc == 0)
		rc = txn_lock(&t);
	if (rc == 0)
		rc = txn_recover_all(&t);
	if (rc)
		outcome->text = t.why;
	else
		outcome->result = outcome->recovered.count ? TXN_ROLLED_BACK : TXN_NOTHING;
	txn_close(&t);
	run_hold_signals(false);
}

/* ---- when asked to ---- */

static bool touches(const struct txn *t, const char *path)
{
	for_each(file, &t->files)
		if (strcmp(file->kept.path, path) == 0)
			return true;
	for_each(step, &t->steps)
		for_each(kept, &step->kept)
			if (!step->left && strcmp(kept->path, path) == 0)
				return true;
	return false;
}

/* A file of NEWER that OLDER has as well, or NULL. */
static const char *in_both(const struct txn *older, const struct txn *newer)
{
	for_each(file, &newer->files)
		if (touches(older, file->kept.path))
			return file->kept.path;
	for_each(step, &newer->steps)
		for_each(kept, &step->kept)
			if (!step->left && touches(older, kept->path))
				return kept->path;
	return NULL;
}

static bool is_applied(const struct txn *t)
{
	return t->committed && !(t->ended && t->status == TXN_IS_UNDONE);
}

static bool is_meant(const struct txn *t, const char *id)
{
	if (!id)
		return is_applied(t) && !t->ended;
	return strcmp(t->id, id) == 0 || (t->plan_id && strcmp(t->plan_id, id) == 0);
}

/* Whatever else is damaged, its journal says that it was reverted. */
static bool was_taken_back(const struct txn *t)
{
	return !t->journal_damaged && t->ended &&
	       (t->status == TXN_IS_UNDONE || t->status == TXN_IS_ROLLED_BACK);
}

/* Returns 0 if a record that cannot be read is certainly not the one of ID. */
static int refuse_damaged(struct txn *t, struct txn *damaged, const char *id)
{
	bool named = id && strcmp(damaged->id, id) == 0;

	if (!named && (id || was_taken_back(damaged)))
		return 0;
	return txn_fail(t, -EBADMSG, "%s cannot be undone (%s). %s%s", damaged->id, damaged->why,
			txn_state_advice(damaged), id ? "" : "; to undo an older one, name its ID");
}

/* Loads the newest transaction that matches ID into FOUND. */
static int find_meant(struct txn *t, const char *id, struct txn *found)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = txn_state_list_ids(t, &names);

	if (rc)
		return txn_fail(t, rc, "%s: %s", TXN_STATE_FOLDER, strerror(-rc));
	for (size_t i = names.count; rc == 0 && i-- > 0;) {
		rc = txn_state_load(found, arena_strdup(t->arena, names.items[i]));
		if (rc == 0 && is_meant(found, id))
			return 1;
		if (rc == -EBADMSG)
			rc = refuse_damaged(t, found, id);
		else if (rc)
			rc = txn_fail(t, rc, "%s", found->why);
		close_another(found);
		*found = another(t, t->outcome);
		if (rc == 0)
			rc = txn_stop_if_asked(t);
	}
	return rc;
}

static int refuse_newer(struct txn *t, const struct txn *meant, const char *id)
{
	struct txn_outcome outcome = { 0 };
	struct txn newer = another(t, &outcome);
	int rc = txn_state_load(&newer, id);
	const char *path = rc == 0 && is_applied(&newer) ? in_both(meant, &newer) : NULL;

	if (path)
		rc = txn_fail(t, -EBUSY, "%s changed %s later; undo that one first", id, path);
	else if (rc && !was_taken_back(&newer))
		rc = txn_fail(t, rc, "%s came later, and its changes are not known (%s). %s", id,
			      newer.why, txn_state_advice(&newer));
	else
		rc = 0;
	close_another(&newer);
	return rc;
}

static int refuse_older(struct txn *t, const struct txn *meant)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = txn_state_list_ids(t, &names);

	for (size_t i = names.count; rc == 0 && i-- > 0 && strcmp(names.items[i], meant->id) > 0;)
		rc = refuse_newer(t, meant, arena_strdup(t->arena, names.items[i]));
	return rc ? rc : txn_stop_if_asked(t);
}

/* Returns true if reverting the file would fail because of its copy: WHY is filled. */
static bool copy_is_lost(struct txn *t, const struct kept *kept)
{
	_cleanup_close_ int copy = -1;
	struct file_seen now;

	if (!kept->before.there || kept->is_link || see_kept(t, kept, &now) ||
	    write_same(&now, &kept->before) ||
	    (kept->after_known && !write_same(&now, &kept->after)))
		return false;
	copy = open_copy(t, kept);
	return copy < 0;
}

static const char *add_lost(struct txn *t, const char *text, const struct kept *kept)
{
	if (!copy_is_lost(t, kept))
		return text;
	return arena_printf(t->arena, "%s%s%s", text, *text ? "; " : "", t->w.why);
}

/* Before the first change: half of the old files beside half of the new ones is a state that no administrator asked
 * for. */
static int refuse_lost_copies(struct txn *t, struct txn *meant)
{
	const char *text = "";

	for_each(file, &meant->files)
		text = add_lost(meant, text, &file->kept);
	for_each(step, &meant->steps)
		for_each(kept, &step->kept)
			if (step->begun && !step->left)
				text = add_lost(meant, text, kept);
	if (txn_stop_if_asked(t))
		return -EINTR;
	return *text ? txn_fail(
			       t, -EBADMSG,
			       "%s cannot be undone: %s. Nothing was changed. The other kept copies "
			       "are before.N in " TXN_STATE_FOLDER "/%s, and plan.json there names "
			       "the file of each: restore by hand what is wrong",
			       meant->id, text, meant->id)
		     : 0;
}

static int undo(struct txn *t, struct txn *meant)
{
	int rc = refuse_older(t, meant);

	if (rc == 0 && !is_applied(meant))
		rc = txn_fail(t, -EALREADY, "%s is already %s", meant->id,
			      txn_record_state_words[meant->status]);
	if (rc == 0)
		rc = refuse_lost_copies(t, meant);
	if (rc)
		return rc;
	rc = txn_journal_open(meant);
	if (rc)
		return txn_fail(t, rc, "%s", meant->why);
	t->outcome->id = meant->id;
	make_items(meant);
	txn_audit(meant, "undo", NULL);
	t->outcome->result = txn_revert(meant);
	txn_audit(meant, "end", txn_result_words[t->outcome->result]);
	return 0;
}

void txn_undo(const char *id, const struct txn_options *options, struct arena *arena,
	      struct txn_outcome *outcome)
{
	struct txn t, meant;
	int rc;

	*outcome = (struct txn_outcome){ .result = TXN_REFUSED };
	run_hold_signals(true);
	rc = txn_open(&t, options, arena, outcome);
	if (rc == 0 && !options->root && geteuid() != 0)
		rc = txn_fail(&t, -EPERM, "only root can change this host: sudo nvnodecheck undo");
	if (rc == 0)
		rc = txn_check_place(&t);
	if (rc == 0)
		rc = txn_lock(&t);
	if (rc == 0)
		rc = txn_recover_all(&t);
	if (rc == 0)
		rc = txn_check_packages(&t);
	meant = another(&t, outcome);
	if (rc == 0)
		rc = find_meant(&t, id, &meant);
	if (rc == 1)
		rc = undo(&t, &meant);
	else if (rc == 0 && id)
		rc = txn_fail(&t, -ENOENT,
			      "there is no transaction %s; nvnodecheck undo --list shows all", id);
	else if (rc == 0)
		outcome->result = TXN_NOTHING;
	if (rc < 0)
		outcome->text = t.why;
	close_another(&meant);
	txn_close(&t);
	run_hold_signals(false);
}
