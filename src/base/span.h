/* SPDX-License-Identifier: GPL-2.0-or-later */
/* span.h - a run of bytes in a buffer that the caller owns, and the operations that every parser
 * needs. No function here allocates or reads past the span's end. */
#ifndef SPAN_H
#define SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const char *p;
	size_t n;
};

#define SPAN(literal) ((struct span){ (literal), sizeof(literal) - 1 })
#define SPAN_FMT(s) (int)(s).n, (s).p /* for "%.*s" */

struct span span_of(const char *string);
/* Inline, because the compiler knows the length of nearly all prefixes. */
static inline bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Returns the last part of PATH: the text after its last "/", or PATH itself if it has none. */
const char *span_base_name(const char *path);
/* Returns true if both files are in one folder, so that one configuration has both. */
bool path_is_beside(const char *path, const char *file);
/* Inline, because the compiler knows the length of nearly all strings that these are called with. */
static inline bool span_is(struct span s, const char *string)
{
	return s.n == strlen(string) && memcmp(s.p, string, s.n) == 0;
}

static inline bool span_starts(struct span s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

bool span_ends(struct span s, const char *suffix);
/* S without blanks, tabs, CR and LF at both ends. */
struct span span_trim(struct span s);
/* The offset of C in S, or S.n. */
size_t span_find(struct span s, char c);
/* The first place of NEEDLE in S, or NULL. */
const char *span_search(struct span s, const char *needle);

/* Cuts the next piece that ends at DELIM (or at the end) off REST. False when REST is used up.
 * "a,,b" has three pieces; an empty REST has none. */
bool span_cut(struct span *rest, char delim, struct span *piece);
/* Cuts the next word: blanks, tabs and newlines separate, and runs of them count once. */
bool span_word(struct span *rest, struct span *word);

/* The value of a hexadecimal digit, or -1; the table has one more. */
extern const uint8_t span_digits[256];
static inline int span_digit(char c)
{
	return span_digits[(unsigned char)c] - 1;
}

/* A whole unsigned number: base 10, 16 (with or without 0x) or 0 (as C writes it).
 * 0, -EINVAL on anything else in the span, -ERANGE past 64 bits. */
int span_u64(struct span s, int base, uint64_t *value);

#endif
