/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acknowledge-write.h - the file of acknowledged findings, replaced whole. */
#ifndef ACKNOWLEDGE_WRITE_H
#define ACKNOWLEDGE_WRITE_H

#include "facts/facts.h"

struct root;

/* FACTS become the file. 0, or negative errno with a sentence in WHY. ROOT
 * NULL: this host. */
int acknowledge_write(const struct root *root, const struct acknowledged_facts *facts,
		      struct arena *arena, const char **why);

#endif
