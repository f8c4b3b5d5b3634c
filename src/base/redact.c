/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NAME_PLACEHOLDER "redacted-host"

/* FNV-1a: a made-up value that is always the same for the same original. */
static uint64_t hash(const char *s, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* Length of TEXT's beginning if it has the form of SHAPE, where x is a hexadecimal digit. */
static size_t shaped(const char *text, size_t n, const char *shape)
{
	size_t length = strlen(shape);

	if (n < length)
		return 0;
	for (size_t i = 0; i < length; i++)
		if (shape[i] == 'x' ? !isxdigit((unsigned char)text[i]) : text[i] != shape[i])
			return 0;
	return length;
}

static bool in_word(const char *text, size_t n, size_t at)
{
	return at < n && (isalnum((unsigned char)text[at]) || text[at] == '-' || text[at] == ':');
}

/* Overwrites the digits of SIZE bytes, from KEEP on, with made-up ones. */
static void make_up(char *at, size_t size, size_t keep, uint64_t seed)
{
	for (size_t i = keep; i < size; i++) {
		if (!isxdigit((unsigned char)at[i]))
			continue;
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		at[i] = "0123456789abcdef"[seed >> 60];
	}
}

static void redact_shapes(char *text, size_t n)
{
	static const struct {
		const char *shape;
		size_t keep; /* bytes at the beginning that say what it is */
	} shapes[] = {
		{ "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", 4 },
		{ "xx:xx:xx:xx:xx:xx", 8 }, /* the vendor's half of a MAC address stays */
	};

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
			size_t size = shaped(text + i, n - i, shapes[k].shape);

			if (!size || (i && in_word(text, n, i - 1)) || in_word(text, n, i + size))
				continue;
			make_up(text + i, size, shapes[k].keep, hash(text + i, size));
			i += size - 1;
			break;
		}
	}
}

static bool is_name_at(const char *text, size_t n, size_t i, const char *name, size_t length)
{
	if (n - i < length || memcmp(text + i, name, length) != 0)
		return false;
	return !(i && in_word(text, n, i - 1)) && !in_word(text, n, i + length);
}

char *redact_text(const char *text, size_t n, const char *hostname, size_t *size)
{
	size_t length = hostname ? strlen(hostname) : 0;
	bool named = length > 2 && strcmp(hostname, "localhost") != 0;
	char *out = malloc(n * (named ? sizeof(NAME_PLACEHOLDER) : 1) + 1);
	size_t used = 0;

	if (!out)
		return NULL;
	for (size_t i = 0; i < n;) {
		if (named && is_name_at(text, n, i, hostname, length)) {
			memcpy(out + used, NAME_PLACEHOLDER, sizeof(NAME_PLACEHOLDER) - 1);
			used += sizeof(NAME_PLACEHOLDER) - 1;
			i += length;
		} else {
			out[used++] = text[i++];
		}
	}
	out[used] = '\0';
	redact_shapes(out, used);
	*size = used;
	return out;
}
