/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal.h - the journal of a transaction as a text: a line for each event, "EVENT CHECK". CHECK
 * is the beginning of a SHA-256 over the event and the check before it (the first time the transaction's
 * id). A line that was lost, changed, exchanged, or comes from a different journal is found by it.
 */
#ifndef PARSE_JOURNAL_H
#define PARSE_JOURNAL_H

#include "base/span.h"

#define JOURNAL_CHECK 17 /* 16 hexadecimal digits and a NUL */
#define JOURNAL_ID_MAX 64

struct journal {
	struct span rest;
	/* Checksum of the last good line, which the next line's checksum includes. */
	char check[JOURNAL_ID_MAX];
	size_t good;  /* bytes of the text that are good lines */
	bool damaged; /* a line is not what was written there */
};

/* ID must be shorter than JOURNAL_ID_MAX. 0 or negative errno. */
int journal_begin(struct journal *journal, const char *id, struct span text);

/*
 * The next event, or false: the end, or damage. A last line that is not whole was being written
 * when the machine stopped, and is not damage: nothing is done before the line of it is on the
 * disk.
 */
bool journal_next(struct journal *journal, struct span *event);

/* The check of EVENT after PREVIOUS. 0 or negative errno. */
int journal_check(const char *previous, struct span event, char check[JOURNAL_CHECK]);

#endif
