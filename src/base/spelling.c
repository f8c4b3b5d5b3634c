/* SPDX-License-Identifier: GPL-2.0-or-later */
/* spelling.c - the known word that is nearest to a misspelt one. */
#include "base/spelling.h"

#include <string.h>

#define WORD_MAX 64 /* bytes of a word that are compared */
#define NEAR 3	    /* letters that a misspelt word may differ in */

/* Returns the number of letters to insert, delete or replace (Levenshtein distance). */
static size_t distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1], n = strlen(b);

	for (size_t k = 0; k <= n; k++)
		row[k] = k;
	for (size_t i = 1; *a; a++, i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t k = 1; k <= n; k++) {
			size_t change = diagonal + (*a != b[k - 1]);

			diagonal = row[k];
			row[k] = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;
			row[k] = change < row[k] ? change : row[k];
		}
	}
	return row[n];
}

/* At most a third of the letters may differ, so each letter of a short word counts. */
void spelling_begin(struct spelling *spelling, const char *word)
{
	size_t third = strlen(word) / 3;

	*spelling = (struct spelling){ .word = word, .least = 1 + (third < NEAR ? third : NEAR) };
}

bool spelling_offer(struct spelling *spelling, const char *candidate)
{
	size_t far;

	if (strlen(spelling->word) > WORD_MAX || strlen(candidate) > WORD_MAX)
		return false;
	far = distance(spelling->word, candidate);
	if (far >= spelling->least)
		return false;
	spelling->least = far;
	spelling->nearest = candidate;
	return true;
}
