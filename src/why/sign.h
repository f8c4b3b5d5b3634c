/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sign.h - words that show the kind of a line of a log: the table data/signs.tsv. */
#ifndef WHY_SIGN_H
#define WHY_SIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"

enum sign_kind {
	SIGN_ERROR,
	SIGN_CALM,
	SIGN_OVERCOME,
	SIGN_GOOD,
	SIGN_SUCCESS,
	SIGN_BAD,
	SIGN_PROGRESS,
	SIGN_IDLE,
	SIGN_HANG,
	SIGN_FATAL,
	SIGN_SYSTEM,
	SIGN_REQUEST, /* a message of a server about one request */
	SIGN_LOST,    /* and of one that failed */
	SIGN_KINDS
};

enum sign_form {
	SIGN_FORM_ANY,
	SIGN_FORM_WORD,	  /* no letter, digit or "_" beside it */
	SIGN_FORM_BEGIN,  /* none before it */
	SIGN_FORM_LEVEL,  /* as a word, without "=" beside it */
	SIGN_FORM_NUMBER, /* as a word, followed by a number */
	SIGN_FORM_START,  /* at the start of the text */
};

struct sign {
	const char *text;
	size_t n;
	enum sign_form form;
	bool is_exact; /* case counts */
};

struct sign_list {
	const struct sign *items;
	size_t count;
};

struct sign_list sign_all(enum sign_kind kind);

/* A line, its first bytes in small letters, and the pairs of bytes that these have: a bit for each, by a hash. Most
 * signs are excluded because the line lacks one of their pairs. */
#define SIGN_LINE_MAX 2048
#define SIGN_PAIRS 4096
struct sign_line {
	struct span text;
	size_t n;
	char small[SIGN_LINE_MAX];
	uint64_t pairs[SIGN_PAIRS / 64];
};

void sign_line_make(struct sign_line *line, struct span text);
/* Returns true if LINE has a sign of KIND. */
bool sign_is_in(enum sign_kind kind, const struct sign_line *line);
bool sign_is_in_text(enum sign_kind kind, struct span text);

#endif
