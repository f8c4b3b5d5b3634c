/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - the report on a node: the answer of every rule, the counts, and the exit status that follows. */
#ifndef REPORT_H
#define REPORT_H

#include "base/exit-status.h"
#include "base/span.h"
#include "evaluate/rule.h"
#include "evaluate/settings.h"

/* A profile that was not evaluated, and what on this node suggests it. */
struct profile_hint {
	unsigned int profile; /* one bit */
	const char *reason;   /* NULL: nothing suggests it */
};

struct report {
	const struct node *node;
	struct arena *arena;
	unsigned int profiles;
	const char *profiles_reason;		 /* why these were chosen */
	LIST(struct profile_hint) not_evaluated; /* not for preflight */
	LIST(struct finding) findings;		 /* by rule id, then in the rule's own order */
	enum severity fail_on;
	size_t rules; /* that were evaluated */
	size_t count[VERDICT_NOT_APPLICABLE + 1];
	size_t off; /* findings of rules that are switched off, and findings that are acknowledged */
	enum verdict verdict;
	const struct changes *changes; /* since an earlier report; NULL: not requested */
	bool any_worst;
	enum severity worst; /* of the fails and pendings; only if any_worst */
};

/* Evaluates the rules on NODE. With settings->preflight, findings below --fail-on and below err are left out, and
 * so is an unknown without a recorded reason: its probe did not run. With settings->only_wrong,
 * what passes or does not apply is neither kept nor counted. The report and what it points to lie
 * in ARENA. */
struct report *report_make(const struct node *node, const struct settings *settings,
			   struct arena *arena);

/* Evaluates every rule, also those that the user did not select: a plan looks there for causes. */
struct report *report_make_all(const struct node *node, const struct settings *settings,
			       struct arena *arena);

/* EXIT_WELL, EXIT_FINDINGS or (with STRICT) EXIT_INCOMPLETE. */
enum exit_status report_status(const struct report *report, bool strict);

/* Finds a fact of the evidence, with the file that it was read from. Returns as fact_find(). */
int report_find(const struct report *report, const char *fact, struct fact_ref *ref);

#endif
