/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acknowledge-write.h - the file of acknowledged findings, replaced whole. */
#ifndef ACKNOWLEDGE_WRITE_H
#define ACKNOWLEDGE_WRITE_H

#include "facts/facts.h"

struct root;

/* Before the file is read for a change of it: until the process ends no other one changes it. 0, also where this user can
 * change nothing; -EWOULDBLOCK: another process has it. */
int acknowledge_lock(const struct root *root, struct arena *arena);

/* FACTS become the file. 0, or negative errno with a sentence in WHY. ROOT
 * NULL: this host. */
int acknowledge_write(const struct root *root, const struct acknowledged_facts *facts,
		      struct arena *arena, const char **why);

#endif
