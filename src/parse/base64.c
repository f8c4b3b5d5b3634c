/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base64.c - RFC 4648, section 4, for the bytes in a capture that are not text. */
#include "parse/base64.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const char *bytes, size_t n)
{
	char *text = malloc((n + 2) / 3 * 4 + 1);
	char *out = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < n; i += 3) {
		uint32_t group = 0;

		for (size_t k = 0; k < 3; k++)
			group = group << 8 | (i + k < n ? (unsigned char)bytes[i + k] : 0);
		for (size_t k = 0; k < 4; k++)
			*out++ = i + k <= n ? alphabet[group >> (18 - 6 * k) & 63] : '=';
	}
	*out = '\0';
	return text;
}

char *base64_decode(struct span text, size_t *n)
{
	char *bytes = malloc(text.n / 4 * 3 + 1);
	size_t pad = 0;

	*n = 0;
	for (size_t i = 0; bytes && i < text.n; i += 4) {
		uint32_t group = 0;

		for (size_t k = 0; k < 4; k++) {
			char c = text.n - i >= 4 ? text.p[i + k] : '\0';
			const char *at = c && c != '=' ? strchr(alphabet, c) : NULL;

			pad += c == '=' && i + 4 == text.n && k >= 2;
			/* Padding ends the text: after it there is only more padding. */
			if (at ? pad : c != '=' || !pad)
				goto bad;
			group = group << 6 | (uint32_t)(at ? at - alphabet : 0);
		}
		for (size_t k = 0; k < 3; k++)
			bytes[(*n)++] = (char)(group >> (16 - 8 * k));
	}
	if (bytes) {
		*n -= pad;
		bytes[*n] = '\0';
	}
	return bytes;
bad:
	free(bytes);
	return NULL;
}
