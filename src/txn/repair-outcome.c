/* SPDX-License-Identifier: GPL-2.0-or-later */
/* repair-outcome.c - the outcome of a transaction: for each of its findings, whether it is repaired. */
#include "txn/repair-outcome.h"

const char *const repair_result_words[] = {
	[REPAIR_NOT_TRIED] = "not-tried",
	[REPAIR_FIXED] = "fixed",
	[REPAIR_PENDING] = "pending",
	[REPAIR_LEFT] = "left",
	[REPAIR_NOT_FIXED] = "not-fixed",
	[REPAIR_ROLLED_BACK] = "rolled-back",
	NULL,
};
