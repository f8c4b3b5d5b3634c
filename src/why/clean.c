/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clean.c - removes from a log the bytes that only a terminal or an encoding needs: colours, titles, and the NULs that
 * UTF-16 has beside each letter of these messages. */
#include <string.h>

#include "why/job-private.h"

#define ESC '\x1b'
#define BEL '\a'

/* ECMA-48, 5.4: a control sequence is ESC [, then parameters, then a final byte; 8.3: strings end with ST, in xterm
 * with BEL too. A newline ends anything: a sequence that is cut off must not swallow the log. */
static enum clean_state next_state(enum clean_state state, unsigned char c)
{
	switch (state) {
	case CLEAN_TEXT:
		return c == ESC ? CLEAN_ESCAPE : CLEAN_TEXT;
	case CLEAN_ESCAPE:
		return c == '['			    ? CLEAN_SEQUENCE
		       : c && memchr("]PX^_", c, 5) ? CLEAN_STRING
		       : c >= 0x20 && c <= 0x2f	    ? CLEAN_ESCAPE
						    : CLEAN_TEXT;
	case CLEAN_SEQUENCE:
		return c >= 0x20 && c <= 0x3f ? CLEAN_SEQUENCE : CLEAN_TEXT;
	case CLEAN_STRING:
		return c == ESC ? CLEAN_STRING_END : c == BEL ? CLEAN_TEXT : CLEAN_STRING;
	case CLEAN_STRING_END:
		return c == '\\' ? CLEAN_TEXT : CLEAN_STRING;
	}
	return CLEAN_TEXT;
}

size_t clean_copy(enum clean_state *state, char *to, struct span from)
{
	size_t n = 0;

	if (*state == CLEAN_TEXT && !memchr(from.p, ESC, from.n) && !memchr(from.p, '\0', from.n)) {
		memmove(to, from.p, from.n);
		return from.n;
	}
	for (size_t i = 0; i < from.n; i++) {
		char c = from.p[i];

		if (c == '\n')
			*state = CLEAN_TEXT;
		else if (c == '\0')
			continue;
		if (*state == CLEAN_TEXT && c != ESC)
			to[n++] = c;
		*state = c == '\n' ? CLEAN_TEXT : next_state(*state, (unsigned char)c);
	}
	return n;
}
