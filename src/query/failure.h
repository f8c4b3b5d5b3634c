/* SPDX-License-Identifier: GPL-2.0-or-later */
/* failure.h - the failures in the kernel log (log.failures) that still hold. Pure. */
#ifndef FAILURE_H
#define FAILURE_H

#include "facts/facts.h"
#include "query/cure.h"

enum failure_state {
	FAILURE_STANDS,	 /* the module is not loaded, the device has no driver */
	FAILURE_IS_OVER, /* it is by now */
	FAILURE_UNSURE,	 /* which is the case is not known */
};
enum failure_state failure_state(const struct node *node, const struct log_failure *failure);
/* The path of the fact that says so; NULL: none does. */
const char *failure_state_fact(struct arena *arena, const struct node *node,
			       const struct log_failure *failure);

/* Returns the path of the fact: "log.failures[#3].last". */
const char *failure_fact(struct arena *arena, const struct node *node,
			 const struct log_failure *failure);

/* Why MODULE (with underscores) was not loaded, or why its code crashed; the last one that stands, or NULL. */
const struct log_failure *failure_of_module(const struct node *node, const char *module);
/* Returns the failure that a driver logged for the device BDF, or NULL. */
const struct log_failure *failure_of_device(const struct node *node, const char *bdf);

/* Without text if it depends on other lines of the log. */
struct cure failure_cure(struct arena *arena, const struct node *node,
			 const struct log_failure *failure);

/* Another try with the same files would fail as this one did. */
bool failure_will_recur(const struct log_failure *failure);

#endif
