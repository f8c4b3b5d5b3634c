/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.h - plain text for people: wrapped, in the characters that a terminal can show. */
#ifndef TEXT_H
#define TEXT_H

#include <stdio.h>

/* Writes TEXT, escaped for a terminal, and a newline. Lines are broken at blanks to end before WIDTH, and indented to
 * INDENT. The first line starts at column AT, the current column of the caller. A word longer than a line has a line of
 * its own. */
void text_wrap(FILE *out, const char *text, int indent, int at, int width);
/* Like text_wrap() at column 0, for a text of several lines. */
void text_wrap_lines(FILE *out, const char *text, int indent, int width);

/* Returns the bytes of the first sentence of TEXT. */
size_t text_sentence(const char *text);

/* Returns the "s" of "2 nodes": "" for one. */
const char *text_plural(size_t count);

/* Returns the columns of TEXT, of which each character is one. */
int text_columns(const char *text);

#endif
