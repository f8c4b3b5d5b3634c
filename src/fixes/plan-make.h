/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan-make.h - makes a plan from findings. */
#ifndef PLAN_MAKE_H
#define PLAN_MAKE_H

#include "evaluate/report.h"
#include "host/host.h"
#include "txn/plan.h"

struct plan_request {
	struct host *host;	      /* NULL: facts were given, and no file can be read */
	const struct report *report;  /* what is to be repaired is picked from it */
	const struct report *context; /* every rule's answer */
	bool named;		      /* the report holds only rules that the user named */
	bool all;		      /* also what is less than an error */
	bool outline;		      /* to see what would be repaired: no id, nothing is applied */
	bool reload;		      /* load the driver again rather than wait for the next boot */
};

/* The plan and what it points to lie in the report's arena. */
struct plan *plan_make(const struct plan_request *request);
/* Returns true if the plan neither writes a file nor has a step. */
bool plan_is_empty(const struct plan *plan);

/* Why nothing on this node is repaired, or NULL. */
const char *plan_refuse_node(const struct node *node, struct arena *arena);
/* Returns who can repair a finding that no fix exists for. */
const char *plan_refuse_finding(const struct finding *finding, struct arena *arena);

#endif
