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

/* A field that is cut can have a part of the value. */
static enum vpd_answer find_in_fields(struct span fields, const char *key, struct span *value)
{
	while (fields.n >= FIELD_HEADER) {
		size_t n = byte(fields, 2);

		fields = (struct span){ fields.p + FIELD_HEADER, fields.n - FIELD_HEADER };
		if (n > fields.n)
			return VPD_CUT;
		if (find_in_field((struct span){ fields.p, n }, key, value))
			return VPD_FOUND;
		fields = (struct span){ fields.p + n, fields.n - n };
	}
	return VPD_NONE;
}

enum vpd_answer vpd_find(struct span vpd, const char *key, struct span *value)
{
	enum vpd_answer answer = VPD_NONE, found;

	while (vpd.n) {
		size_t tag = byte(vpd, 0), header = 1, n = tag & 7;
		struct span fields;

		if (tag == TAG_END)
			return answer;
		if (tag & TAG_LARGE) {
			header = LARGE_HEADER;
			if (vpd.n < header)
				return VPD_CUT;
			n = byte(vpd, 1) | byte(vpd, 2) << 8;
		}
		fields = (struct span){ vpd.p + header, vpd.n - header };
		vpd = n < fields.n ? (struct span){ fields.p + n, fields.n - n } : SPAN("");
		fields.n = n < fields.n ? n : fields.n;
		if (tag != TAG_READ_ONLY && tag != TAG_WRITABLE)
			continue;
		found = find_in_fields(fields, key, value);
		if (found == VPD_FOUND)
			return found;
		if (found == VPD_CUT)
			answer = found;
	}
	return VPD_CUT;
}
