/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal.h - the journal of a transaction as a text: a line for each event, "EVENT CHECK". CHECK is the beginning of a
 * SHA-256 over the event and the previous check (at first, the id of the transaction). It reveals a line that was lost,
 * changed, exchanged, or copied from a different journal.
 */
#ifndef PARSE_JOURNAL_H
#define PARSE_JOURNAL_H

#include "base/span.h"

enum journal_event {
	JOURNAL_BEGIN,	/* SHA: the first line; SHA is that of plan.json */
	JOURNAL_INTENT, /* N: file N is next */
	JOURNAL_DONE,	/* N: file N is written */
	JOURNAL_RUN,	/* N: step N is next */
	JOURNAL_RAN,	/* N: step N has ended */
	JOURNAL_MADE, /* N M SHA: file M of step N becomes one of that hash; "-": it is not there */
	JOURNAL_VERIFIED, /* the check after the changes confirmed the repair */
	JOURNAL_COMMIT,	  /* all is done */
	JOURNAL_UNDO,	  /* reverting has begun; lines above no longer mean that all is done */
	JOURNAL_REMADE,	  /* N M SHA: the undo rebuilds file M of step N */
	JOURNAL_END,	  /* WORD: the last line; a word of txn_record_state_words */
	JOURNAL_OTHER,	  /* of another version */
};
extern const char *const journal_event_words[]; /* NULL for JOURNAL_OTHER */

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

/* Cuts the word of LINE, an event that was read. LINE is then its arguments. */
enum journal_event journal_event(struct span *line);

/* Computes the check of EVENT after PREVIOUS. Returns 0 or a negative errno. */
int journal_check(const char *previous, struct span event, char check[JOURNAL_CHECK]);

#endif
