/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vpd.c - the vital product data of a PCI function (PCI Local Bus Specification 3.0, appendix I): a name, then fields
 * of two letters each.
 */
#include "parse/vpd.h"

#include <string.h>

/* A tag with bit 7 is followed by a length of two bytes. Others have it in three bits. */
#define TAG_LARGE 0x80
#define TAG_READ_ONLY 0x90
#define TAG_WRITABLE 0x91
#define TAG_END 0x78

#define LARGE_HEADER 3
#define FIELD_HEADER 3 /* two letters and a length */

static size_t byte(struct span s, size_t at)
{
	return (unsigned char)s.p[at];
}

static struct span cut(struct span s, size_t at, size_t n)
{
	size_t rest = s.n - at;

	return (struct span){ s.p + at, n < rest ? n : rest };
}

static bool find_in_field(struct span field, const char *key, struct span *value)
{
	size_t n = strlen(key);
	struct span word;

	while (span_cut(&field, ':', &word)) {
		if (word.n <= n || memcmp(word.p, key, n) != 0 || word.p[n] != '=')
			continue;
		*value = (struct span){ word.p + n + 1, word.n - n - 1 };
		return true;
	}
	return false;
}

static bool find_in_fields(struct span fields, const char *key, struct span *value)
{
	for (size_t at = 0; fields.n - at >= FIELD_HEADER;) {
		struct span field = cut(fields, at + FIELD_HEADER, byte(fields, at + 2));

		if (find_in_field(field, key, value))
			return true;
		at += FIELD_HEADER + field.n;
	}
	return false;
}

bool vpd_find(struct span vpd, const char *key, struct span *value)
{
	for (size_t at = 0; vpd.n - at >= LARGE_HEADER;) {
		size_t tag = byte(vpd, at);
		struct span fields;

		if (tag == TAG_END)
			return false;
		if (!(tag & TAG_LARGE)) {
			at = at + 1 + (tag & 7) < vpd.n ? at + 1 + (tag & 7) : vpd.n;
			continue;
		}
		fields = cut(vpd, at + LARGE_HEADER, byte(vpd, at + 1) | byte(vpd, at + 2) << 8);
		if ((tag == TAG_READ_ONLY || tag == TAG_WRITABLE) &&
		    find_in_fields(fields, key, value))
			return true;
		at += LARGE_HEADER + fields.n;
	}
	return false;
}
