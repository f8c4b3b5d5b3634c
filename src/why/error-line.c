/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "why/error-line.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define BLOCK 4 /* bytes that every sign has or more */

/* What a sign must have on a side. */
enum side {
	ANY,
	WORD_ENDS, /* neither a letter, a digit nor "_" */
};

/* In any case, but for words that are levels of a logger in capitals only. */
static const struct sign {
	const char *text;
	enum side before, behind;
	bool capitals;
} signs[] = {
	{ "ERROR", WORD_ENDS, WORD_ENDS, true },
	{ "FATAL", WORD_ENDS, WORD_ENDS, true },
	{ "CRITICAL", WORD_ENDS, WORD_ENDS, true },
	{ "NCCL WARN", WORD_ENDS, WORD_ENDS, true },
	{ "BUG:", WORD_ENDS, ANY, true },
	{ "Oops:", WORD_ENDS, ANY, true },
	{ "error:", ANY, ANY, false },
	{ "error ", WORD_ENDS, ANY, false },
	{ "exception:", ANY, ANY, false },
	{ "fatal:", WORD_ENDS, ANY, false },
	{ "fail:", WORD_ENDS, ANY, false },
	{ "failed", WORD_ENDS, WORD_ENDS, false },
	{ "failure:", WORD_ENDS, ANY, false },
	{ "aborted", WORD_ENDS, WORD_ENDS, false },
	{ "aborting", WORD_ENDS, WORD_ENDS, false },
	{ "access denied", WORD_ENDS, WORD_ENDS, false },
	{ "assert", WORD_ENDS, WORD_ENDS, false },
	{ "assertion", WORD_ENDS, WORD_ENDS, false },
	{ "broken pipe", WORD_ENDS, WORD_ENDS, false },
	{ "bus error", WORD_ENDS, WORD_ENDS, false },
	{ "cannot", WORD_ENDS, WORD_ENDS, false },
	{ "can't", WORD_ENDS, WORD_ENDS, false },
	{ "core dumped", WORD_ENDS, WORD_ENDS, false },
	{ "could not", WORD_ENDS, WORD_ENDS, false },
	{ "couldn't", WORD_ENDS, WORD_ENDS, false },
	{ "does not exist", WORD_ENDS, WORD_ENDS, false },
	{ "incompatible", WORD_ENDS, WORD_ENDS, false },
	{ "is not installed", WORD_ENDS, WORD_ENDS, false },
	{ "mismatch", WORD_ENDS, WORD_ENDS, false },
	{ "no space left", WORD_ENDS, WORD_ENDS, false },
	{ "no such", WORD_ENDS, WORD_ENDS, false },
	{ "not found", WORD_ENDS, WORD_ENDS, false },
	{ "not permitted", WORD_ENDS, WORD_ENDS, false },
	{ "not supported", WORD_ENDS, WORD_ENDS, false },
	{ "out of memory", WORD_ENDS, WORD_ENDS, false },
	{ "permission denied", WORD_ENDS, WORD_ENDS, false },
	{ "segfault", WORD_ENDS, WORD_ENDS, false },
	{ "segmentation fault", WORD_ENDS, WORD_ENDS, false },
	{ "timed out", WORD_ENDS, WORD_ENDS, false },
	{ "unable to", WORD_ENDS, WORD_ENDS, false },
	{ "undefined symbol", WORD_ENDS, WORD_ENDS, false },
	{ "unexpectedly", WORD_ENDS, WORD_ENDS, false },
};

/* A line with one of these says of itself that it is no error, or speaks of one that did not happen. */
static const char *const calm[] = { "INFO",	    "DEBUG",	"TRACE",      "Warning",
				    "WARNING",	    "warning:", "deprecated", "ignore",
				    "Ignoring",	    "no error", "No error",   "0 error",
				    "0 fail",	    "ailed: 0", "fallback",   "falling back",
				    "Falling back", "retrying", "Retrying" };

/* ---- one place ---- */

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Is SIGN at AT in LINE? */
static bool has_sign(const struct sign *sign, struct span line, const char *at)
{
	size_t n = strlen(sign->text), left = (size_t)(line.p + line.n - at);

	if (left < n || strncasecmp(at, sign->text, n) != 0)
		return false;
	if (sign->capitals && memcmp(at, sign->text, n) != 0)
		return false;
	if (sign->before == WORD_ENDS && at > line.p && is_word_char(at[-1]))
		return false;
	return sign->behind == ANY || left == n || !is_word_char(at[n]);
}

bool error_line_is_calm(struct span line)
{
	for (size_t i = 0; i < sizeof(calm) / sizeof(calm[0]); i++)
		if (span_search(line, calm[i]))
			return true;
	return false;
}

/* ---- places ---- */

/* By the hash of four bytes in small letters: the first sign that begins with them, from 1; 0: none does. */
#define BITS 14

#define FARTHEST (BLOCK - 1)

struct error_finder {
	uint8_t shift
		[1
		 << 16]; /* by two bytes: so much farther, at least, a block of a sign can begin */
	uint8_t first[1 << BITS];
	uint8_t next[sizeof(signs) / sizeof(signs[0]) + 1]; /* sign of the same hash; 0: no other */
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

	memset(finder->shift, FARTHEST, sizeof(finder->shift));
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		uint8_t *first = &finder->first[hash(signs[i].text)];

		finder->next[i + 1] = *first;
		*first = (uint8_t)(i + 1);
		for (uint8_t k = 0; k < FARTHEST; k++)
			shorten(&finder->shift[pair(signs[i].text + k)], FARTHEST - 1 - k);
	}
	return finder;
}

static bool is_place(const struct error_finder *finder, struct span text, const char *at)
{
	for (uint8_t i = finder->first[hash(at)]; i; i = finder->next[i])
		if (has_sign(&signs[i - 1], text, at))
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
