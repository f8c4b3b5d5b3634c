/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-journal.c - the journal: a line for each action that begins or ends, fsynced before the transaction continues.
 * parse/journal.h has the form of a line, and the events with their arguments.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/open-file.h"
#include "txn/txn-private.h"
#include "txn/write-private.h"

/* ---- writing ---- */

static int journal_failed(struct txn *t, int rc)
{
	return txn_fail(t, rc, "%s/%s/journal: %s", TXN_STATE_FOLDER, t->id, strerror(-rc));
}

int txn_journal_open(struct txn *t)
{
	TEST_POINT("opening the journal");
	t->journal = openat(t->folder, "journal",
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (t->journal < 0)
		t->journal = errno == EEXIST ? open_own_file(t->folder, "journal", O_RDWR) : -errno;
	return t->journal < 0 ? journal_failed(t, t->journal) : 0;
}

/* After the last good line. An incomplete line may follow it. */
static int append(struct txn *t, const char *line, size_t n)
{
	int rc = ftruncate(t->journal, (off_t)t->journal_size) < 0 ||
				 lseek(t->journal, (off_t)t->journal_size, SEEK_SET) < 0
			 ? -errno
			 : 0;

	if (rc == 0)
		rc = write_all(t->journal, line, n);
	TEST_POINT("fsync of the journal");
	if (rc == 0 && fsync(t->journal) < 0)
		rc = -errno;
	return rc;
}

static int write_event(struct txn *t, const char *event)
{
	char line[256 + JOURNAL_CHECK + 1], check[JOURNAL_CHECK];
	int rc = journal_check(t->check, span_of(event), check);
	int n = snprintf(line, sizeof(line), "%s %s\n", event, check);

	if (rc == 0)
		rc = append(t, line, (size_t)n);
	if (rc)
		return journal_failed(t, rc);
	t->journal_size += (size_t)n;
	strcpy(t->check, check);
	return 0;
}

int txn_journal_note(struct txn *t, enum journal_event event)
{
	return write_event(t, journal_event_words[event]);
}

int txn_journal_write(struct txn *t, enum journal_event event, const char *format, ...)
{
	char text[256];
	va_list ap;
	int n = snprintf(text, sizeof(text), "%s ", journal_event_words[event]);

	va_start(ap, format);
	vsnprintf(text + n, sizeof(text) - (size_t)n, format, ap);
	va_end(ap);
	return write_event(t, text);
}

/* ---- reading ---- */

static int word_of(const char *const *words, struct span word)
{
	for (int i = 0; words[i]; i++)
		if (span_is(word, words[i]))
			return i;
	return -1;
}

static bool take_sha(struct span *rest, char sha[SHA256_HEX])
{
	struct span word;

	if (!span_word(rest, &word) || word.n != SHA256_HEX - 1)
		return false;
	memcpy(sha, word.p, word.n);
	sha[word.n] = '\0';
	return true;
}

static struct kept *kept_of(struct txn *t, struct span *rest)
{
	struct span n, m;
	uint64_t step, file;

	if (!span_word(rest, &n) || !span_word(rest, &m) || span_u64(n, 10, &step) ||
	    span_u64(m, 10, &file) || step >= t->steps.count ||
	    file >= t->steps.items[step].kept.count)
		return NULL;
	return &t->steps.items[step].kept.items[file];
}

static void replay_made(struct txn *t, struct span rest, bool again)
{
	struct kept *kept = kept_of(t, &rest);
	struct file_seen *seen;

	if (!kept)
		return;
	seen = again ? &kept->remade : &kept->after;
	kept->after_known |= !again;
	seen->there = take_sha(&rest, seen->sha256);
}

static void replay_end(struct txn *t, struct span word)
{
	int status = word_of(txn_record_state_words, word);

	t->ended = status >= 0;
	t->status = status >= 0 ? (enum txn_record_state)status : TXN_IS_DAMAGED;
}

static void replay_number(struct txn *t, enum journal_event event, struct span word)
{
	uint64_t n;

	if (span_u64(word, 10, &n))
		return;
	if (event == JOURNAL_INTENT && n < t->files.count)
		t->files.items[n].begun = true;
	else if (event == JOURNAL_RUN && n < t->steps.count)
		t->steps.items[n].begun = true;
	else if (event == JOURNAL_RAN && n < t->steps.count)
		t->steps.items[n].ended = true;
}

static void replay_line(struct txn *t, struct span line)
{
	struct span rest = line, word = { "", 0 };
	enum journal_event event = journal_event(&rest);

	if (event == JOURNAL_MADE || event == JOURNAL_REMADE) {
		replay_made(t, rest, event == JOURNAL_REMADE);
		return;
	}
	if (event == JOURNAL_BEGIN) {
		take_sha(&rest, t->record_sha);
		return;
	}
	span_word(&rest, &word);
	t->committed |= event == JOURNAL_COMMIT;
	t->undoing |= event == JOURNAL_UNDO;
	if (event == JOURNAL_END)
		replay_end(t, word);
	replay_number(t, event, word);
}

void txn_journal_replay(struct txn *t, struct journal *journal)
{
	struct span event;

	while (journal_next(journal, &event))
		replay_line(t, event);
	t->journal_damaged = journal->damaged;
	t->journal_size = journal->good;
	strcpy(t->check, journal->check);
}
