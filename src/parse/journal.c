/* SPDX-License-Identifier: GPL-2.0-or-later */
/* journal.c - the journal of a transaction as a text: a line for each event, "EVENT CHECK". */
#include "parse/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/sha256.h"

int journal_check(const char *previous, struct span event, char check[JOURNAL_CHECK])
{
	char hex[SHA256_HEX];
	struct sha256 sha;
	int rc;

	sha256_begin(&sha);
	sha256_feed(&sha, previous, strlen(previous) + 1);
	sha256_feed(&sha, event.p, event.n);
	rc = sha256_end(&sha, hex);
	snprintf(check, JOURNAL_CHECK, "%.16s", hex);
	return rc;
}

int journal_begin(struct journal *journal, const char *id, struct span text)
{
	*journal = (struct journal){ .rest = text };
	if (strlen(id) >= sizeof(journal->check))
		return -ENAMETOOLONG;
	strcpy(journal->check, id);
	return sha256_load();
}

/* "EVENT CHECK" */
static bool split(struct span line, struct span *event, struct span *check)
{
	size_t n = JOURNAL_CHECK - 1;

	if (line.n < n + 2 || line.p[line.n - n - 1] != ' ')
		return false;
	*event = (struct span){ line.p, line.n - n - 1 };
	*check = (struct span){ line.p + line.n - n, n };
	return true;
}

/* Returns true for an incomplete last line. Some file systems (XFS) leave zeros in its place. */
static bool is_torn(struct span rest)
{
	size_t zeros = 0;

	while (zeros < rest.n && rest.p[rest.n - 1 - zeros] == '\0')
		zeros++;
	rest.n -= zeros;
	return span_find(rest, '\n') == rest.n;
}

bool journal_next(struct journal *journal, struct span *event)
{
	struct span line = journal->rest, check;
	char right[JOURNAL_CHECK];

	if (journal->damaged || !line.n)
		return false;
	if (is_torn(line)) {
		journal->rest.n = 0;
		return false;
	}
	line.n = span_find(line, '\n');
	if (!split(line, event, &check) || journal_check(journal->check, *event, right) ||
	    !span_is(check, right)) {
		journal->damaged = true;
		return false;
	}
	strcpy(journal->check, right);
	journal->good += line.n + 1;
	journal->rest.p += line.n + 1;
	journal->rest.n -= line.n + 1;
	return true;
}

const char *const journal_event_words[] = {
	[JOURNAL_BEGIN] = "BEGIN",	 [JOURNAL_INTENT] = "INTENT", [JOURNAL_DONE] = "DONE",
	[JOURNAL_RUN] = "RUN",		 [JOURNAL_RAN] = "RAN",	      [JOURNAL_MADE] = "MADE",
	[JOURNAL_VERIFIED] = "VERIFIED", [JOURNAL_COMMIT] = "COMMIT", [JOURNAL_UNDO] = "UNDO",
	[JOURNAL_REMADE] = "REMADE",	 [JOURNAL_END] = "END",	      NULL,
};

enum journal_event journal_event(struct span *line)
{
	enum journal_event event = JOURNAL_BEGIN;
	struct span word = { "", 0 };

	span_word(line, &word);
	while (event < JOURNAL_OTHER && !span_is(word, journal_event_words[event]))
		event++;
	return event;
}
