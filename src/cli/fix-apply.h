/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fix-apply.h - applies a plan that was shown: asks the user, carries it out (txn.h) and evaluates the node again. */
#ifndef FIX_APPLY_H
#define FIX_APPLY_H

#include "cli/source.h"
#include "evaluate/report.h"
#include "txn/plan.h"
#include "txn/txn.h"

/* The plan for this node as OPTIONS ask for it, and the report it is made from. */
struct plan *fix_plan(const struct source *source, const struct settings *settings,
		      const struct options *options, struct report **report);

/* Before anything is read: takes back what an earlier run left unfinished, which CHANGED says.
 * EXIT_WELL, or another status after saying why nothing is applied. */
enum exit_status fix_prepare(const struct source *source, const struct options *options,
			     bool *changed);

/* Shows the plan, asks, carries it out, looks again and says what came of it. */
enum exit_status fix_apply(const struct source *source, const struct settings *settings,
			   const struct options *options, const struct plan *plan,
			   const struct report *report);

/* Yes on the terminal, or --yes. Says why not. */
bool fix_agreed(const struct options *options, const char *question);
struct txn_options fix_txn_options(const struct options *options, const struct root *root);
/* STATUS, but never that nothing was changed where OUTCOME says otherwise: the result may have been
 * what could not be written. */
enum exit_status fix_status(enum exit_status status, const struct txn_outcome *outcome);

#endif
