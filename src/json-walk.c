/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json-walk.h"

#include <string.h>

static void pass_blank(const char **at)
{
	while (json_is_blank(**at))
		++*at;
}

static size_t number_length(const char *at)
{
	return strspn(at, "+-.0123456789eE");
}

enum json_type walk_type(const char *at)
{
	switch (*at) {
	case '{':
		return json_type_object;
	case '[':
		return json_type_array;
	case '"':
		return json_type_string;
	case 't':
	case 'f':
		return json_type_boolean;
	case 'n':
		return json_type_null;
	default:
		at += strspn(at, "-0123456789");
		return *at == '.' || *at == 'e' || *at == 'E' ? json_type_double : json_type_int;
	}
}

void walk_enter(const char **at)
{
	++*at;
}

bool walk_next(const char **at)
{
	pass_blank(at);
	if (**at == ',') {
		++*at;
		pass_blank(at);
	}
	if (**at != '}' && **at != ']')
		return true;
	++*at;
	return false;
}

struct span walk_key(const char **at)
{
	struct span key = walk_string(at);

	pass_blank(at);
	++*at;
	pass_blank(at);
	return key;
}

struct span walk_string(const char **at)
{
	const char *start = *at + 1, *end = rawmemchr(start, '"');

	/* Few strings have escapes, which a quotation mark can be one of. */
	if (memchr(start, '\\', (size_t)(end - start)))
		for (end = start; *end != '"';)
			end += *end == '\\' ? 2 : 1;
	*at = end + 1;
	return (struct span){ start, (size_t)(end - start) };
}

bool walk_has_escapes(struct span raw)
{
	return raw.n && memchr(raw.p, '\\', raw.n);
}

static uint32_t hex4(const char *p)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++)
		value = value << 4 | (uint32_t)json_hex(p[i]);
	return value;
}

/* The character of \uXXXX at P, of which N bytes are left; USED is set to the bytes that it takes. */
static uint32_t code_point(const char *p, size_t n, size_t *used)
{
	uint32_t high = hex4(p + 2), low;

	*used = 6;
	if (high < 0xd800 || high > 0xdfff)
		return high ? high : 0xfffd;
	if (high > 0xdbff || n < 12 || p[6] != '\\' || p[7] != 'u')
		return 0xfffd;
	low = hex4(p + 8);
	if (low < 0xdc00 || low > 0xdfff)
		return 0xfffd;
	*used = 12;
	return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

static size_t put_utf8(char *out, uint32_t c)
{
	size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	static const uint8_t marks[] = { 0, 0xc0, 0xe0, 0xf0 };

	out[0] = (char)(marks[more] | c >> 6 * more);
	for (size_t i = 1; i <= more; i++)
		out[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
	return more + 1;
}

size_t walk_decode(char *out, struct span raw)
{
	static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
	size_t size = 0;

	for (size_t i = 0; i < raw.n;) {
		const char *letter;
		size_t used = 2;

		if (raw.p[i] != '\\') {
			out[size++] = raw.p[i++];
			continue;
		}
		letter = strchr(letters, raw.p[i + 1]);
		if (raw.p[i + 1] == 'u')
			size += put_utf8(out + size, code_point(raw.p + i, raw.n - i, &used));
		else
			out[size++] = letter ? meant[letter - letters] : raw.p[i + 1];
		i += used;
	}
	return size;
}

uint64_t walk_integer(const char **at, bool *negative)
{
	uint64_t value = 0;

	*negative = **at == '-';
	for (*at += *negative; **at >= '0' && **at <= '9'; ++*at)
		value = value * 10 + (uint64_t)(**at - '0');
	return value;
}

void walk_pass(const char **at)
{
	switch (**at) {
	case '{':
	case '[':
		break;
	case '"':
		walk_string(at);
		return;
	default:
		*at += strspn(*at, "aeflnrstu");
		*at += number_length(*at);
		return;
	}
	for (size_t depth = 0; depth || **at == '{' || **at == '[';) {
		if (**at == '"') {
			walk_string(at);
			continue;
		}
		depth += **at == '{' || **at == '[';
		depth -= **at == '}' || **at == ']';
		++*at;
		if (!depth)
			return;
	}
}

struct json_object *walk_head(const char *text)
{
	struct json_object *head = json_object_new_object();
	const char *at = text;
	struct json_error error;

	pass_blank(&at);
	if (*at != '{')
		return head;
	for (walk_enter(&at); walk_next(&at) && json_object_object_length(head) < 2;) {
		struct span key = walk_key(&at);
		const char *value = at;

		walk_pass(&at);
		if (span_is(key, "format") || span_is(key, "format_version"))
			json_put(head, key.n == strlen("format") ? "format" : "format_version",
				 json_parse(value, (size_t)(at - value), &error));
	}
	return head;
}
