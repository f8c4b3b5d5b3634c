/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * known.c - known defects (data/known-bad.tsv) in the findings of other rules: where a row names the rule that is
 * asked, that rule's finding says it, and no second one.
 */
#include "evaluate/known.h"

bool known_is_asked_for(const struct rule_context *ctx, const struct known_bad *row)
{
	static const unsigned int profiles[] = {
		[HITS_P2P] = PROFILE_P2P,
		[HITS_RDMA] = PROFILE_RDMA_ANY,
		[HITS_GPUDIRECT_RDMA] = PROFILE_GPUDIRECT_ANY,
		[HITS_DEEPEP] = PROFILE_GIN_ANY,
	};

	return row->hits == HITS_BASE || is_asked_for(ctx, profiles[row->hits]);
}

const char *known_source(struct rule_context *ctx, const struct known_bad *row)
{
	return text_printf(ctx, "%s (as of %s)", row->source, row->read);
}

struct known_cause known_cause(struct rule_context *ctx, const char *observed)
{
	const struct known_bad *row = known_bad_of_rule(ctx->node, ctx->endpoints, ctx->arena,
							ctx->rule->id);
	struct known_cause cause = { .observed = observed };

	if (!row || !known_is_asked_for(ctx, row))
		return cause;
	cause.observed = text_printf(ctx, "%s. Known defect (%s): %s", observed, row->id,
				     row->effect);
	cause.cure = row->cure;
	cause.remedy = text_printf(ctx, "%s If it is not that: %s", row->cure,
				   remedy_with(ctx->arena, ctx->rule->remedy, ctx->rule->then));
	cause.source = known_source(ctx, row);
	return cause;
}
