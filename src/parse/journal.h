/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal.h - the journal of a transaction as a text: a line for each event, "EVENT CHECK". CHECK is the beginning of a
 * SHA-256 over the event and the previous check (at first, the id of the transaction). It reveals a line that was lost,
 * changed, exchanged, or copied from a different journal.
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
	size_t good;  /* length of the text in good lines */
	bool damaged; /* a line differs from what was written */
};

/* ID must be shorter than JOURNAL_ID_MAX. 0 or negative errno. */
int journal_begin(struct journal *journal, const char *id, struct span text);

/*
 * Reads the next event. False: the end, or damage. An incomplete last line was being written when the machine stopped.
 * That is not damage: no step is done before its line is on the disk.
 */
bool journal_next(struct journal *journal, struct span *event);

/* Computes the check of EVENT after PREVIOUS. Returns 0 or a negative errno. */
int journal_check(const char *previous, struct span event, char check[JOURNAL_CHECK]);

#endif
