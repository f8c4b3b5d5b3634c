/* SPDX-License-Identifier: GPL-2.0-or-later */
/* since.h - the changes on a node since an earlier facts file. */
#ifndef SINCE_H
#define SINCE_H

#include "facts/fact.h"

struct node;

struct change {
	const char *fact;
	const char *before; /* JSON; NULL: absent or not known */
	const char *after;
};

struct changes {
	LIST(struct change) items;
};

/* Facts whose value is each node's own (fleet_is_own()) are left out. ARENA holds the texts. */
void since_compare(struct changes *changes, const struct node *before, const struct node *after,
		   struct arena *arena);

#endif
