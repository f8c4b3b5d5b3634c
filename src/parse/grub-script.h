/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grub-script.h - GRUB's script as it is written: its words, and the commands that they make. */
#ifndef PARSE_GRUB_SCRIPT_H
#define PARSE_GRUB_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/span.h"

enum grub_token {
	GRUB_END,
	GRUB_NEWLINE,
	GRUB_SEMICOLON,
	GRUB_OPEN,
	GRUB_CLOSE,
	GRUB_WORD,
	GRUB_BAD, /* what the language has no use for, or quotes without an end */
};

struct grub_node;

/* A word is a run of pieces without a blank between them. */
struct grub_piece {
	enum grub_piece_kind {
		GRUB_PLAIN,	  /* with its backslashes */
		GRUB_SINGLE,	  /* between single quotes */
		GRUB_DOUBLE,	  /* between double quotes, with its backslashes */
		GRUB_NAME,	  /* of a variable */
		GRUB_DOUBLE_NAME, /* of one between double quotes */
	} kind;
	struct span text;
	struct grub_piece *next;
};

struct grub_word {
	struct grub_piece *pieces;
	bool block; /* { ... }: its commands are in body */
	struct grub_node *body;
	struct grub_word *next;
};

struct grub_node {
	enum { GRUB_COMMAND, GRUB_IF, GRUB_FOR, GRUB_WHILE, GRUB_UNTIL } kind;
	uint64_t line;
	struct span name;	 /* for: of the variable */
	struct grub_word *words; /* of a command, of a for */
	struct grub_node *condition, *body, *other;
	struct grub_node *next;
};

/* A function is there from where it is written, whether or not that place is come by. */
typedef void grub_define(void *user, struct span name, struct grub_node *body);

struct grub_reader {
	struct arena *arena;
	struct span text;
	uint64_t line; /* of the first line */
	grub_define *define;
	void *user;
	size_t at;
	unsigned int depth;
	size_t budget; /* words that may still be read */
	/* The token at which the reader stands. */
	enum grub_token token;
	struct span raw; /* of a word */
	uint64_t token_line;
	struct grub_word *word;
};

/* Past blanks and comments. */
enum grub_token grub_next_token(struct grub_reader *r);

void grub_reader_begin(struct grub_reader *r);
/* The next command of the file: 1, 0 at the end, -EINVAL when it is not right, -E2BIG. */
int grub_reader_next(struct grub_reader *r, struct grub_node **node);

#endif
