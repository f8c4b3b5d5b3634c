/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scan.h - finds the messages of the table in bytes, all of them in one pass.
 *
 * Every message has an anchor of MESSAGE_WINDOW bytes. A table says of the last bytes of a window how far the
 * next window may lie that could be an anchor (Wu and Manber, "A fast algorithm for multi-pattern searching", 1994), so
 * that most bytes are never looked at. Only lines with an anchor are compared with whole patterns.
 */
#ifndef WHY_SCAN_H
#define WHY_SCAN_H

#include "why/message.h"

struct arena;
struct scanner;

struct scanner *scanner_new(struct arena *arena);

/* The first anchor in TEXT at or behind FROM: its place, and what its messages begin with. NULL: there is none. */
const char *scanner_next(const struct scanner *scanner, struct span text, const char *from);

#define SCAN_MATCHES_MAX 24

/* The messages that are in LINE and have their anchor at or behind FROM, each once, in the order of the table. How many. */
size_t scanner_match(struct scanner *scanner, struct span line, const char *from,
		     struct message_match matches[SCAN_MATCHES_MAX]);

#endif
