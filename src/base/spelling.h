/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spelling.h - the known word that is nearest to a misspelt one. */
#ifndef SPELLING_H
#define SPELLING_H

#include <stdbool.h>
#include <stddef.h>

struct spelling {
	const char *word;    /* what was typed */
	const char *nearest; /* of those offered; NULL: none is near enough */
	size_t least;
};

void spelling_begin(struct spelling *spelling, const char *word);
/* Returns true if CANDIDATE is nearer than all before. */
bool spelling_offer(struct spelling *spelling, const char *candidate);

#endif
