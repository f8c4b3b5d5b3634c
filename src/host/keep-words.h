/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-words.h - between the files that take texts of words apart; for these files only. */
#ifndef KEEP_WORDS_H
#define KEEP_WORDS_H

#include "host/keep.h"

struct keep_words {
	struct span rest;
	const char *blanks; /* that divide words outside of quotes */
	const char *quotes;
	bool backslash;	 /* takes the next byte as it is; before a newline it is a blank */
	struct span gap; /* what stands before the word */
	struct span raw; /* the word, quotes and all */
};

/* The next word; false at the end, where gap is what is left. */
bool keep_next_word(struct keep_words *w);
/* The word without its quotes; TO has room for raw.n + 1 bytes. */
struct span keep_unquoted(const struct keep_words *w, char *to);

/* keep.c */
void keep_os_release(struct keeping *k, struct span text);

/* Stand for variables in the text of a word. */
#define KEEP_MARKS 3
#define KEEP_IS_MARK(c) ((c) > 0 && (c) <= KEEP_MARKS)

/* keep-boot.c: $NAME or ${NAME}, or marks of variables alone */
bool keep_is_variable(struct span word);
void keep_value(struct keeping *k, struct span variable, struct span value);
void keep_boot_word(struct keeping *k, struct span word);
void keep_boot_words(struct keeping *k, struct span value);
void keep_identifier(struct keeping *k, struct span name);
/* Keeps the name of a menu's entry. */
void keep_entry_name(struct keeping *k, struct span name);

/* 12, 5.14.0-427.el9_4.x86_64 */
bool keep_is_version(struct span s);

/* keep-path.c: "(hd0,gpt2)/vmlinuz-6.1.0" */
void keep_boot_path(struct keeping *k, struct span path);

/* keep-secret.c: whether the value beside NAME is a secret, be it a number. */
bool keep_names_secret(struct span name);
/* A number, or a word, that is too short for a secret: it can stay where its meaning is not known. */
bool keep_is_short_number(struct span word);

bool keep_is_uuid(struct span s);
void keep_argument(struct keeping *k, struct span word, struct span raw);
void keep_argument_lines(struct keeping *k, struct span text);

#endif
