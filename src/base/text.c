/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.c - plain text for people: wrapped, in the characters that a terminal can show. */
#include "base/text.h"

#include <ctype.h>
#include <string.h>

#include "base/escape.h"
#include "base/span.h"

static size_t blanks(struct span s, bool are)
{
	size_t n = 0;

	while (n < s.n && (s.p[n] == ' ' || s.p[n] == '\t') == are)
		n++;
	return n;
}

/* Blanks and tabs separate words. Other white space in a value is shown. */
static bool cut_word(struct span *rest, struct span *word)
{
	size_t n = blanks(*rest, true);

	*rest = (struct span){ rest->p + n, rest->n - n };
	n = blanks(*rest, false);
	*word = (struct span){ rest->p, n };
	*rest = (struct span){ rest->p + n, rest->n - n };
	return n > 0;
}

static int columns(struct span word)
{
	char to[ESCAPE_MAX];
	int n = 0;

	while (escape_next(SINK_TERMINAL, &word, to))
		for (const char *p = to; *p; p++)
			n += ((unsigned char)*p & 0xc0) != 0x80;
	return n;
}

static void wrap_line(FILE *out, struct span line, int indent, int at, int width)
{
	struct span word;

	for (bool first = true; cut_word(&line, &word); first = false) {
		int n = columns(word);

		if (!first && at + 1 + n > width) {
			fputc('\n', out);
			at = 0;
			first = true;
		}
		at += first ? fprintf(out, "%*s", at < indent ? indent - at : 0, "")
			    : fprintf(out, " ");
		at += escape_span(out, SINK_TERMINAL, word);
	}
	fputc('\n', out);
}

size_t text_sentence(const char *text)
{
	for (const char *p = text; (p = strstr(p, ". ")); p++)
		if (isupper((unsigned char)p[2]))
			return (size_t)(p + 1 - text);
	return strlen(text);
}

const char *text_plural(size_t count)
{
	return count == 1 ? "" : "s";
}

void text_wrap(FILE *out, const char *text, int indent, int at, int width)
{
	wrap_line(out, span_of(text), indent, at, width);
}

void text_wrap_lines(FILE *out, const char *text, int indent, int width)
{
	struct span lines = span_of(text), line;

	while (span_cut(&lines, '\n', &line))
		wrap_line(out, span_trim(line), indent, 0, width);
}

int text_columns(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}
