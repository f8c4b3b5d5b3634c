/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json-decode.c - decodes the escapes of a JSON string. */
#include "base/json-scan.h"

static uint32_t hex4(const char *p)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++)
		value = value << 4 | (uint32_t)span_digit(p[i]);
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

size_t json_decode(char *out, struct span raw)
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
