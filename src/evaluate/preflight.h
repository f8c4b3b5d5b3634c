/* SPDX-License-Identifier: GPL-2.0-or-later */
/* preflight.h - the facts that preflight does not read, because a prolog has no time for them. */
#ifndef PREFLIGHT_H
#define PREFLIGHT_H

struct preflight_omission {
	const char *what;	     /* for people: "the GIDs of RDMA ports" */
	const char *const rules[24]; /* shell patterns; ends with a NULL */
};

/* Ends with a NULL WHAT. */
extern const struct preflight_omission preflight_omissions[];

/* Why preflight can say nothing of that rule, or not all that doctor does; NULL: it asks all of it. */
const char *preflight_omission_of(const char *rule);

#endif
