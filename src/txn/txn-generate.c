/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-generate.c - a file that a program makes from others: an image, a menu. The exit status of the program proves
 * nothing, and some programs write into the live file or delete it when the disk is full. So it is made under another
 * name in the same folder, checked, and only then exchanged with the old one. If a file is found under its own name
 * that the journal does not know, it belongs to another program.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "parse/mountinfo.h"
#include "txn/txn-private.h"
#include "txn/write-private.h"

/* ---- its place ---- */

static bool has_word(struct span words, const char *wanted)
{
	struct span word;

	while (span_cut(&words, ',', &word))
		if (span_is(word, wanted))
			return true;
	return false;
}

/* Returns 1 or 0, or negative errno if mountinfo cannot be read. PLACE is as fstab has it, which escapes blanks as
 * mountinfo does. */
static int is_mounted(struct txn *t, struct span place)
{
	_cleanup_text_ struct text text = { 0 };
	struct mountinfo line;
	struct span rest;
	size_t bad = 0;
	int rc = host_read(t->host, &text, MOUNTINFO_MAX, "/proc/self/mountinfo");

	rest = text_span(&text);
	while (rc == 0 && mountinfo_next(&rest, &line, &bad))
		if (line.point.n == place.n && memcmp(line.point.p, place.p, place.n) == 0)
			return 1;
	return rc ? rc : bad ? -EBADMSG : 0;
}

static int require_mounted(struct txn *t, struct span place)
{
	int rc = is_mounted(t, place);

	if (rc < 0)
		return txn_fail(t, rc,
				"%.*s is in /etc/fstab, and whether it is mounted is not known: %s",
				SPAN_FMT(place), strerror(-rc));
	return rc ? 0
		  : txn_fail(t, -ENODEV, "%.*s is in /etc/fstab and is not mounted; mount it first",
			     SPAN_FMT(place));
}

/* An image in the folder that /boot should be mounted on is one that no boot loader ever reads. */
int txn_generate_check_place(struct txn *t, const char *path)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line, device, place, type, options;
	int rc = t->options->root ? -ENOENT
				  : host_read(t->host, &text, HOST_FILE_MAX, "/etc/fstab");

	if (rc == -ENOENT)
		return 0;
	if (rc)
		return txn_fail(t, rc, "/etc/fstab: %s", strerror(-rc));
	rest = text_span(&text);
	while (rc == 0 && span_cut(&rest, '\n', &line)) {
		if (!span_word(&line, &device) || span_starts(device, "#") ||
		    !span_word(&line, &place) || !span_word(&line, &type))
			continue;
		if (!span_word(&line, &options))
			options = (struct span){ "", 0 };
		/* mount(8) takes "/boot/" for "/boot". */
		while (place.n > 1 && place.p[place.n - 1] == '/')
			place.n--;
		if (place.n < 2 || strncmp(path, place.p, place.n) != 0 || path[place.n] != '/')
			continue;
		if (!has_word(options, "noauto"))
			rc = require_mounted(t, place);
	}
	return rc;
}

const char *txn_generate_program(struct txn *t, const char *name)
{
	const char *program = run_find(t->host, name);

	if (!program)
		txn_fail(t, -ENOENT,
			 "%s is not installed%s. Install it, or add --no-regenerate to change only "
			 "the files",
			 name, t->options->root ? " in this root" : "");
	return program;
}

int txn_generate_prepare(struct txn *t, struct txn_step *step, const char *program,
			 txn_generate_own_check *check)
{
	struct file_seen seen;
	int rc;

	if (write_see(&t->w, step->path, &seen))
		return txn_fail(t, -EINVAL, NULL);
	rc = check ? check(t, step, &seen) : 0;
	if (rc == 0)
		rc = txn_generate_check_place(t, step->path);
	if (rc == 0)
		rc = txn_check_program(t, program);
	txn_step_writes(t, step, step->path);
	return rc;
}

/* ---- making it ---- */

static int check_side(struct txn *t, struct txn_step *step, const char *side, int fd,
		      txn_generate_check *check)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
		return txn_fail(t, -EIO, "%s: not a regular file with one name", side);
	if (st.st_size == 0)
		return txn_fail(t, -EIO, "%s is empty, although the program reported success",
				side);
	return check ? check(t, step, fd) : 0;
}

/* The journal has the hash before the name is given away. */
static int note_made(struct txn *t, const struct txn_step *step, struct kept *kept, int fd)
{
	struct file_seen *made = t->taking_back ? &kept->remade : &kept->after;
	int rc = lseek(fd, 0, SEEK_SET) < 0 ? -errno : write_hash(&t->w, fd, made->sha256);

	if (rc)
		return txn_fail(t, rc, "%s: %s", kept->path, strerror(-rc));
	made->there = true;
	kept->after_known |= !t->taking_back;
	return txn_journal_write(t, t->taking_back ? JOURNAL_REMADE : JOURNAL_MADE, "%u %u %s",
				 (unsigned int)(step - t->steps.items),
				 (unsigned int)(kept - step->kept.items), made->sha256);
}

/* EXPECTED is the file that the new one replaces. */
static int build(struct txn *t, struct txn_step *step, struct kept *kept,
		 const struct file_seen *expected, const char *const *argv,
		 txn_generate_check *check)
{
	const char *side = write_side_path(t->arena, kept->path);
	const struct write_request request = {
		.path = kept->path,
		.expected = expected,
		.mode = 0600,
		.meta = expected->there ? &expected->meta : NULL,
	};
	_cleanup_close_ int fd = -1;
	int rc;

	write_sweep(&t->w, kept->path);
	rc = txn_step_program(t, argv, RUN_INITRAMFS_TIMEOUT_S, &t->output);
	if (rc == 0) {
		TEST_POINT("after a generator");
		fd = write_open(&t->w, side);
		if (fd < 0)
			rc = txn_fail(t, fd, "%s reported success but did not create %s", argv[0],
				      side);
		else
			rc = check_side(t, step, side, fd, check);
	}
	if (rc == 0)
		rc = note_made(t, step, kept, fd);
	if (rc == 0) {
		rc = write_generated(&t->w, side, &request);
		rc = rc ? txn_fail(t, rc, NULL) : 0;
	}
	if (rc)
		write_sweep(&t->w, kept->path);
	return rc;
}

int txn_generate(struct txn *t, struct txn_step *step, struct kept *kept, const char *const *argv,
		 txn_generate_check *check)
{
	return build(t, step, kept, &kept->before, argv, check);
}

bool txn_generate_in_place(const struct txn_step *step, const struct kept *kept)
{
	return step->kind == PLAN_BOOT_LOADER && kept != step->kept.items;
}

/* A copy is kept of an image that was rebuilt since. */
static int remake(struct txn *t, struct txn_step *step, const struct file_seen *now,
		  const char *const *argv, txn_generate_check *check)
{
	struct kept *kept = &step->kept.items[0];
	int rc;

	txn_print_progress(t, "%s: rebuilt, because it had changed since the repair",
			   txn_step_title(t->arena, step));
	rc = txn_state_keep_found(t, kept);
	return rc ? rc : build(t, step, kept, now, argv, check);
}

void txn_generate_redo(struct txn *t, struct txn_step *step, struct txn_item *item,
		       const char *const *argv, txn_generate_check *check)
{
	struct kept *kept = &step->kept.items[0];
	struct file_seen now;
	int rc;

	if (item->state != TXN_KEPT || !t->committed || !argv)
		return;
	rc = write_see(&t->w, kept->path, &now);
	/* Another file of the step was changed. */
	if (rc == 0 && write_same(&now, &kept->before))
		return;
	if (rc || !now.there) {
		/* The kernel is gone, so there is no state to restore. */
		txn_set(item, rc ? TXN_KEPT : TXN_RESTORED,
			rc ? arena_strdup(t->arena, t->w.why)
			   : "the file no longer exists, so it was not put back");
		return;
	}
	if (t->options->no_regenerate) {
		txn_set(item, TXN_LEFT,
			"it was built again after the repair and can contain the undone settings; "
			"rebuild it");
		return;
	}
	rc = remake(t, step, &now, argv, check);
	txn_set(item, rc ? TXN_FAILED : TXN_REBUILT,
		rc ? t->why
		   : "it had changed since the repair, so it was rebuilt from the current files");
	item->output = rc ? t->output : NULL;
}
