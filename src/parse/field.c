/* SPDX-License-Identifier: GPL-2.0-or-later */
/* field.c - text of one field a line, as in /proc and sysfs: "Name: value" and "NAME=value". */
#include "parse/field.h"

/* Cuts the next line that has a separator. */
static bool next_field(struct span *text, char separator, struct span *name, struct span *value)
{
	struct span line;

	while (span_cut(text, '\n', &line)) {
		size_t at = span_find(line, separator);

		if (at == line.n)
			continue;
		*name = span_trim((struct span){ line.p, at });
		*value = span_trim((struct span){ line.p + at + 1, line.n - at - 1 });
		return true;
	}
	return false;
}

bool field_find(struct span text, char separator, const char *name, struct span *value)
{
	struct span key, found;

	while (next_field(&text, separator, &key, &found)) {
		if (!span_is(key, name))
			continue;
		*value = found;
		return true;
	}
	return false;
}

size_t field_count(struct span text, char separator, const char *name)
{
	struct span key, value;
	size_t count = 0;

	while (next_field(&text, separator, &key, &value))
		count += span_is(key, name);
	return count;
}

bool field_kib(struct span value, uint64_t *bytes)
{
	struct span number, unit;

	if (!span_word(&value, &number) || span_u64(number, 10, bytes) ||
	    !span_word(&value, &unit) || !span_is(unit, "kB") || *bytes > UINT64_MAX >> 10)
		return false;
	*bytes <<= 10;
	return true;
}

/* Takes quotes and backslashes away. */
static bool unquote(struct span s, char *out, size_t size)
{
	char quote = '\0';
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == quote) {
			quote = '\0';
			continue;
		}
		if (!quote && (c == '"' || c == '\'')) {
			quote = c;
			continue;
		}
		if (c == '\\' && quote != '\'' && i + 1 < s.n)
			c = s.p[++i];
		if (n + 1 >= size)
			return false;
		out[n++] = c;
	}
	out[n] = '\0';
	return true;
}

bool field_shell(struct span text, const char *name, char *out, size_t size)
{
	struct span key, value, last = { 0 };
	bool found = false;

	while (next_field(&text, '=', &key, &value)) {
		if (!span_is(key, name))
			continue;
		last = value;
		found = true;
	}
	return found && unquote(last, out, size);
}
