/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply-plan.h - applies a plan that was shown: asks the user, carries it out (txn.h) and evaluates the node again. */
#ifndef APPLY_PLAN_H
#define APPLY_PLAN_H

#include "cli/source.h"
#include "evaluate/report.h"
#include "txn/plan.h"
#include "txn/txn.h"

/* Returns the plan that OPTIONS ask for, and in REPORT the report from which it is made. */
struct plan *apply_make_plan(const struct source *source, const struct settings *settings,
			     const struct options *options, struct report **report);

/* Before the node is read: rolls back a transaction that an earlier run did not finish, and sets CHANGED if there was
 * one. Returns EXIT_WELL, or another status after printing why nothing is applied. */
enum exit_status apply_prepare(const struct source *source, const struct options *options,
			       bool *changed);

/* Shows the plan, asks the user, carries the plan out, evaluates the node again and prints the outcome. */
enum exit_status apply_plan(const struct source *source, const struct settings *settings,
			    const struct options *options, const struct plan *plan,
			    const struct report *report);

/* Returns true for yes on the terminal, or --yes. Otherwise prints why nothing is changed. */
bool apply_is_agreed(const struct options *options, const char *question);
struct txn_options apply_txn_options(const struct options *options, const struct root *root);
/* Returns STATUS. If that says that nothing was changed, but OUTCOME has changes, returns the status of the change:
 * printing the result may have failed. */
enum exit_status apply_status(enum exit_status status, const struct txn_outcome *outcome);

#endif
