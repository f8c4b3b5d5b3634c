/* SPDX-License-Identifier: GPL-2.0-or-later */
/* repair-outcome.c - the outcome of a transaction: for each of its findings, whether it is repaired. */
#include "txn/repair-outcome.h"

const char *const repair_result_words[] = { "not-tried", "fixed",	"pending", "left",
					    "not-fixed", "rolled-back", NULL };
