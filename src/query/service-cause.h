/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * service-cause.h - the cause that keeps a service from running, as far as the facts show it. Pure: facts in, answer
 * out.
 */
#ifndef SERVICE_CAUSE_H
#define SERVICE_CAUSE_H

#include "facts/facts.h"

enum service_condition {
	SERVICE_UNSURE,	  /* not known */
	SERVICE_RUNS,	  /* or did its work and ended well */
	SERVICE_STARTING, /* and so it may stay: see restarts */
	SERVICE_FAILED,
	SERVICE_STOPPED, /* nothing says that it failed */
	SERVICE_MISSING, /* no such unit */
	SERVICE_MASKED,
};

/* S may be NULL. */
enum service_condition service_condition(const struct service *s);

struct service_cause {
	const char *text;   /* NULL: the node does not show it */
	const char *remedy; /* NULL: what the rule says */
	const char *fact;   /* that shows it */
};

/* Finds the cause for a unit that does not run. */
struct service_cause service_find_cause(struct arena *arena, const struct node *node,
					const struct service *s);

/* Describes the end of its last run: "exit-code, status 203: its program could not be started"; or NULL. */
const char *service_ending(struct arena *arena, const struct service *s);
/* The line among its last ones that says most; or NULL. */
const struct service_line *service_last_word(const struct service *s);

#endif
