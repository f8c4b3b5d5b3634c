/* SPDX-License-Identifier: GPL-2.0-or-later */
/* toml.c - values of TOML (toml.io, 1.0) in the form of the container tools, one setting on a line. */
#include "parse/toml.h"

#include <string.h>

bool toml_string_next(struct span *value, struct span *string)
{
	while (value->n) {
		char quote = value->p[0];
		const char *end;

		value->p++;
		value->n--;
		if (quote == '#')
			return false;
		if (quote != '"' && quote != '\'')
			continue;
		end = memchr(value->p, quote, value->n);
		if (!end)
			return false;
		*string = (struct span){ value->p, (size_t)(end - value->p) };
		value->n -= string->n + 1;
		value->p = end + 1;
		return quote == '\'' || !memchr(string->p, '\\', string->n);
	}
	return false;
}

bool toml_is_continued(struct span value)
{
	struct span string, rest = value;

	if (!value.n || value.p[0] != '[')
		return false;
	/* Only blanks may follow the last string. */
	while (toml_string_next(&rest, &string))
		value = rest;
	return span_find(value, ']') == value.n;
}

struct span toml_last(struct span name, struct span *before)
{
	size_t at = name.n;
	bool quoted = false;

	while (at && (quoted || name.p[at - 1] != '.')) {
		quoted ^= name.p[at - 1] == '"';
		at--;
	}
	*before = (struct span){ name.p, at ? at - 1 : 0 };
	name = (struct span){ name.p + at, name.n - at };
	if (name.n > 1 && name.p[0] == '"' && name.p[name.n - 1] == '"')
		name = (struct span){ name.p + 1, name.n - 2 };
	return name;
}
