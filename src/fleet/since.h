/* SPDX-License-Identifier: GPL-2.0-or-later */
/* since.h - what has changed on a node since an earlier facts file. */
#ifndef SINCE_H
#define SINCE_H

#include "facts/fact.h"

struct node;

struct change {
	const char *fact;
	const char *before; /* JSON; NULL: was not there, or not known */
	const char *after;
};

struct changes {
	LIST(struct change) items;
};

/* What is each node's own to change (fleet_is_own()) is not told; ARENA keeps the texts. */
void since_compare(struct changes *changes, const struct node *before, const struct node *after,
		   struct arena *arena);

#endif
