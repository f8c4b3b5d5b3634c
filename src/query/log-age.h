/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-age.h - later events in the kernel log that make an earlier message obsolete. */
#ifndef LOG_AGE_H
#define LOG_AGE_H

#include "base/span.h"
#include "facts/facts.h"

/* Returns the recovery action that an Xid 154 asks for: what is in the last parentheses of "GPU recovery action changed
 * from 0x0 (None) to 0x2 (Node Reboot Required)". Empty: LINE does not end so. */
struct span log_recovery_action(const char *line);

/* Returns the event after AFTER_US that makes earlier messages about the GPU obsolete: the driver was loaded again,
 * the GPU was reset, the kernel found it on the bus again, or the driver says that no recovery is needed any more
 * (Xid 154). NULL: no such event, or the log has no times. BDF NULL: all GPUs, for which only loading the driver
 * counts. The text lies in ARENA. */
const char *log_new_life(struct arena *arena, const struct node *node, const char *bdf,
			 struct fact_u64 after_us);

#endif
