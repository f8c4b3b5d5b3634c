/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acknowledge.h - the findings that an administrator has acknowledged, and until when. */
#ifndef ACKNOWLEDGE_H
#define ACKNOWLEDGE_H

#include "evaluate/rule.h"

/* Returns true if it still holds on this node. If the facts for that were not read, it does not hold. */
bool acknowledgement_holds(const struct node *node, const struct acknowledgement *a);
/* The one that is about FINDING and holds, or NULL. */
const struct acknowledgement *acknowledgement_of(const struct node *node,
						 const struct finding *finding);
/* "until the finding says something else or the next boot" */
const char *acknowledgement_end(struct arena *arena, const struct acknowledgement *a);

#endif
