/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * problems.h - a report's failures as a person counts them: one for each rule whatever number of devices it names,
 * and what follows from another failure folded under that one.
 */
#ifndef PROBLEMS_H
#define PROBLEMS_H

#include "evaluate/report.h"

struct finding_list {
	LIST(const struct finding *);
};

struct problem {
	const struct finding *first; /* of the members */
	struct finding_list members; /* of one rule, that one person mends in one way */
	struct finding_list follows; /* what it causes, of other rules */
	enum severity severity;	     /* the highest of them */
	bool waits;		     /* configured, not in effect yet */
	bool wrong_data;	     /* jobs compute wrong results without an error */
};

struct problems {
	/* By severity, the highest first; pending ones last; then by rule id. */
	LIST(struct problem) items;
	size_t count[SEVERITY_CRIT + 1];
	size_t waiting; /* not in COUNT */
};

/* Returns the problems of REPORT, in the report's arena. */
const struct problems *problems_find(const struct report *report);
/* The rules that could not be evaluated, for one subject at least. */
size_t problems_unknown(const struct report *report);
/* Counts the problems of an image that need the machine, which is not here. The counts above do not include them. */
size_t problems_not_here(const struct report *report);

#endif
