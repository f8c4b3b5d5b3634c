/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-age.h - what the kernel log says came after an event: a line of the past is no state of now. */
#ifndef LOG_AGE_H
#define LOG_AGE_H

#include "facts/facts.h"

/*
 * What gave the GPU a new life after AFTER_US: the driver was loaded again, the GPU was reset, the kernel found it
 * on the bus again, or the driver itself asks for nothing any more (Xid 154). NULL: nothing, or the log has no times.
 * BDF NULL: of all GPUs, which only loading the driver does. The text lies in ARENA.
 */
const char *log_new_life(struct arena *arena, const struct node *node, const char *bdf,
			 struct fact_u64 after_us);

#endif
