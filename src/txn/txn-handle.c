/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-handle.c - parts of a transaction that several files use: opening, messages, results. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/memory.h"
#include "txn/lock-file.h"
#include "txn/txn-private.h"

/* ---- shared parts ---- */

int txn_fail(struct txn *t, int rc, const char *format, ...)
{
	va_list ap;

	if (!format) {
		t->why = arena_strdup(t->arena, t->w.why);
		return rc;
	}
	va_start(ap, format);
	t->why = arena_vprintf(t->arena, format, ap);
	va_end(ap);
	return rc;
}

int txn_stop_if_asked(struct txn *t)
{
	return run_interrupted() ? txn_fail(t, -EINTR, "stopped by a signal") : 0;
}

void txn_note(struct txn *t, const char *format, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, format);
	text = arena_vprintf(t->arena, format, ap);
	va_end(ap);
	*LIST_ADD(t->arena, &t->outcome->notes) = text;
}

void txn_print_progress(struct txn *t, const char *format, ...)
{
	char text[256];
	va_list ap;

	if (!t->options->progress)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	t->options->progress(t->options->user, text);
}

void txn_under_way(bool under_way)
{
	if (under_way)
		memory_ends_with(
			EXIT_UNCONFIRMED,
			"this interrupted a transaction; the next 'fix --apply' or 'undo' undoes "
			"its changes");
	else
		memory_ends_with(EXIT_CANNOT, NULL);
}

struct txn_item *txn_item_of_file(struct txn *t, const struct txn_file *file)
{
	return &t->outcome->items.items[file - t->files.items];
}

struct txn_item *txn_item_of_step(struct txn *t, const struct txn_step *step)
{
	return &t->outcome->items.items[t->files.count + (uint32_t)(step - t->steps.items)];
}

/* TEXT without "SUBJECT: " before it: an item is always named with its text. */
static const char *without_subject(const struct txn_item *item, const char *text)
{
	size_t n = item->subject ? strlen(item->subject) : 0;

	return n && strncmp(text, item->subject, n) == 0 && starts_with(text + n, ": ")
		       ? text + n + 2
		       : text;
}

void txn_set(struct txn_item *item, enum txn_item_state state, const char *text)
{
	item->state = state;
	if (text)
		item->text = without_subject(item, text);
}

void txn_set_reverted(struct txn *t, struct txn_item *item, int rc)
{
	if (rc == -ECANCELED)
		txn_set(item, TXN_LEFT, t->why);
	else
		txn_set(item, rc ? TXN_FAILED : TXN_RESTORED, rc ? t->why : NULL);
	item->output = rc ? t->output : item->output;
}

int txn_open(struct txn *t, const struct txn_options *options, struct arena *arena,
	     struct txn_outcome *outcome)
{
	char error[256];
	int rc;

	*t = (struct txn){ .arena = arena,
			   .options = options,
			   .outcome = outcome,
			   .lock = -1,
			   .records = -1,
			   .folder = -1,
			   .journal = -1,
			   .w.root = -1 };
	if (sha256_load())
		return txn_fail(t, -ELIBACC, SHA256_MISSING);
	t->host = options->root ? host_open_tree(options->root, error) : host_open_live();
	if (!t->host)
		return txn_fail(t, -ENOENT, "%s", options->root ? error : strerror(ENOMEM));
	rc = writer_open(&t->w, options->root, arena);
	return rc ? txn_fail(t, rc, NULL) : 0;
}

void txn_close(struct txn *t)
{
	close_fd(&t->journal);
	close_fd(&t->folder);
	/* The locks are released explicitly: a probing child of the last check may hang with the descriptors open. */
	lock_file_release(&t->records);
	lock_file_release(&t->lock);
	writer_close(&t->w);
	if (t->host)
		host_close(t->host);
}

const char *txn_boot_id(struct txn *t)
{
	_cleanup_text_ struct text text = { 0 };
	struct span id;

	if (t->options->root ||
	    host_read(t->host, &text, 64, "/proc/sys/kernel/random/boot_id") < 0)
		return NULL;
	id = span_trim(text_span(&text));
	return arena_strndup(t->arena, id.p, id.n);
}
