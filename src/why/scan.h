/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scan.h - finds the messages of the table in bytes, all of them in one pass.
 *
 * Every message has an anchor of MESSAGE_WINDOW bytes. By the last bytes of a window, a table has the distance to the
 * next window that can be an anchor. So most bytes are never read. Only lines with an anchor are compared with whole
 * patterns. (Wu and Manber, "A fast algorithm for multi-pattern searching", 1994.)
 */
#ifndef WHY_SCAN_H
#define WHY_SCAN_H

#include "why/message.h"

struct arena;
struct scanner;

struct scanner *scanner_new(struct arena *arena);

/* Returns the first anchor in TEXT at or after FROM, or NULL. */
const char *scanner_next(const struct scanner *scanner, struct span text, const char *from);

#define SCAN_MATCHES_MAX 24

/* Finds the messages in LINE with their anchor at or after FROM, each once, in the order of the table. Returns their
 * number. */
size_t scanner_match(struct scanner *scanner, struct span line, const char *from,
		     struct message_match matches[SCAN_MATCHES_MAX]);

#endif
