/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pattern.h - data that tells where it comes from. Word i (of 64 bits) is SEED + i * an odd number:
 * no two words of a buffer are alike, and a word at the wrong place shows which one it is.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "facts/proof.h"

/* Each 32-bit word of a buffer before it is written to; a copy that still has it is DAMAGE_STALE. */
#define PATTERN_STALE UINT32_C(0x57a1e000)

struct pattern_check {
	uint64_t bad_bytes; /* in words that are not right, 8 each */
	uint64_t first_bad_byte;
	enum proof_damage damage; /* what most of the bad words are; DAMAGE_NONE: none is bad */
};

void pattern_fill(uint64_t *words, size_t count, uint64_t seed);
struct pattern_check pattern_compare(const uint64_t *words, size_t count, uint64_t seed);

#endif
