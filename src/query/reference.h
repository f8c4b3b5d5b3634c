/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reference.h - decides whether the thing that a file names exists, is missing or has changed. Pure: facts in,
 * answer out.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "facts/facts.h"

enum reference_state {
	REFERENCE_UNSURE,  /* not known */
	REFERENCE_EXISTS,  /* as the file says */
	REFERENCE_MISSING, /* no such thing */
	REFERENCE_CHANGED, /* there, and not what the file says of it */
};

enum reference_state reference_state(const struct reference *reference);

/* The names that files of FORMAT have, of one file or of all (FILE NULL), in their order. Begin with NULL. */
const struct reference *reference_next(const struct node *node, enum reference_format format,
				       const char *file, const struct reference *before);
/* The first of them that is of ROLE; or NULL. */
const struct reference *reference_of_role(const struct node *node, enum reference_format format,
					  const char *role);

/* The number of references in one state, and the first of them. */
struct reference_count {
	size_t count;
	const struct reference *first;
};

/* "/etc/cdi/nvidia.yaml:12", and without a line the file alone. */
const char *reference_place(struct arena *arena, const struct reference *reference);
/* The path of a member of it: references.items[#3].found. */
const char *reference_fact(struct arena *arena, const struct node *node,
			   const struct reference *reference, const char *member);

#endif
