/* SPDX-License-Identifier: GPL-2.0-or-later */
/* utf8.c - text from a host is bytes; documents must be UTF-8. */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

static bool continues(const unsigned char *s, size_t n, size_t count)
{
	if (n <= count)
		return false;
	for (size_t i = 1; i <= count; i++)
		if ((s[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* RFC 3629: shortest form, no surrogate, nothing above U+10FFFF. */
size_t utf8_length(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t second = n > 1 ? s[1] : 0;

	if (s[0] < 0x80)
		return s[0] != 0;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		return continues(s, n, 1) ? 2 : 0;
	if ((s[0] & 0xf0) == 0xe0) {
		if ((s[0] == 0xe0 && second < 0xa0) || (s[0] == 0xed && second > 0x9f))
			return 0;
		return continues(s, n, 2) ? 3 : 0;
	}
	if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		if ((s[0] == 0xf0 && second < 0x90) || (s[0] == 0xf4 && second > 0x8f))
			return 0;
		return continues(s, n, 3) ? 4 : 0;
	}
	return 0;
}

size_t utf8_cut(const char *s, size_t n)
{
	size_t tail = 1;
	unsigned char lead;

	while (tail < n && tail < 4 && ((unsigned char)s[n - tail] & 0xc0) == 0x80)
		tail++;
	if (tail > n)
		return n;
	lead = (unsigned char)s[n - tail];
	return (size_t)(lead >= 0xf0   ? 4
			: lead >= 0xe0 ? 3
			: lead >= 0xc0 ? 2
				       : 1) > tail
		       ? n - tail
		       : n;
}

void utf8_drop_cut(char *s)
{
	size_t n = strlen(s), to = 0;

	if (utf8_is_plain(s, n))
		return;
	for (size_t i = 0; i < n;) {
		size_t length = utf8_length(s + i, n - i);

		memmove(s + to, s + i, length);
		to += length;
		i += length ? length : 1;
	}
	s[to] = '\0';
}

static size_t clean(char *out, const char *s, size_t n)
{
	size_t size = 0;

	for (size_t i = 0; i < n;) {
		size_t length = utf8_length(s + i, n - i);
		const char *from = length ? s + i : REPLACEMENT;
		size_t bytes = length ? length : 3;

		if (out)
			memcpy(out + size, from, bytes);
		size += bytes;
		i += length ? length : 1;
	}
	if (out)
		out[size] = '\0';
	return size + 1;
}

bool utf8_is_plain(const char *s, size_t n)
{
	const uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
	uint64_t bad = 0, eight;
	size_t i = 0;

	/* Less one, a NUL has the highest bit set. It takes from the byte above it, which then no longer matters. */
	for (; n - i >= sizeof(eight); i += sizeof(eight)) {
		memcpy(&eight, s + i, sizeof(eight));
		bad |= (eight - ones) | eight;
	}
	for (; i < n; i++)
		bad |= (uint64_t)(s[i] <= 0) << 7;
	return !(bad & tops);
}

size_t utf8_clean_size(const char *s, size_t n)
{
	return utf8_is_plain(s, n) ? n + 1 : clean(NULL, s, n);
}

void utf8_clean(char *out, const char *s, size_t n)
{
	if (!utf8_is_plain(s, n)) {
		clean(out, s, n);
		return;
	}
	memcpy(out, s, n);
	out[n] = '\0';
}
