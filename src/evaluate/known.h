/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known.h - known defects (data/known-bad.tsv) in the findings of other rules: where a row names the rule that is
 * asked, that rule's finding says it, and no second one. */
#ifndef KNOWN_H
#define KNOWN_H

#include "evaluate/rule.h"
#include "query/known-bad.h"

/* Returns true if the defect concerns a profile that is asked for. */
bool known_is_asked_for(const struct rule_context *ctx, const struct known_bad *row);

/* The text of a finding, and the known defect that can be its cause. Without a defect only OBSERVED is set, and the
 * remedy is NULL: the rule's own remedy applies. */
struct known_cause {
	const char *observed;
	const char *remedy;
	const char *cure; /* the remedy without that of the rule */
	const char *source;
};

struct known_cause known_cause(struct rule_context *ctx, const char *observed);
/* Returns the source of ROW and the version of it that was read. */
const char *known_source(struct rule_context *ctx, const struct known_bad *row);

#endif
