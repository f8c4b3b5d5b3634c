/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json-scan.c - one pass through a text that must be one strict document (RFC 8259). */
#include "base/json-scan.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

void json_scan_begin(struct json_scan *s, const char *text, size_t n, struct json_error *error)
{
	*s = (struct json_scan){ .at = text, .end = text + n, .text = text, .error = error };
	json_scan_blank(s);
}

void json_scan_end(struct json_scan *s)
{
	free(s->keys);
}

/* ---- errors ---- */

void json_set_error(struct json_error *error, const char *text, const char *at, const char *format,
		    ...)
{
	va_list ap;

	error->line = 1;
	for (const char *p = text; p < at; p++)
		error->line += *p == '\n';
	va_start(ap, format);
	vsnprintf(error->text, sizeof(error->text), format, ap);
	va_end(ap);
}

static bool refuse(struct json_scan *s, const char *at, const char *what)
{
	json_set_error(s->error, s->text, at, "%s",
		       s->text == s->end ? "it is empty"
		       : at >= s->end	 ? "the document is cut short"
		       : *at		 ? what
					 : "a NUL byte: this is not text");
	s->wrong = true;
	return false;
}

static bool refuse_key(struct json_scan *s, struct span key, const char *what)
{
	json_set_error(s->error, s->text, key.p, "%s \"%.*s\"", what,
		       (int)(key.n < 80 ? key.n : 80), key.p);
	s->wrong = true;
	return false;
}

bool json_scan_finish(struct json_scan *s)
{
	json_scan_blank(s);
	return s->at == s->end || refuse(s, s->at, "more text after the document");
}

/* ---- strings ---- */

static bool scan_escape(struct json_scan *s)
{
	if (s->at < s->end && *s->at == 'u') {
		for (int i = 1; i <= 4; i++)
			if (s->at + i >= s->end || span_digit(s->at[i]) < 0)
				return refuse(s, s->at + i, "\\u needs four hexadecimal digits");
		s->at += 5;
		return true;
	}
	if (s->at >= s->end || !memchr("\"\\/bfnrt", *s->at, 8))
		return refuse(s, s->at, "no such escape in a string");
	s->at++;
	return true;
}

static bool scan_special(struct json_scan *s, struct json_raw *raw)
{
	size_t n;

	if (*s->at == '\\') {
		s->at++;
		raw->escapes = true;
		return scan_escape(s);
	}
	if ((unsigned char)*s->at < ' ')
		return refuse(s, s->at, "a control character in a string");
	n = utf8_length(s->at, (size_t)(s->end - s->at));
	s->at += n;
	return n || refuse(s, s->at, "a string that is not UTF-8");
}

/* ASCII characters that a string contains unescaped. */
static const bool is_plain[256] = {
	[' ' ... '!'] = true,
	['#' ... '['] = true,
	[']' ... 0x7f] = true,
};

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * Returns the first character from AT on that is not plain. It checks eight at a time: subtracting clears the highest
 * bit only in characters that are not plain, and a borrow only reaches the bytes above the first of these.
 */
static const char *pass_plain(const char *at, const char *end)
{
	while (end - at >= 8) {
		uint64_t eight, special;

		memcpy(&eight, at, sizeof(eight));
		eight = le64toh(eight);
		special = (eight | (eight - EACH(' ')) | ((eight ^ EACH('"')) - EACH(1)) |
			   ((eight ^ EACH('\\')) - EACH(1))) &
			  EACH(0x80);
		if (special)
			return at + __builtin_ctzll(special) / 8;
		at += 8;
	}
	while (at < end && is_plain[(unsigned char)*at])
		at++;
	return at;
}

bool json_scan_string(struct json_scan *s, struct json_raw *raw)
{
	const char *start = ++s->at;

	raw->escapes = false;
	for (;;) {
		s->at = pass_plain(s->at, s->end);
		if (s->at >= s->end)
			return refuse(s, s->at, "");
		if (*s->at == '"')
			break;
		if (!scan_special(s, raw))
			return false;
	}
	raw->text = (struct span){ start, (size_t)(s->at++ - start) };
	return true;
}

/* ---- numbers and words ---- */

/* VALUE is right for up to 19 digits. */
static bool scan_digits(struct json_scan *s, uint64_t *value)
{
	const char *start = s->at, *at = start;
	uint64_t sum = 0;

	for (; at < s->end && *at >= '0' && *at <= '9'; at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	*value = sum;
	s->at = at;
	return at > start || refuse(s, at, "not a JSON value");
}

static bool fits(const char *number, size_t n, bool whole)
{
	char digits[64]; /* -2.2250738585072014e-308 has 24; whole numbers 20 */

	if (n >= sizeof(digits))
		return false;
	memcpy(digits, number, n);
	digits[n] = '\0';
	errno = 0;
	if (!whole)
		return isfinite(strtod(digits, NULL));
	if (*digits == '-')
		(void)strtoll(digits, NULL, 10);
	else
		(void)strtoull(digits, NULL, 10);
	return errno == 0;
}

static bool scan_fraction(struct json_scan *s)
{
	uint64_t any;

	if (*s->at == '.') {
		s->at++;
		if (!scan_digits(s, &any))
			return false;
	}
	if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
		s->at++;
		s->at += s->at < s->end && (*s->at == '+' || *s->at == '-');
		return scan_digits(s, &any);
	}
	return true;
}

bool json_scan_number(struct json_scan *s, struct json_digits *number)
{
	const char *start = s->at, *digits;

	number->negative = s->at < s->end && *s->at == '-';
	digits = s->at += number->negative;
	if (!scan_digits(s, &number->value))
		return false;
	if (*digits == '0' && s->at > digits + 1)
		return refuse(s, start, "a number that begins with 0");
	number->whole = s->at == s->end || (*s->at != '.' && *s->at != 'e' && *s->at != 'E');
	if (!number->whole && !scan_fraction(s))
		return false;
	/* A whole one of fewer digits fits in any case. */
	if ((!number->whole || s->at - start > 18) &&
	    !fits(start, (size_t)(s->at - start), number->whole))
		return refuse(s, start, "number out of range");
	return true;
}

static bool scan_word(struct json_scan *s, struct span word)
{
	if ((size_t)(s->end - s->at) < word.n || memcmp(s->at, word.p, word.n) != 0)
		return refuse(s, s->at, "not a JSON value");
	s->at += word.n;
	return true;
}

/* ---- objects and lists ---- */

bool json_scan_next_far(struct json_scan *s, char bracket)
{
	bool first = json_scan_is_first(s);

	json_scan_blank(s);
	if (s->at >= s->end)
		return refuse(s, s->at, "");
	if (*s->at == bracket) {
		s->at++;
		s->depth--;
		return false;
	}
	if (first)
		return true;
	if (*s->at != ',')
		return refuse(s, s->at, "a comma is missing");
	s->at++;
	json_scan_blank(s);
	if (s->at >= s->end || *s->at == bracket)
		return refuse(s, s->at, "a comma with nothing after it");
	return true;
}

bool json_scan_colon_far(struct json_scan *s)
{
	json_scan_blank(s);
	if (s->at >= s->end || *s->at != ':')
		return refuse(s, s->at, "a colon is missing");
	s->at++;
	json_scan_blank(s);
	return s->at < s->end || refuse(s, s->at, "");
}

bool json_scan_key(struct json_scan *s, struct json_raw *key)
{
	if (*s->at != '"')
		return refuse(s, s->at, "a key must be in double quotes");
	return json_scan_string(s, key);
}

bool json_scan_once(struct json_scan *s, size_t first, uint64_t seen[4], struct span key)
{
	uint8_t looks =
		key.n ? (uint8_t)(key.n * 31 + (uint8_t)key.p[0] * 7 + (uint8_t)key.p[key.n - 1])
		      : 0;

	if (seen[looks / 64] >> looks % 64 & 1)
		for (size_t i = first; i < s->keys_count; i++)
			if (s->keys[i].n == key.n && memcmp(s->keys[i].p, key.p, key.n) == 0)
				return refuse_key(s, key, "the same key twice:");
	seen[looks / 64] |= UINT64_C(1) << looks % 64;
	if (s->keys_count - first == JSON_KEYS_MAX)
		return refuse_key(s, key, "more than 1024 keys in one object, with");
	if (s->keys_count == s->keys_room) {
		size_t room = s->keys_room ? s->keys_room * 2 : 64;
		struct span *more = realloc(s->keys, room * sizeof(*more));

		if (!more)
			return refuse_key(s, key, "out of memory at");
		s->keys = more;
		s->keys_room = room;
	}
	s->keys[s->keys_count++] = key;
	return true;
}

static bool scan_object(struct json_scan *s)
{
	size_t first = s->keys_count;
	uint64_t seen[4] = { 0 };
	struct json_raw key;

	json_scan_enter(s);
	while (json_scan_next(s, '}'))
		if (!json_scan_key(s, &key) || !json_scan_once(s, first, seen, key.text) ||
		    !json_scan_colon(s) || !json_scan_value(s))
			return false;
	s->keys_count = first;
	return !s->wrong;
}

static bool scan_list(struct json_scan *s)
{
	json_scan_enter(s);
	while (json_scan_next(s, ']'))
		if (!json_scan_value(s))
			return false;
	return !s->wrong;
}

bool json_scan_value(struct json_scan *s)
{
	struct json_digits number;
	struct json_raw string;

	if (s->at >= s->end)
		return refuse(s, s->at, "");
	if (s->depth > JSON_DEPTH_MAX)
		return refuse(s, s->at, "nested too deeply");
	switch (*s->at) {
	case '{':
		return scan_object(s);
	case '[':
		return scan_list(s);
	case '"':
		return json_scan_string(s, &string);
	case 't':
		return scan_word(s, SPAN("true"));
	case 'f':
		return scan_word(s, SPAN("false"));
	case 'n':
		return scan_word(s, SPAN("null"));
	default:
		return json_scan_number(s, &number);
	}
}

enum json_type json_scan_type(const struct json_scan *s)
{
	const char *at = s->at;

	switch (at < s->end ? *at : '\0') {
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
		while (at < s->end && (*at == '-' || (*at >= '0' && *at <= '9')))
			at++;
		return at < s->end && (*at == '.' || *at == 'e' || *at == 'E') ? json_type_double
									       : json_type_int;
	}
}

bool json_check(const char *text, size_t n, struct json_error *error)
{
	_cleanup_scan_ struct json_scan s;

	json_scan_begin(&s, text, n, error);
	return json_scan_value(&s) && json_scan_finish(&s);
}

const char *json_type_word(enum json_type type)
{
	switch (type) {
	case json_type_null:
		return "null";
	case json_type_boolean:
		return "true or false";
	case json_type_int:
		return "a number";
	case json_type_double:
		return "a fraction";
	case json_type_string:
		return "a string";
	case json_type_array:
		return "a list";
	case json_type_object:
		return "an object";
	}
	return "nothing";
}
