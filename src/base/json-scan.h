/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json-scan.h - one pass through a text that must be one strict document (RFC 8259). Every value that is read or
 * skipped is checked. At the first error the result is false, and the error says why.
 *
 * json-c keeps the last of two equal keys without a message, accepts 'key' for "key" and stores a number that does not
 * fit as the nearest one that does. These are errors here.
 */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json-c.h"
#include "base/span.h"

/* Documents are not deeper. */
#define JSON_DEPTH_MAX 16

/* The limit for one object. Structs of facts have some forty keys; duplicates are searched for linearly. */
#define JSON_KEYS_MAX 1024

struct json_error {
	char text[200];
	size_t line; /* from 1 */
};

/* Fills ERROR with a message about the position AT in TEXT. */
void json_set_error(struct json_error *error, const char *text, const char *at, const char *format,
		    ...) __attribute__((format(printf, 4, 5)));

const char *json_type_word(enum json_type type);

/* Returns true for one strict document: UTF-8, no trailing text, no duplicate key, no comment. Otherwise fills
 * ERROR. */
bool json_check(const char *text, size_t n, struct json_error *error);

static inline bool json_is_blank(char c)
{
	return (unsigned char)c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t');
}

struct json_scan {
	const char *at; /* the first character of the next value */
	const char *end;
	const char *text;
	struct json_error *error;
	bool wrong;	    /* and ERROR says how */
	unsigned int depth; /* objects and lists that are open */
	struct span *keys;  /* the arguments of json_scan_once() for all objects that are open */
	size_t keys_count, keys_room;
};

/* Starts reading TEXT before its first value. TEXT must stay, because keys and strings are spans of it. */
void json_scan_begin(struct json_scan *s, const char *text, size_t n, struct json_error *error);
void json_scan_end(struct json_scan *s);
#define _cleanup_scan_ _cleanup_(json_scan_end)

/* Returns true if only blanks are left. */
bool json_scan_finish(struct json_scan *s);

static inline void json_scan_blank(struct json_scan *s)
{
	while (s->at < s->end && json_is_blank(*s->at))
		s->at++;
}

/* Returns true if MARK is here, followed by one blank and something else. That is the usual form. */
static inline bool json_scan_is_near(const struct json_scan *s, char mark)
{
	return s->end - s->at > 2 && s->at[0] == mark && s->at[1] == ' ' &&
	       !json_is_blank(s->at[2]);
}

/* Returns true directly after the opening bracket of an object or list. */
static inline bool json_scan_is_first(const struct json_scan *s)
{
	return s->at[-1] == '{' || s->at[-1] == '[';
}

/* Returns the type of the next value, from its first character. An unexpected character counts as a number, which
 * then fails to parse. */
enum json_type json_scan_type(const struct json_scan *s);

/* json_scan_next() for every other spelling: blanks, line ends. */
bool json_scan_next_far(struct json_scan *s, char bracket);
/* Skips the opening bracket of an object or list. Its members are then read in turn, each from its key or value on:
 * while (json_scan_next(s, '}')). At the end the position is after BRACKET, or the text is wrong. */
static inline void json_scan_enter(struct json_scan *s)
{
	s->at++;
	s->depth++;
}
static inline bool json_scan_next(struct json_scan *s, char bracket)
{
	if (!json_scan_is_near(s, ',') || s->at[2] == bracket || json_scan_is_first(s))
		return json_scan_next_far(s, bracket);
	s->at += 2;
	return true;
}

/* A string as it is written, without its quotes. With ESCAPES json_decode() writes its value, which is never longer. A
 * NUL or half a surrogate pair becomes U+FFFD. */
struct json_raw {
	struct span text;
	bool escapes;
};

bool json_scan_string(struct json_scan *s, struct json_raw *raw);
size_t json_decode(char *out, struct span raw);

/* Compares names, which are short: a call of memcmp() would take longer. */
static inline bool json_scan_same(const char *a, const char *b, size_t n)
{
	if (n < 4)
		return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
	for (size_t i = 0; i + 4 < n; i += 4)
		if (memcmp(a + i, b + i, 4) != 0)
			return false;
	return memcmp(a + n - 4, b + n - 4, 4) == 0;
}

/* Skips NAME, with its quotes, if it is the next key. */
static inline bool json_scan_is_key(struct json_scan *s, const char *name, size_t n)
{
	if ((size_t)(s->end - s->at) < n + 2 || s->at[n + 1] != '"' || *s->at != '"' ||
	    !json_scan_same(s->at + 1, name, n))
		return false;
	s->at += n + 2;
	return true;
}
/* Takes any key. */
bool json_scan_key(struct json_scan *s, struct json_raw *key);
/* json_scan_colon() for every other spelling: blanks, line ends. */
bool json_scan_colon_far(struct json_scan *s);
/* Moves from the end of a key to its value. */
static inline bool json_scan_colon(struct json_scan *s)
{
	if (!json_scan_is_near(s, ':'))
		return json_scan_colon_far(s);
	s->at += 2;
	return true;
}

/* Returns whether KEY is new in its object, whose first key is number FIRST of KEYS. SEEN, zeroed for each object,
 * has one bit for each hash of a key, so that few keys are compared. */
bool json_scan_once(struct json_scan *s, size_t first, uint64_t seen[4], struct span key);

struct json_digits {
	bool whole; /* no fraction, no exponent */
	bool negative;
	uint64_t value; /* of a whole one, without its sign */
};

bool json_scan_number(struct json_scan *s, struct json_digits *number);

/* Skips a value of any type. */
bool json_scan_value(struct json_scan *s);

#endif
