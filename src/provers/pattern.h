/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pattern.h - data that shows its origin. Word i (of 64 bits) is SEED + i * an odd number. No two words of a buffer are
 * equal, and a word at the wrong place shows its own number.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stddef.h>
#include <stdint.h>

#include "facts/proof.h"

/* The initial value of each 32-bit word of a destination; a copy that still has it is DAMAGE_STALE. */
#define PATTERN_STALE UINT32_C(0x57a1e000)

struct pattern_check {
	uint64_t bad_bytes; /* in wrong words, 8 each */
	uint64_t first_bad_byte;
	/* the kind of most of the bad words; DAMAGE_NONE: no word is bad */
	enum proof_damage damage;
};

void pattern_fill(uint64_t *words, size_t count, uint64_t seed);
struct pattern_check pattern_compare(const uint64_t *words, size_t count, uint64_t seed);

#endif
