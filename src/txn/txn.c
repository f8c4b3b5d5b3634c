/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn.c - carries out a plan as one transaction, and reverts it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "txn/txn-private.h"
#include "txn/write-private.h"

const char *const txn_result_words[] = {
	[TXN_APPLIED] = "applied",
	[TXN_REFUSED] = "refused",
	[TXN_ROLLED_BACK] = "rolled-back",
	[TXN_UNDONE] = "undone",
	[TXN_PARTLY] = "partly",
	[TXN_NOTHING] = "nothing",
	NULL,
};
const char *const txn_item_words[] = {
	[TXN_NOT_REACHED] = "not-reached", [TXN_DONE] = "done",	  [TXN_RESTORED] = "restored",
	[TXN_REBUILT] = "rebuilt",	   [TXN_KEPT] = "kept",	  [TXN_LEFT] = "left",
	[TXN_FAILED] = "failed",	   [TXN_STAYS] = "stays", NULL,
};
const char *const txn_record_state_words[] = {
	[TXN_IS_APPLIED] = "applied",
	[TXN_IS_UNDONE] = "undone",
	[TXN_IS_ROLLED_BACK] = "rolled-back",
	[TXN_IS_PARTLY] = "partly",
	[TXN_IS_INTERRUPTED] = "interrupted",
	[TXN_IS_DAMAGED] = "damaged",
	NULL,
};

/* ---- from plan to transaction ---- */

static bool same_content(const struct file_seen *seen, struct span bytes)
{
	char sha[SHA256_HEX];

	if (!seen->there || !bytes.p)
		return !seen->there && !bytes.p;
	return sha256_of(bytes.p, bytes.n, sha) == 0 && strcmp(sha, seen->sha256) == 0;
}

static int set_after(struct txn *t, struct kept *kept, struct span bytes)
{
	int rc = bytes.p ? sha256_of(bytes.p, bytes.n, kept->after.sha256) : 0;

	kept->after_known = true;
	kept->after.there = kept->after.sized = bytes.p != NULL;
	kept->after.size = bytes.n;
	return rc ? txn_fail(t, rc, "%s: %s", kept->path, strerror(-rc)) : 0;
}

/* The folders above PATH that must be made for it. */
static void find_new_folders(struct txn *t, struct kept *kept, const char *path)
{
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		const char *folder = arena_strndup(t->arena, path, (size_t)(slash - path));

		if (!write_folder_exists(&t->w, folder))
			*LIST_ADD(t->arena, &kept->folders) = folder;
	}
}

static int check_plan_file(struct txn *t, const struct plan_file *from)
{
	struct file_seen seen;
	const char *wrong = txn_path_problem(from->path);
	int rc;

	if (wrong)
		return txn_fail(t, -EINVAL, "%s: refused: %s", from->path, wrong);
	rc = write_see(&t->w, from->path, &seen);
	if (rc)
		return txn_fail(t, rc, NULL);
	if (!same_content(&seen, from->before))
		return txn_fail(t, -ESTALE, "%s: changed since the plan was made", from->path);
	for_each(other, &t->files)
		if (strcmp(other->kept.path, from->path) == 0)
			return txn_fail(t, -EINVAL, "%s: listed twice in the plan", from->path);
	return 0;
}

static int take_files(struct txn *t, const struct plan *plan)
{
	for_each(from, &plan->files) {
		struct txn_file *file;
		int rc = check_plan_file(t, from);

		if (rc)
			return rc;
		file = LIST_ADD(t->arena, &t->files);
		file->kept.path = from->path;
		file->bytes = from->after;
		file->mode = from->mode;
		rc = set_after(t, &file->kept, from->after);
		if (rc)
			return rc;
		if (from->after.p)
			find_new_folders(t, &file->kept, from->path);
		LIST_ADD(t->arena, &t->outcome->items)->subject = from->path;
	}
	return 0;
}

static int take_steps(struct txn *t, const struct plan *plan)
{
	for_each(from, &plan->steps) {
		struct txn_step *step = LIST_ADD(t->arena, &t->steps);
		struct txn_item *item = LIST_ADD(t->arena, &t->outcome->items);
		int rc;

		*step = (struct txn_step){ .kind = from->kind,
					   .subject = from->subject,
					   .path = from->path,
					   .tool = from->tool,
					   .must_hold = from->must_hold };
		item->step = true;
		item->subject = txn_step_title(t->arena, step);
		rc = txn_step_prepare(t, step);
		if (rc)
			return rc;
		if (step->left)
			txn_set(item, TXN_LEFT, step->left);
		else if (step->idle)
			txn_set(item, TXN_DONE, "nothing to do: the state is already as planned");
	}
	return 0;
}

static void take_repairs(struct txn *t, const struct plan *plan)
{
	for_each(from, &plan->repairs) {
		struct txn_repair *repair;

		if (!from->what || !from->finding)
			continue;
		repair = LIST_ADD(t->arena, &t->repairs);
		*repair = (struct txn_repair){ .rule = from->finding->rule->id,
					       .subject = from->finding->answer.subject,
					       .what = from->what,
					       .activation = from->activation };
	}
}

static int take_plan(struct txn *t, const struct plan *plan)
{
	int rc;

	t->plan_id = plan->id;
	t->time_s = (uint64_t)time(NULL);
	t->boot_id = txn_boot_id(t);
	t->who = txn_who(t->arena);
	take_repairs(t, plan);
	rc = take_files(t, plan);
	return rc ? rc : take_steps(t, plan);
}

/* ---- keeping ---- */

static int check_room(struct txn *t, const struct plan *plan)
{
	uint64_t need = 1u << 20, room;
	struct file_seen seen;
	int rc;

	for_each(file, &plan->files)
		need += file->before.n;
	for_each(step, &t->steps)
		if (step->kind == PLAN_INITRAMFS && !step->left &&
		    write_see(&t->w, step->path, &seen) == 0)
			need += seen.size;
	rc = write_room(&t->w, TXN_STATE_FOLDER, &room);
	if (rc)
		return txn_fail(t, rc, NULL);
	if (room < need)
		return txn_fail(
			t, -ENOSPC,
			"%s: not enough space for the copies: %llu KiB needed, %llu KiB free",
			TXN_STATE_FOLDER, (unsigned long long)need / 1024,
			(unsigned long long)room / 1024);
	return 0;
}

/* Between the first check and this one a file may have changed. */
static int keep_files(struct txn *t, const struct plan *plan)
{
	for_each_mut(file, &t->files) {
		const struct plan_file *from = &plan->files.items[file - t->files.items];
		int rc = txn_state_keep(t, &file->kept, file->kept.path);

		if (rc)
			return rc;
		if (!same_content(&file->kept.before, from->before))
			return txn_fail(t, -ESTALE, "%s: changed since the plan was made",
					file->kept.path);
	}
	for_each_mut(step, &t->steps) {
		int rc = step->left ? 0 : txn_step_keep(t, step);

		if (rc)
			return rc;
	}
	return 0;
}

static int write_down(struct txn *t, const struct plan *plan)
{
	int rc = txn_state_create(t);

	if (rc == 0)
		rc = check_room(t, plan);
	if (rc == 0)
		rc = keep_files(t, plan);
	if (rc == 0)
		rc = txn_state_begin(t);
	if (rc && t->folder >= 0)
		txn_state_discard(t);
	t->outcome->id = rc ? NULL : t->id;
	return rc;
}

/* ---- doing ---- */

static int change_file(struct txn *t, struct txn_file *file)
{
	struct kept *kept = &file->kept;
	const struct write_request request = {
		.path = kept->path,
		.bytes = file->bytes,
		.from = -1,
		.mode = file->mode,
		.meta = kept->before.there ? &kept->before.meta : NULL,
		.expected = &kept->before,
	};
	int rc = txn_stop_if_asked(t);

	if (rc == 0)
		rc = txn_journal_write(t, JOURNAL_INTENT, "%u",
				       (unsigned int)(file - t->files.items));
	if (rc)
		return rc;
	file->begun = true;
	for_each(folder, &kept->folders) {
		/* Another file of the plan may have needed it too. */
		rc = write_make_folder(&t->w, *folder, 0755);
		if (rc && rc != -EEXIST)
			return txn_fail(t, rc, NULL);
	}
	rc = file->bytes.p ? write_put(&t->w, &request)
			   : write_remove(&t->w, kept->path, &kept->before);
	if (rc)
		return txn_fail(t, rc, NULL);
	return txn_journal_write(t, JOURNAL_DONE, "%u", (unsigned int)(file - t->files.items));
}

static int change_files(struct txn *t)
{
	for_each_mut(file, &t->files) {
		struct txn_item *item = txn_item_of_file(t, file);
		int rc = change_file(t, file);

		txn_set(item, rc ? TXN_FAILED : TXN_DONE, rc ? t->why : NULL);
		if (rc)
			return rc;
	}
	return 0;
}

static int run_step(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	unsigned int n = (unsigned int)(step - t->steps.items);
	int rc = txn_stop_if_asked(t);

	if (rc == 0)
		rc = txn_journal_write(t, JOURNAL_RUN, "%u", n);
	if (rc)
		return rc;
	step->begun = true;
	TEST_POINT("running a step");
	rc = txn_step_run(t, step, item);
	if (rc == 0)
		rc = txn_journal_write(t, JOURNAL_RAN, "%u", n);
	if (rc == 0)
		step->ended = true;
	return rc;
}

static int run_steps(struct txn *t)
{
	for_each_mut(step, &t->steps) {
		struct txn_item *item = txn_item_of_step(t, step);
		int rc;

		if (step->left || step->idle)
			continue;
		rc = run_step(t, step, item);
		txn_set(item, rc ? TXN_FAILED : TXN_DONE, rc ? t->why : NULL);
		if (rc) {
			item->output = t->output;
			return rc;
		}
	}
	return 0;
}

static int verify(struct txn *t)
{
	const char *why = "the check after the changes did not confirm the repair";

	if (t->options->verify && !t->options->verify(t->options->user, t->arena, &why))
		return txn_fail(t, -EBADE, "%s", why);
	return txn_journal_note(t, JOURNAL_VERIFIED);
}

static void carry_out(struct txn *t)
{
	int rc;

	t->w.changing = true;
	txn_under_way(true);
	txn_audit(t, "begin", NULL);
	rc = change_files(t);
	if (rc == 0)
		rc = run_steps(t);
	if (rc == 0)
		rc = verify(t);
	if (rc == 0)
		rc = txn_stop_if_asked(t);
	t->commit_tried = rc == 0;
	if (rc == 0)
		rc = txn_journal_note(t, JOURNAL_COMMIT);
	if (rc == 0) {
		t->outcome->result = TXN_APPLIED;
	} else {
		t->outcome->text = t->why;
		t->outcome->result = txn_revert(t);
	}
	txn_under_way(t->again);
	txn_audit(t, "end", txn_result_words[t->outcome->result]);
}

/* Returns true if nothing would be changed: then nothing is recorded, but the node is verified. */
static bool changes_nothing(const struct txn *t)
{
	for_each(step, &t->steps)
		if (!step->left && !step->idle)
			return false;
	return t->files.count == 0;
}

static void report_without_change(struct txn *t)
{
	const char *why = "the check did not confirm it";

	t->outcome->result = TXN_NOTHING;
	if (!t->options->verify || t->options->verify(t->options->user, t->arena, &why))
		return;
	t->outcome->result = TXN_REFUSED;
	t->outcome->text = arena_printf(t->arena, "the plan does not change it: %s", why);
}

static int refuse(struct txn *t, const struct plan *plan)
{
	int rc = txn_check_identity(t, plan);

	if (rc == 0)
		rc = txn_check_place(t);
	if (rc)
		return rc;
	if (plan->refused)
		return txn_fail(t, -EPERM, "%s", plan->refused);
	if (!t->options->root && geteuid() != 0)
		return txn_fail(t, -EPERM,
				"only root can change this host: sudo nvnodecheck fix "
				"--apply");
	return 0;
}

void txn_apply(const struct plan *plan, const struct txn_options *options, struct arena *arena,
	       struct txn_outcome *outcome)
{
	struct txn t;
	int rc;

	*outcome = (struct txn_outcome){ .result = TXN_REFUSED };
	run_hold_signals(true);
	rc = txn_open(&t, options, arena, outcome);
	if (rc == 0)
		rc = refuse(&t, plan);
	if (rc == 0)
		rc = txn_lock(&t);
	if (rc == 0)
		rc = txn_recover_all(&t);
	if (rc == 0)
		rc = txn_check_packages(&t);
	if (rc == 0)
		rc = take_plan(&t, plan);
	if (rc == 0 && changes_nothing(&t)) {
		report_without_change(&t);
	} else {
		if (rc == 0)
			rc = write_down(&t, plan);
		if (rc == 0)
			carry_out(&t);
		else
			outcome->text = t.why;
	}
	txn_close(&t);
	run_hold_signals(false);
}
