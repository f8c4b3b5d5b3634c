/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acknowledge-write.h - the file of acknowledged findings, replaced whole. */
#ifndef ACKNOWLEDGE_WRITE_H
#define ACKNOWLEDGE_WRITE_H

#include "facts/facts.h"

struct root;

/* Locks the file until this process ends. To be called before the file is read for a change. Returns 0, also if this
 * user cannot write there, or -EWOULDBLOCK if another process has the lock. */
int acknowledge_lock(const struct root *root, struct arena *arena);

/* Replaces the file by FACTS. Returns 0, or negative errno with a sentence in WHY. ROOT is NULL for this host. */
int acknowledge_write(const struct root *root, const struct acknowledged_facts *facts,
		      struct arena *arena, const char **why);

#endif
