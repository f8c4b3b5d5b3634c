/* SPDX-License-Identifier: GPL-2.0-or-later */
/* escape.c - output of text from a node, a job or a stranger. */
#include "base/escape.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"

/* ---- characters ---- */

/* Returns the character of S, which is valid UTF-8 of N bytes, at least two. */
static uint32_t code_point(const char *s, size_t n)
{
	uint32_t c = (unsigned char)s[0] & (0xffu >> (n + 1));

	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	return c;
}

/*
 * Unicode 15.0: general categories Cc, Cf, Zl and Zp (UnicodeData.txt), and Default_Ignorable_Code_Point
 * (DerivedCoreProperties.txt). C1 control characters (U+009B begins a sequence on a terminal as ESC [ does), zero
 * widths and marks of direction, line separators. The byte order mark, the soft hyphen, fillers, selectors of variants
 * and tags are seen as nothing. And those that XML 1.0 has no room for, U+FFFE and U+FFFF.
 */
static bool is_hidden(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{ 0x00, 0x1f },	      { 0x7f, 0x9f },	    { 0xad, 0xad },
		{ 0x034f, 0x034f },   { 0x0600, 0x0605 },   { 0x061c, 0x061c },
		{ 0x06dd, 0x06dd },   { 0x070f, 0x070f },   { 0x0890, 0x0891 },
		{ 0x08e2, 0x08e2 },   { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },
		{ 0x180b, 0x180f },   { 0x200b, 0x200f },   { 0x2028, 0x202e },
		{ 0x2060, 0x206f },   { 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },
		{ 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },
		{ 0xfffe, 0xffff },   { 0x110bd, 0x110bd }, { 0x110cd, 0x110cd },
		{ 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
		{ 0xe0000, 0xe0fff },
	};

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		if (c >= hidden[i].first && c <= hidden[i].last)
			return true;
	return false;
}

/* ---- sinks ---- */

/* Returns the escape of an ASCII character that is special in SINK; NULL: it is written unchanged. */
static const char *special(enum sink sink, char c)
{
	switch (sink) {
	case SINK_TERMINAL:
		break;
	case SINK_JSON: /* between its values */
		return c == '\n' ? "\n" : NULL;
	case SINK_DIFF:
		return c == '\t' ? "\t" : NULL;
	case SINK_NAGIOS:
		return c == '|' ? "/" : NULL;
	case SINK_PROMETHEUS:
		return c == '\\' ? "\\\\" : c == '"' ? "\\\"" : NULL;
	case SINK_MARKDOWN:
		return c == '\\'  ? "\\\\"
		       : c == '`' ? "\\`"
		       : c == '*' ? "\\*"
		       : c == '<' ? "\\<"
		       : c == '[' ? "\\["
		       : c == ']' ? "\\]"
		       : c == '&' ? "\\&"
		       : c == '~' ? "\\~"
		       : c == '|' ? "\\|"
				  : NULL;
	case SINK_XML:
		return c == '&'	   ? "&amp;"
		       : c == '<'  ? "&lt;"
		       : c == '>'  ? "&gt;"
		       : c == '"'  ? "&quot;"
		       : c == '\'' ? "&#39;"
				   : NULL;
	case SINK_ROFF:
		/* groff prints a plain "-" as a hyphen and a plain quote as a curly one, and people copy the commands
		 * (groff_man_style(7), portability). */
		return c == '\\'   ? "\\e"
		       : c == '-'  ? "\\-"
		       : c == '\'' ? "\\(aq"
		       : c == '`'  ? "\\(ga"
		       : c == '^'  ? "\\(ha"
		       : c == '~'  ? "\\(ti"
				   : NULL;
	}
	return NULL;
}

/* Writes how a character or a byte is shown that no output format can hold. */
static void name_hidden(char name[16], enum sink sink, uint32_t c, bool is_byte)
{
	if (sink == SINK_JSON && c > 0xffff)
		snprintf(name, 16, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd7c0 + (c >> 10),
			 0xdc00 + (c & 0x3ff));
	else if (sink == SINK_JSON)
		snprintf(name, 16, "\\u%04" PRIx32, c);
	else if (c == '\n' || c == '\t' || c == '\r')
		snprintf(name, 16, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
	else if (is_byte || c < 0x80)
		snprintf(name, 16, "\\x%02" PRIx32, c);
	else
		snprintf(name, 16, "\\u%04" PRIx32, c);
}

/* NAME, which is ASCII, as SINK writes it. */
static size_t put_name(enum sink sink, const char *name, char to[ESCAPE_MAX])
{
	size_t n = 0;

	for (; *name; name++) {
		const char *other = special(sink, *name);
		char same[2] = { *name, '\0' };

		n += (size_t)snprintf(to + n, ESCAPE_MAX - n, "%s", other ? other : same);
	}
	return n;
}

size_t escape_next(enum sink sink, struct span *rest, char to[ESCAPE_MAX])
{
	size_t whole = rest->n ? utf8_length(rest->p, rest->n) : 0, n = whole;
	const char *other;
	char name[16];
	uint32_t c;

	to[0] = '\0';
	if (!rest->n)
		return 0;
	c = whole > 1 ? code_point(rest->p, whole) : (unsigned char)*rest->p;
	other = whole == 1 ? special(sink, (char)c) : NULL;
	if (other) {
		n = (size_t)snprintf(to, ESCAPE_MAX, "%s", other);
	} else if (whole && !is_hidden(c)) {
		memcpy(to, rest->p, whole);
		to[whole] = '\0';
	} else {
		name_hidden(name, sink, c, !whole);
		n = put_name(sink, name, to);
	}
	rest->p += whole ? whole : 1;
	rest->n -= whole ? whole : 1;
	return n;
}

/* ---- writing ---- */

static int columns_of(struct span text)
{
	int n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += ((unsigned char)text.p[i] & 0xc0) != 0x80;
	return n;
}

/* The length of the longest start of TEXT whose characters all stay unchanged. */
static size_t plain_bytes(enum sink sink, struct span text)
{
	size_t n = 0;

	while (n < text.n && text.p[n] >= ' ' && text.p[n] != 0x7f && !special(sink, text.p[n]))
		n++;
	return n;
}

int escape_span(FILE *out, enum sink sink, struct span text)
{
	char to[ESCAPE_MAX];
	int columns = 0;

	/* A line that begins with one of these is a request. */
	if (sink == SINK_ROFF && text.n && (text.p[0] == '.' || text.p[0] == '\''))
		fputs("\\&", out);
	while (text.n) {
		size_t n = plain_bytes(sink, text);

		fwrite(text.p, 1, n, out);
		columns += (int)n;
		text = (struct span){ text.p + n, text.n - n };
		if (!escape_next(sink, &text, to))
			break;
		fputs(to, out);
		columns += columns_of(span_of(to));
	}
	return columns;
}

int escape_text(FILE *out, enum sink sink, const char *text)
{
	return escape_span(out, sink, span_of(text));
}

const char *escape_string(struct arena *arena, enum sink sink, const char *text)
{
	struct span rest = span_of(text), again = rest;
	char to[ESCAPE_MAX], *copy;
	size_t size = 1, n, at = 0;

	while ((n = escape_next(sink, &rest, to)))
		size += n;
	copy = arena_alloc(arena, size);
	for (; (n = escape_next(sink, &again, to)); at += n)
		memcpy(copy + at, to, n);
	return copy;
}

/* ---- printf ---- */

/* A conversion of a format: flags, width, precision, length and kind (C17, 7.21.6.1). */
struct conversion {
	char text[64]; /* as printf() takes it, with numbers for stars */
	bool left;
	int width;
	int precision; /* -1: none */
	bool star;     /* that came as an argument */
	int longs;     /* of "l"; 'z', 'j', 't' as they are */
	char kind;
};

static int take_number(const char **format, va_list *ap)
{
	int n = 0;

	if (**format == '*') {
		++*format;
		return va_arg(*ap, int);
	}
	for (; **format >= '0' && **format <= '9'; ++*format)
		n = n * 10 + (**format - '0');
	return n;
}

/* *FORMAT points after the "%". */
static void take_conversion(struct conversion *c, const char **format, va_list *ap)
{
	size_t flags = strspn(*format, "-+ #0");
	const char *begin = *format, *length;
	char precision[16] = "";

	*c = (struct conversion){ .precision = -1 };
	c->left = memchr(begin, '-', flags) != NULL;
	*format += flags;
	c->width = take_number(format, ap);
	if (c->width < 0) {
		c->left = true;
		c->width = -c->width;
	}
	if (**format == '.') {
		c->star = *++*format == '*';
		c->precision = take_number(format, ap);
		snprintf(precision, sizeof(precision), ".%d", c->precision);
	}
	length = *format;
	for (; **format && strchr("hlzjt", **format); ++*format)
		c->longs = **format == 'l' ? c->longs + 1 : **format == 'h' ? 0 : **format;
	c->kind = **format;
	*format += c->kind != '\0';
	snprintf(c->text, sizeof(c->text), "%%%.*s%s%.0d%s%.*s", (int)flags, begin,
		 c->left ? "-" : "", c->width, c->precision < 0 ? "" : precision,
		 (int)(*format - length), length);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* Numbers are safe as they are. */
static int put_number(FILE *out, const struct conversion *c, va_list *ap)
{
	switch (c->kind) {
	case 'e':
	case 'f':
	case 'g':
		return fprintf(out, c->text, va_arg(*ap, double));
	case 'p':
		return fprintf(out, c->text, va_arg(*ap, void *));
	default:
		break;
	}
	switch (c->longs) {
	case 0:
		return fprintf(out, c->text, va_arg(*ap, int));
	case 1:
		return fprintf(out, c->text, va_arg(*ap, long));
	case 2:
		return fprintf(out, c->text, va_arg(*ap, long long));
	case 'z':
		return fprintf(out, c->text, va_arg(*ap, size_t));
	case 't':
		return fprintf(out, c->text, va_arg(*ap, ptrdiff_t));
	default:
		return fprintf(out, c->text, va_arg(*ap, intmax_t));
	}
}
#pragma GCC diagnostic pop

/* Escaped before its width is known. */
static int put_padded(FILE *out, enum sink sink, const struct conversion *c, struct span text)
{
	struct span rest = text;
	char to[ESCAPE_MAX];
	int columns = 0, blanks;

	while (c->width && escape_next(sink, &rest, to))
		columns += columns_of(span_of(to));
	blanks = c->width > columns ? c->width - columns : 0;
	if (!c->left)
		fprintf(out, "%*s", blanks, "");
	columns = escape_span(out, sink, text);
	if (c->left)
		fprintf(out, "%*s", blanks, "");
	return columns + blanks;
}

static int put_string(FILE *out, enum sink sink, escape_is_own *own, const struct conversion *c,
		      const char *text)
{
	size_t n;

	if (own && own(text))
		return fputs(text, out) < 0 ? -1 : 0;
	text = text ? text : "(null)";
	n = c->precision < 0 ? strlen(text) : strnlen(text, (size_t)c->precision);
	/* A number in the format cuts; one for a star is a span's. */
	if (c->precision >= 0 && !c->star)
		n = utf8_cut(text, n);
	return put_padded(out, sink, c, (struct span){ text, n });
}

static int put_conversion(FILE *out, enum sink sink, escape_is_own *own, const char **format,
			  va_list *ap)
{
	struct conversion c;
	char letter;

	take_conversion(&c, format, ap);
	switch (c.kind) {
	case '%':
		putc('%', out);
		return 1;
	case 's':
		return put_string(out, sink, own, &c, va_arg(*ap, const char *));
	case 'c':
		letter = (char)va_arg(*ap, int);
		return put_padded(out, sink, &c, (struct span){ &letter, 1 });
	default:
		return put_number(out, &c, ap);
	}
}

int escape_vprintf(FILE *out, enum sink sink, escape_is_own *own, const char *format, va_list ap)
{
	va_list rest;
	int columns = 0;

	va_copy(rest, ap);
	while (*format) {
		size_t n = strcspn(format, "%");

		fwrite(format, 1, n, out);
		columns += columns_of((struct span){ format, n });
		format += n;
		if (*format == '%') {
			format++;
			columns += put_conversion(out, sink, own, &format, &rest);
		}
	}
	va_end(rest);
	return columns;
}

int escape_printf(FILE *out, enum sink sink, const char *format, ...)
{
	va_list ap;
	int columns;

	va_start(ap, format);
	columns = escape_vprintf(out, sink, NULL, format, ap);
	va_end(ap);
	return columns;
}
