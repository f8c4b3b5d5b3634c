/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node-repair.h - nodes on which the program repairs nothing. */
#ifndef NODE_REPAIR_H
#define NODE_REPAIR_H

#include "facts/facts.h"

/* Returns why nothing on this node is repaired, or NULL. */
const char *node_repair_refusal(const struct node *node, struct arena *arena);

#endif
