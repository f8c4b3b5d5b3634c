/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg-text.c - reads the text of a kernel message by its form. */
#include "parse/kmsg-text.h"

#include <ctype.h>

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

static bool is_digit_of(char c, int base)
{
	return base == 8 ? c >= '0' && c <= '7' : isxdigit((unsigned char)c) != 0;
}

/* Records have \x0a for a line break (Documentation/ABI/testing/dev-kmsg), rsyslog writes #012. */
size_t kmsg_byte_size(struct span s)
{
	int base = s.p[0] == '#' ? 8 : 16;
	size_t i = base == 8 ? 1 : 2;

	if (s.n < 4 || (base == 16 && (s.p[0] != '\\' || s.p[1] != 'x')))
		return 1;
	for (; i < 4; i++)
		if (!is_digit_of(s.p[i], base))
			return 1;
	return 4;
}

size_t kmsg_form_size(struct span s, const char *text)
{
	size_t size = 0;

	for (; *text; text++) {
		struct span rest = from(s, size);
		size_t n = 0;

		if (*text == '*') {
			n = span_find(rest, ' ');
		} else if (*text != '#') {
			n = rest.n && rest.p[0] == *text ? 1 : 0;
		} else {
			while (n < rest.n && isdigit((unsigned char)rest.p[n]))
				n++;
		}
		if (!n)
			return 0;
		size += n;
	}
	return size;
}

bool kmsg_follows(struct span s, const char *text)
{
	return kmsg_form_size(s, text) > 0;
}

size_t kmsg_break_size(struct span s)
{
	return span_starts(s, "\\x0a") || span_starts(s, "#012") ? 4 : s.n && s.p[0] == '\n';
}
