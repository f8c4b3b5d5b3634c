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
	GRUB_BAD, /* a character outside the language, or quotes without an end */
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

/* A function exists from its definition on, even if that place is never run. */
typedef void grub_define(void *user, struct span name, struct grub_node *body);

struct grub_reader {
	struct arena *arena;
	struct span text;
	uint64_t line; /* of the first line */
	grub_define *define;
	void *user;
	size_t at;
	unsigned int depth;
	size_t budget; /* words before the limit is reached */
	/* The current token of the reader. */
	enum grub_token token;
	struct span raw; /* of a word */
	uint64_t token_line;
	struct grub_word *word;
};

/* Past blanks and comments. */
enum grub_token grub_next_token(struct grub_reader *r);

void grub_reader_begin(struct grub_reader *r);
/* Reads the next command of the file. Returns 1, 0 at the end, -EINVAL for an error, -E2BIG. */
int grub_reader_next(struct grub_reader *r, struct grub_node **node);

#endif
