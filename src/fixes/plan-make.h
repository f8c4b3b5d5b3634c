/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan-make.h - makes a plan from findings. */
#ifndef PLAN_MAKE_H
#define PLAN_MAKE_H

#include "evaluate/report.h"
#include "host/host.h"
#include "txn/plan.h"

struct plan_request {
	struct host *host;	      /* NULL: the node is a facts file, and no file can be read */
	const struct report *report;  /* the findings to repair are selected from it */
	const struct report *context; /* every rule's answer */
	bool named;		      /* the report has only rules that the user named */
	bool all;		      /* also findings below an error */
	bool outline; /* only to show the repairs: no id, and it cannot be applied */
	bool reload;  /* reload the driver instead of waiting for the next boot */
};

/* The plan and all its parts are in the report's arena. */
struct plan *plan_make(const struct plan_request *request);
/* Returns true if the plan neither writes a file nor has a step. */
bool plan_is_empty(const struct plan *plan);

#endif
