/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pe.c - the sections of a PE file: a unified kernel image is one (UAPI.5). */
#include "parse/pe.h"

#include <string.h>

#define COFF_HEADER_SIZE 20
#define SECTION_SIZE 40
#define SECTION_NAME_SIZE 8

static uint32_t le(struct span s, uint64_t at, size_t n)
{
	uint32_t value = 0;

	if (at + n > s.n)
		return 0;
	for (size_t i = 0; i < n; i++)
		value |= (uint32_t)(unsigned char)s.p[at + i] << (8 * i);
	return value;
}

/* The COFF header, or 0: its offset is at 0x3c of the DOS header. */
static uint64_t find_coff(struct span head)
{
	uint64_t at = le(head, 0x3c, 4);

	if (!span_starts(head, "MZ") || at == 0 || at + 4 + COFF_HEADER_SIZE > head.n ||
	    memcmp(head.p + at, "PE\0\0", 4) != 0)
		return 0;
	return at + 4;
}

bool pe_find(struct span head, const char *name, struct pe_section *section)
{
	uint64_t coff = find_coff(head), at;
	char wanted[SECTION_NAME_SIZE + 1] = "";

	if (!coff)
		return false;
	strncpy(wanted, name, SECTION_NAME_SIZE);
	at = coff + COFF_HEADER_SIZE + le(head, coff + 16, 2); /* past the optional header */
	for (uint32_t left = le(head, coff + 2, 2); left; left--, at += SECTION_SIZE) {
		uint32_t virtual_size = le(head, at + 8, 4), raw_size = le(head, at + 16, 4);

		if (at + SECTION_SIZE > head.n)
			return false;
		if (memcmp(head.p + at, wanted, SECTION_NAME_SIZE) != 0)
			continue;
		section->offset = le(head, at + 20, 4);
		section->size = virtual_size < raw_size ? virtual_size : raw_size;
		return true;
	}
	return false;
}
