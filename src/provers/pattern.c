/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern.c - data that shows its origin. */
#include "provers/pattern.h"

#include <stdbool.h>

/* Odd, so that multiplying by it can be undone (modulo 2^64). 2^64 divided by the golden ratio: its
 * multiples differ in many bits. */
#define STEP UINT64_C(0x9e3779b97f4a7c15)
#define STEP_INVERSE UINT64_C(0xf1de83e19937733d)
_Static_assert(STEP *STEP_INVERSE == 1, "not its inverse");

void pattern_fill(uint64_t *words, size_t count, uint64_t seed)
{
	for (size_t i = 0; i < count; i++)
		words[i] = seed + i * STEP;
}

static enum proof_damage damage_of(uint64_t word, size_t count, uint64_t seed)
{
	if (word == 0)
		return DAMAGE_ZEROS;
	if (word == ((uint64_t)PATTERN_STALE << 32 | PATTERN_STALE))
		return DAMAGE_STALE;
	/* The word's place in the pattern, if it has one. */
	return (word - seed) * STEP_INVERSE < count ? DAMAGE_SHIFTED : DAMAGE_OTHER;
}

struct pattern_check pattern_compare(const uint64_t *words, size_t count, uint64_t seed)
{
	size_t found[DAMAGE_OTHER + 1] = { 0 };
	struct pattern_check check = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (words[i] == seed + i * STEP)
			continue;
		if (check.bad_bytes == 0)
			check.first_bad_byte = i * sizeof(*words);
		check.bad_bytes += sizeof(*words);
		found[damage_of(words[i], count, seed)]++;
	}
	for (int d = DAMAGE_ZEROS; d <= DAMAGE_OTHER; d++)
		if (found[d] > found[check.damage])
			check.damage = (enum proof_damage)d;
	return check;
}
