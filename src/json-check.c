/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json-check.c - is a text one strict document (RFC 8259)? In one pass, without building anything.
 *
 * json-c keeps the last of two equal keys without a word, takes 'key' for "key" and stores a number
 * that does not fit as the nearest one that does; here those are refused, with their line.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "parse/span.h"
#include "parse/utf8.h"

/* Structs of facts have some forty; equal ones are looked for one by one. */
#define KEYS_MAX 1024

struct check {
	const char *text;
	const char *at;
	const char *end;
	struct json_error *error;
	struct span *keys;	/* of all objects that are open */
	size_t keys_count;
	size_t keys_room;
};

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

static bool refuse(struct check *c, const char *at, const char *what)
{
	json_set_error(c->error, c->text, at, "%s",
		       at >= c->end ? "the document is cut short"
		       : *at	    ? what
				    : "a NUL byte: this is not a text");
	return false;
}

static bool refuse_key(struct check *c, struct span key, const char *what)
{
	json_set_error(c->error, c->text, key.p, "%s \"%.*s\"", what,
		       (int)(key.n < 80 ? key.n : 80), key.p);
	return false;
}

static void check_blank(struct check *c)
{
	while (c->at < c->end && json_is_blank(*c->at))
		c->at++;
}

static bool check_escape(struct check *c)
{
	if (c->at < c->end && *c->at == 'u') {
		for (int i = 1; i <= 4; i++)
			if (c->at + i >= c->end || json_hex(c->at[i]) < 0)
				return refuse(c, c->at + i, "\\u needs four hexadecimal digits");
		c->at += 5;
		return true;
	}
	if (c->at >= c->end || !memchr("\"\\/bfnrt", *c->at, 8))
		return refuse(c, c->at, "no such escape in a string");
	c->at++;
	return true;
}

/* ASCII that stands for itself in a string. */
static const bool is_plain[256] = {
	[' ' ... '!'] = true, ['#' ... '['] = true, [']' ... 0x7f] = true,
};

static bool check_special(struct check *c)
{
	size_t n;

	if (*c->at == '\\') {
		c->at++;
		return check_escape(c);
	}
	if ((unsigned char)*c->at < ' ')
		return refuse(c, c->at, "a control character in a string");
	n = utf8_length(c->at, (size_t)(c->end - c->at));
	c->at += n;
	return n || refuse(c, c->at, "a string that is not UTF-8");
}

static bool check_string(struct check *c)
{
	c->at++;
	for (;;) {
		const char *at = c->at;

		while (at < c->end && is_plain[(unsigned char)*at])
			at++;
		c->at = at;
		if (at >= c->end)
			return refuse(c, at, "");
		if (*at == '"')
			break;
		if (!check_special(c))
			return false;
	}
	c->at++;
	return true;
}

static bool check_digits(struct check *c)
{
	const char *start = c->at;

	while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
		c->at++;
	return c->at > start || refuse(c, c->at, "not a value");
}

static bool fits(const char *number, size_t n, bool whole)
{
	char digits[24];

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

static bool check_number(struct check *c)
{
	const char *start = c->at;
	const char *digits = start + (*start == '-');
	bool whole = true;

	c->at = digits;
	if (!check_digits(c))
		return false;
	if (*digits == '0' && c->at > digits + 1)
		return refuse(c, start, "a number that begins with 0");
	if (c->at < c->end && *c->at == '.') {
		whole = false;
		c->at++;
		if (!check_digits(c))
			return false;
	}
	if (c->at < c->end && (*c->at == 'e' || *c->at == 'E')) {
		whole = false;
		c->at++;
		c->at += c->at < c->end && (*c->at == '+' || *c->at == '-');
		if (!check_digits(c))
			return false;
	}
	/* A whole one of fewer digits fits in any case. */
	if ((!whole || c->at - start > 18) && !fits(start, (size_t)(c->at - start), whole))
		return refuse(c, start, "number out of range");
	return true;
}

static bool check_word(struct check *c, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
		return refuse(c, c->at, "not a value");
	c->at += n;
	return true;
}

/* SEEN has a bit for what a key looks like, so that most keys are compared with none. FIRST is the
 * object's first one. */
static bool check_key(struct check *c, size_t first, uint64_t seen[4])
{
	const char *start = c->at + 1;
	struct span key;
	uint8_t looks;

	if (*c->at != '"')
		return refuse(c, c->at, "a key must stand in double quotes");
	if (!check_string(c))
		return false;
	key = (struct span){ start, (size_t)(c->at - start) - 1 };
	looks = key.n ? (uint8_t)(key.n * 31 + (uint8_t)key.p[0] * 7 + (uint8_t)key.p[key.n - 1]) : 0;
	if (seen[looks / 64] >> looks % 64 & 1)
		for (size_t i = first; i < c->keys_count; i++)
			if (c->keys[i].n == key.n && memcmp(c->keys[i].p, key.p, key.n) == 0)
				return refuse_key(c, key, "the same key twice:");
	seen[looks / 64] |= UINT64_C(1) << looks % 64;
	if (c->keys_count - first == KEYS_MAX)
		return refuse_key(c, key, "more than 1024 keys in one object, with");
	if (c->keys_count == c->keys_room) {
		size_t room = c->keys_room ? c->keys_room * 2 : 64;
		struct span *more = realloc(c->keys, room * sizeof(*more));

		if (!more)
			return refuse_key(c, key, "out of memory at");
		c->keys = more;
		c->keys_room = room;
	}
	c->keys[c->keys_count++] = key;
	return true;
}

static bool check_value(struct check *c, int depth);

/* True when there is another member or item, false with CLOSED set behind the bracket. */
static bool check_next(struct check *c, char bracket, bool first, bool *closed)
{
	check_blank(c);
	if (c->at >= c->end)
		return refuse(c, c->at, "");
	if (*c->at == bracket) {
		c->at++;
		*closed = true;
		return false;
	}
	if (first)
		return true;
	if (*c->at != ',')
		return refuse(c, c->at, "a comma is missing");
	c->at++;
	check_blank(c);
	if (c->at >= c->end || *c->at == bracket)
		return refuse(c, c->at, "a comma with nothing behind it");
	return true;
}

static bool check_object(struct check *c, int depth)
{
	size_t first = c->keys_count;
	uint64_t seen[4] = { 0 };
	bool closed = false;

	for (c->at++; check_next(c, '}', c->keys_count == first, &closed);) {
		if (!check_key(c, first, seen))
			return false;
		check_blank(c);
		if (c->at >= c->end || *c->at != ':')
			return refuse(c, c->at, "a colon is missing");
		c->at++;
		if (!check_value(c, depth + 1))
			return false;
	}
	c->keys_count = first;
	return closed;
}

static bool check_array(struct check *c, int depth)
{
	bool first = true, closed = false;

	for (c->at++; check_next(c, ']', first, &closed); first = false)
		if (!check_value(c, depth + 1))
			return false;
	return closed;
}

static bool check_value(struct check *c, int depth)
{
	check_blank(c);
	if (c->at >= c->end)
		return refuse(c, c->at, "");
	if (depth > JSON_DEPTH_MAX)
		return refuse(c, c->at, "nested too deeply");
	switch (*c->at) {
	case '{':
		return check_object(c, depth);
	case '[':
		return check_array(c, depth);
	case '"':
		return check_string(c);
	case 't':
		return check_word(c, "true");
	case 'f':
		return check_word(c, "false");
	case 'n':
		return check_word(c, "null");
	default:
		return check_number(c);
	}
}

bool json_check(const char *text, size_t n, struct json_error *error)
{
	struct check c = { .text = text, .at = text, .end = text + n, .error = error };
	bool right = check_value(&c, 0);

	free(c.keys);
	if (!right)
		return false;
	check_blank(&c);
	return c.at == c.end || refuse(&c, c.at, "more text behind the document");
}
