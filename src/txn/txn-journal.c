/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-journal.c - the journal: a line for each action that begins or ends, fsynced before the transaction continues.
 * Lines have the form of parse/journal.h:
 *
 *     BEGIN SHA        the first line; SHA is that of plan.json
 *     INTENT N, DONE N file N
 *     RUN N, RAN N     step N
 *     MADE N M SHA     file M of step N becomes one of that hash
 *     VERIFIED, COMMIT
 *     UNDO             reverting has begun; lines above no longer mean that all is done
 *     REMADE N M SHA   the undo rebuilds file M of step N
 *     END WORD         the last line: a word of txn_record_state_words
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

int txn_journal_write(struct txn *t, const char *format, ...)
{
	char event[256], line[256 + JOURNAL_CHECK + 1], check[JOURNAL_CHECK];
	va_list ap;
	int n, rc;

	va_start(ap, format);
	vsnprintf(event, sizeof(event), format, ap);
	va_end(ap);
	rc = journal_check(t->check, span_of(event), check);
	n = snprintf(line, sizeof(line), "%s %s\n", event, check);
	if (rc == 0)
		rc = append(t, line, (size_t)n);
	if (rc)
		return journal_failed(t, rc);
	t->journal_size += (size_t)n;
	strcpy(t->check, check);
	return 0;
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

static void replay_number(struct txn *t, struct span event, struct span word)
{
	uint64_t n;

	if (span_u64(word, 10, &n))
		return;
	if (span_is(event, "INTENT") && n < t->files.count)
		t->files.items[n].begun = true;
	else if (span_is(event, "RUN") && n < t->steps.count)
		t->steps.items[n].begun = true;
	else if (span_is(event, "RAN") && n < t->steps.count)
		t->steps.items[n].ended = true;
}

static void replay_line(struct txn *t, struct span line)
{
	struct span rest = line, event, word = { "", 0 };

	if (!span_word(&rest, &event))
		return;
	if (span_is(event, "MADE") || span_is(event, "REMADE")) {
		replay_made(t, rest, span_is(event, "REMADE"));
		return;
	}
	if (span_is(event, "BEGIN")) {
		take_sha(&rest, t->record_sha);
		return;
	}
	span_word(&rest, &word);
	t->committed |= span_is(event, "COMMIT");
	t->undoing |= span_is(event, "UNDO");
	if (span_is(event, "END"))
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
