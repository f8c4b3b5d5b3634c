/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packed.h - reads texts out of an array of texts, each with its NUL (data/texts.awk). */
#ifndef PACKED_H
#define PACKED_H

#include <string.h>

/* Returns the text at *AT, and moves *AT to the next one. */
static inline const char *packed_text(const char **at)
{
	const char *text = *at;

	*at += strlen(text) + 1;
	return text;
}

/* Takes the next text. NULL: it is empty. */
static inline const char *packed_optional(const char **at)
{
	const char *text = packed_text(at);

	return *text ? text : NULL;
}

#endif
