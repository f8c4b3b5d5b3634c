/* SPDX-License-Identifier: GPL-2.0-or-later */
/* span.c - a run of bytes in a buffer that the caller owns, and the operations that every parser needs. */
#include "base/span.h"

#include <errno.h>
#include <string.h>

struct span span_of(const char *string)
{
	return (struct span){ string, strlen(string) };
}

bool span_ends(struct span s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.n >= n && memcmp(s.p + s.n - n, suffix, n) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct span span_trim(struct span s)
{
	while (s.n && is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

size_t span_find(struct span s, char c)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : s.n;
}

/* Length of a line for which memmem() is not worth its start: it first fills a table of 256 bytes. */
#define SHORT 256

static const char *search_short(struct span s, const char *needle, size_t n)
{
	while (s.n >= n) {
		const char *at = memchr(s.p, *needle, s.n - n + 1);

		if (!at || memcmp(at, needle, n) == 0)
			return at;
		s.n -= (size_t)(at + 1 - s.p);
		s.p = at + 1;
	}
	return NULL;
}

const char *span_search(struct span s, const char *needle)
{
	size_t n = strlen(needle);

	if (!s.n)
		return NULL;
	return n && s.n <= SHORT ? search_short(s, needle, n) : memmem(s.p, s.n, needle, n);
}

bool span_cut(struct span *rest, char delim, struct span *piece)
{
	size_t at;

	if (!rest->p || !rest->n) {
		rest->p = NULL;
		return false;
	}
	at = span_find(*rest, delim);
	*piece = (struct span){ rest->p, at };
	if (at < rest->n)
		at++;
	rest->p += at;
	rest->n -= at;
	return true;
}

bool span_word(struct span *rest, struct span *word)
{
	size_t n = 0;

	while (rest->n && is_blank(rest->p[0])) {
		rest->p++;
		rest->n--;
	}
	while (n < rest->n && !is_blank(rest->p[n]))
		n++;
	*word = (struct span){ rest->p, n };
	rest->p += n;
	rest->n -= n;
	return n > 0;
}

const uint8_t span_digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

int span_u64(struct span s, int base, uint64_t *value)
{
	bool hex = s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'X');
	uint64_t sum = 0;

	if (base != 10 && hex) {
		s.p += 2;
		s.n -= 2;
		base = 16;
	} else if (base == 0) {
		base = s.n > 1 && s.p[0] == '0' ? 8 : 10;
	}
	if (!s.n)
		return -EINVAL;
	for (size_t i = 0; i < s.n; i++) {
		int d = span_digit(s.p[i]);

		if (d < 0 || d >= base)
			return -EINVAL;
		if (__builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
		    __builtin_add_overflow(sum, (uint64_t)d, &sum))
			return -ERANGE;
	}
	*value = sum;
	return 0;
}

const char *span_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool path_is_beside(const char *path, const char *file)
{
	const char *a = strrchr(path, '/'), *b = strrchr(file, '/');

	return a && b && a - path == b - file && strncmp(path, file, (size_t)(a - path)) == 0;
}
