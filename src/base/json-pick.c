/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json-pick.c - picks some members of an object out of its text, without memory for the others. */
#include "base/json-pick.h"

#include <stdlib.h>

#define KEY_BYTES 128 /* a longer key with escapes is not one of the names */

static size_t find_name(struct json_raw key, const char *const *names, size_t count)
{
	char meant[KEY_BYTES];
	size_t i = 0;

	if (key.escapes && key.text.n > sizeof(meant))
		return count;
	if (key.escapes)
		key.text = (struct span){ meant, json_decode(meant, key.text) };
	while (i < count && !span_is(key.text, names[i]))
		i++;
	return i;
}

static bool pick_members(struct json_scan *s, const char *const *names, size_t count,
			 struct span *values)
{
	uint64_t seen[4] = { 0 };
	struct json_raw key;

	json_scan_enter(s);
	while (json_scan_next(s, '}')) {
		const char *start;
		size_t i;

		if (!json_scan_key(s, &key) || !json_scan_once(s, 0, seen, key.text) ||
		    !json_scan_colon(s))
			return false;
		i = find_name(key, names, count);
		start = s->at;
		if (!json_scan_value(s))
			return false;
		if (i < count)
			values[i] = (struct span){ start, (size_t)(s->at - start) };
	}
	return !s->wrong;
}

bool json_pick(struct span text, const char *const *names, size_t count, struct span *values,
	       struct json_error *error)
{
	_cleanup_scan_ struct json_scan s;
	bool ok;

	memset(values, 0, count * sizeof(*values));
	json_scan_begin(&s, text.p, text.n, error);
	ok = json_scan_type(&s) == json_type_object ? pick_members(&s, names, count, values)
						    : json_scan_value(&s);
	return ok && json_scan_finish(&s);
}

bool json_picked_number(struct span value, uint64_t *number)
{
	return span_u64(value, 10, number) == 0;
}

static bool is_string(struct span value, struct span *raw)
{
	if (value.n < 2 || *value.p != '"')
		return false;
	*raw = (struct span){ value.p + 1, value.n - 2 };
	return true;
}

bool json_picked_plain(struct span value, struct span *text)
{
	return is_string(value, text) && !memchr(text->p, '\\', text->n);
}

char *json_picked_string(struct span value, size_t *n)
{
	struct span raw;
	char *text = is_string(value, &raw) ? malloc(raw.n + 1) : NULL;

	if (!text)
		return NULL;
	*n = json_decode(text, raw);
	text[*n] = '\0';
	return text;
}
