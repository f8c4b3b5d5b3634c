/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error-line.c - lines that read like an error but are not in the table. */
#include "why/error-line.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "why/sign.h"

#define BLOCK 4 /* bytes of the shortest sign of an error */

/* Lines of source code in a traceback, without their prefix. */
static const char *const code[] = { "raise ",  "return ", "assert ", "except ",
				    "File \"", "self.",	  "at " };

/* ---- one place ---- */

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool ends_with(struct span text, const char *word)
{
	size_t n = strlen(word);

	return text.n >= n && strncasecmp(text.p + text.n - n, word, n) == 0 &&
	       (text.n == n || !is_word_char(text.p[text.n - n - 1]));
}

static bool is_denial(struct span before)
{
	static const char *const words[] = { "0", "no", "zero", "without", "any" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (ends_with(before, words[i]))
			return true;
	return false;
}

/* The text before AT in its line, of which TEXT can have many; at most the last bytes of it. */
#define BEFORE_MAX 64

static struct span before_in_line(struct span text, const char *at, bool *is_whole)
{
	const char *begin = at;

	while (begin > text.p && at - begin < BEFORE_MAX && begin[-1] != '\n' && begin[-1] != '\r')
		begin--;
	*is_whole = begin == text.p || begin[-1] == '\n' || begin[-1] == '\r';
	return (struct span){ begin, (size_t)(at - begin) };
}

/* "0 errors", "no error", "without failures", "0 tests failed", "  0 tests completed and failed" */
static bool is_denied_before(struct span text, const char *at)
{
	bool is_whole;
	struct span before = before_in_line(text, at, &is_whole);

	if (is_whole && span_starts(span_trim(before), "0 "))
		return true;
	if (!before.n || (before.p[before.n - 1] != ' ' && before.p[before.n - 1] != '-'))
		return false;
	before.n--;
	if (is_denial(before))
		return true;
	while (before.n && isalpha((unsigned char)before.p[before.n - 1]))
		before.n--;
	if (!before.n || before.p[before.n - 1] != ' ')
		return false;
	before.n--;
	return ends_with(before, "0");
}

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

/* A value that means "no error", up to the end of its field. */
static bool is_none(struct span value)
{
	static const char *const words[] = { "none", "no", "null", "false", "[]", "{}" };
	size_t n = 0;

	while (n < value.n && (value.p[n] == '0' || (n && value.p[n] == '.')))
		n++;
	if (n)
		return n == value.n || is_one_of(value.p[n], " ,;)}]\"'|\n\r");
	for (size_t i = 0; !n && i < ARRAY_SIZE(words); i++)
		if (value.n >= strlen(words[i]) &&
		    strncasecmp(value.p, words[i], strlen(words[i])) == 0)
			n = strlen(words[i]);
	return n && (n == value.n || is_one_of(value.p[n], ",;)}]\"'|\n\r"));
}

#define NAME_BEHIND 24 /* bytes: "failed transfers: 0" */

/* "errors 0", "failed for 0", "errors: 0", "failures=0", "\"errors\":[]", "failed transfers: 0" */
static bool is_denied_behind(struct span rest)
{
	size_t i = 0;

	if (rest.n > 5 && memcmp(rest.p, " for ", 5) == 0)
		i = 4;
	while (i < rest.n && i < NAME_BEHIND && isalpha((unsigned char)rest.p[i]))
		i++;
	if (i + 1 < rest.n && rest.p[i] == ' ' && rest.p[i + 1] == '0')
		return is_none((struct span){ rest.p + i + 1, rest.n - i - 1 });
	while (i < rest.n && i < NAME_BEHIND &&
	       (is_word_char(rest.p[i]) || is_one_of(rest.p[i], " \"'])-")))
		i++;
	if (i == rest.n || !is_one_of(rest.p[i], ":="))
		return false;
	for (i++; i < rest.n && is_one_of(rest.p[i], " \"'"); i++)
		;
	return is_none((struct span){ rest.p + i, rest.n - i });
}

/* Returns true if LINE, which can be many lines, has SIGN at AT. It is asked at each place with the first letters of a
 * sign, so that it reads only some bytes on both sides. */
static bool has_sign(const struct sign *sign, struct span line, const char *at)
{
	size_t n = sign->n, left = (size_t)(line.p + line.n - at);

	if (left < n || strncasecmp(at, sign->text, n) != 0)
		return false;
	if (sign->is_exact && memcmp(at, sign->text, n) != 0)
		return false;
	if (sign->form != SIGN_FORM_ANY && at > line.p && is_word_char(at[-1]))
		return false;
	if (sign->form == SIGN_FORM_WORD && left > n && is_word_char(at[n]))
		return false;
	if (at - line.p > 1 && at[-1] == '-' && at[-2] == '-')
		return false; /* an option: "--error-resilience" */
	if (left > n + 1 && at[n] == '.' && islower((unsigned char)at[n + 1]))
		return false; /* a file: "error.cc" */
	return !is_denied_before(line, at) && !is_denied_behind((struct span){ at + n, left - n });
}

/* ---- calm lines ---- */

#define LEVEL_WITHIN 160 /* bytes in which a line has its level, before its message */

/* glog and loggers of the same form: "I0309 11:46:30", "[W122 20:05:19", "[W socket.cpp:601]" */
static bool is_glog_calm(struct span line, const char *at)
{
	const char *end = line.p + line.n, *p = at + 1;
	size_t digits = 0;

	if (!strchr("IWD", *at) || (at > line.p && isalnum((unsigned char)at[-1])))
		return false;
	if (at > line.p && at[-1] == '[' && end - p > 1 && *p == ' ' &&
	    islower((unsigned char)p[1]))
		return true;
	for (; p < end && isdigit((unsigned char)*p); p++)
		digits++;
	return (digits == 3 || digits == 4) && end - p > 4 && p[0] == ' ' &&
	       isdigit((unsigned char)p[1]) && isdigit((unsigned char)p[2]) && p[3] == ':';
}

/* TensorFlow: "11:46:30.337: W external/file.cc:12]" */
static bool is_letter_calm(struct span line, const char *at)
{
	return strchr("IWD", *at) && at - line.p > 2 && at[-1] == ' ' && at[-2] == ':' &&
	       isdigit((unsigned char)at[-3]) && at + 1 < line.p + line.n && at[1] == ' ';
}

static bool has_calm_level(struct span line)
{
	const char *end = line.p + (line.n < LEVEL_WITHIN ? line.n : LEVEL_WITHIN);

	for (const char *at = line.p; at < end; at++)
		if (*at && (is_glog_calm(line, at) || is_letter_calm(line, at)))
			return true;
	return false;
}

/* After "[core.py:396]" of a logger, indented text belongs to a traceback. The error itself is at its end. */
static bool is_code(struct span line)
{
	const char *mark = memmem(line.p, line.n, "] ", 2);
	struct span rest = span_trim(line);

	if (mark && mark - line.p < LEVEL_WITHIN) {
		size_t left = (size_t)(line.p + line.n - mark - 2);

		if (left > 1 && mark[2] == ' ' && mark[3] == ' ' &&
		    memmem(line.p, (size_t)(mark - line.p), ".py:", 4))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(code); i++)
		if (span_starts(rest, code[i]))
			return true;
	return false;
}

/* A row of a list of a program's abilities, as of gdscheck: "Userspace RDMA : Unsupported" */
static bool is_capability(struct span line)
{
	static const char *const answers[] = { "Unsupported", "Supported",  "Disabled",
					       "Enabled",     "Not Loaded", "Not configured" };
	const char *mark = memrchr(line.p, ':', line.n);
	struct span value;

	if (!mark || mark == line.p || mark[-1] != ' ')
		return false;
	value = span_trim((struct span){ mark + 1, (size_t)(line.p + line.n - mark - 1) });
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		if (span_starts(value, answers[i]))
			return true;
	return false;
}

/* "  --retry N  what to do after an error" */
static bool is_help(struct span line)
{
	struct span text = span_trim(line);

	return text.n > 2 && text.p[0] == '-' && (text.p[1] == '-' || text.p[2] == ',') &&
	       memmem(text.p, text.n, "  ", 2);
}

bool error_line_is_calm(struct span line)
{
	struct sign_line signs;

	if (is_capability(line) || is_help(line))
		return true;
	sign_line_make(&signs, line);
	return sign_is_in(SIGN_CALM, &signs) || sign_is_in(SIGN_OVERCOME, &signs) ||
	       has_calm_level(line) || is_code(line);
}

/* ---- places ---- */

/* By the hash of four bytes in small letters: the first sign that begins with them, from 1; 0: none does. */
#define BITS 14

#define FARTHEST (BLOCK - 1)

struct error_finder {
	uint8_t shift
		[1
		 << 16]; /* by two bytes: the least distance to the next possible block of a sign */
	uint8_t first[1 << BITS];
	uint8_t *next; /* by sign: a sign of the same hash; 0: no other */
	struct sign_list signs;
};

static inline uint32_t hash(const char *block)
{
	uint32_t x;

	memcpy(&x, block, sizeof(x));
	return (x | 0x20202020) * 2654435761u >> (32 - BITS);
}

static inline uint16_t pair(const char *bytes)
{
	uint16_t x;

	memcpy(&x, bytes, sizeof(x));
	return x | 0x2020;
}

static void shorten(uint8_t *shift, int most)
{
	if (most < *shift)
		*shift = (uint8_t)most;
}

struct error_finder *error_finder_new(struct arena *arena)
{
	struct error_finder *finder = arena_alloc(arena, sizeof(*finder));

	finder->signs = sign_all(SIGN_ERROR);
	finder->next = arena_alloc(arena, finder->signs.count + 1);
	memset(finder->shift, FARTHEST, sizeof(finder->shift));
	for (size_t i = 0; i < finder->signs.count; i++) {
		const char *text = finder->signs.items[i].text;
		uint8_t *first = &finder->first[hash(text)];

		finder->next[i + 1] = *first;
		*first = (uint8_t)(i + 1);
		for (uint8_t k = 0; k < FARTHEST; k++)
			shorten(&finder->shift[pair(text + k)], FARTHEST - 1 - k);
	}
	return finder;
}

static bool is_place(const struct error_finder *finder, struct span text, const char *at)
{
	for (uint8_t i = finder->first[hash(at)]; i; i = finder->next[i])
		if (has_sign(&finder->signs.items[i - 1], text, at))
			return true;
	return false;
}

const char *error_finder_next(const struct error_finder *finder, struct span text, const char *from)
{
	const char *end = text.p + text.n;

	while (end - from >= BLOCK) {
		uint8_t shift = finder->shift[pair(from + BLOCK - 2)];

		if (!shift && is_place(finder, text, from))
			return from;
		from += shift ? shift : 1;
	}
	return NULL;
}
