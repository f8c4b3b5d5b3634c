/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * escape.h - output of text from a node, a job or a stranger. Every result and every message is escaped here, so that a
 * value can only be read: it moves no cursor, and begins no line, label, element, attribute or request.
 *
 * Characters that no sink accepts are written visibly: control characters as \n, \t, \x1b, bytes that are not UTF-8 as
 * \xff, characters that are invisible or change the direction of text as \u202e. Characters with a meaning in a sink
 * are escaped in the way of that sink. The result is valid UTF-8 without control characters.
 */
#ifndef ESCAPE_H
#define ESCAPE_H

#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/span.h"

enum sink {
	SINK_TERMINAL,	 /* a line of text, on a terminal or in a file; a field of the journal */
	SINK_DIFF,	 /* a line of a file, on a terminal: tabs are kept */
	SINK_NAGIOS,	 /* a line of a plugin, without "|", after which its numbers come */
	SINK_PROMETHEUS, /* a label's value (text format 0.0.4) */
	SINK_XML, /* text or the value of an attribute, in SVG and HTML (XML 1.0, 2.2 and 2.4) */
	SINK_MARKDOWN, /* a sentence (CommonMark 0.31, 2.4): letters keep their meaning, marks have none */
	SINK_ROFF, /* text of man(7) (groff_char(7)) */
	SINK_JSON, /* a document that is JSON already: what is invisible becomes \u0000 */
};

/* Bytes that one character of a text can become, with a final NUL. */
#define ESCAPE_MAX 24

/* Cuts the next character off REST and writes its form for SINK, with a final NUL. Returns the bytes without the NUL; 0
 * at the end. */
size_t escape_next(enum sink sink, struct span *rest, char to[ESCAPE_MAX]);

/* Writes all of TEXT. Returns its columns on a terminal. */
int escape_span(FILE *out, enum sink sink, struct span text);
int escape_text(FILE *out, enum sink sink, const char *text);
/* Returns the escaped TEXT as a string in ARENA. */
const char *escape_string(struct arena *arena, enum sink sink, const char *text);

/* Prints like printf(). FORMAT is a constant of this program and is written unchanged; the arguments of %s, %.*s and
 * %c are escaped. A width counts columns, and %n is not supported. Returns the number of columns written. */
int escape_printf(FILE *out, enum sink sink, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns true if TEXT, by its address, is a text of this program that is written as it is. */
typedef bool escape_is_own(const char *text);
/* OWN may be NULL. */
int escape_vprintf(FILE *out, enum sink sink, escape_is_own *own, const char *format, va_list ap)
	__attribute__((format(printf, 4, 0)));

#endif
