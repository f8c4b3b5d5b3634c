/* SPDX-License-Identifier: GPL-2.0-or-later */
/* repair-outcome.h - the outcome of a transaction: for each of its findings, whether it is repaired. */
#ifndef REPAIR_OUTCOME_H
#define REPAIR_OUTCOME_H

#include "txn/plan.h"
#include "txn/txn.h"

enum repair_result {
	REPAIR_NOT_TRIED, /* refused, or the transaction was */
	REPAIR_FIXED,	  /* the check afterwards no longer finds it */
	/* configured on disk: takes effect at a boot, or when a service starts again */
	REPAIR_PENDING,
	REPAIR_LEFT,	  /* a part remains for the user */
	REPAIR_NOT_FIXED, /* still found, or not known: the transaction was undone */
	REPAIR_ROLLED_BACK,
};
extern const char *const repair_result_words[];

struct repair_outcome {
	struct arena *arena;	 /* of the run */
	const struct plan *plan; /* NULL: an undo */
	const struct txn_outcome *txn;
	enum repair_result *results; /* of each repair of the plan */
	const char *boot_id;	     /* what is pending waits for this one to change; or NULL */
};

#endif
