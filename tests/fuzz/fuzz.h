/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz.h - what fuzz targets share: a target is one LLVMFuzzerTestOneInput() that takes bytes apart
 * with what the program has for them, and asserts what must be true of any answer.
 */
#ifndef FUZZ_H
#define FUZZ_H

#undef NDEBUG
#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/span.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One for all inputs, as mapping it anew would take most of the time: emptied at each call. */
static inline struct arena *fuzz_arena(void)
{
	static struct arena *arena;

	if (arena)
		arena_reset(arena);
	else
		arena = arena_new(ARENA_BYTES, "facts");
	return arena;
}

static inline struct span fuzz_span(const uint8_t *data, size_t size)
{
	return (struct span){ (const char *)data, size };
}

/* Cuts a byte off, which steers the target; 0 at the end. */
static inline uint8_t fuzz_byte(struct span *rest)
{
	if (!rest->n)
		return 0;
	rest->n--;
	return (uint8_t)*rest->p++;
}

static inline void check_inside(struct span text, struct span s)
{
	assert(!s.n || (s.p >= text.p && s.p + s.n <= text.p + text.n));
}

#endif
