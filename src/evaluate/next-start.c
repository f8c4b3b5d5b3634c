/* SPDX-License-Identifier: GPL-2.0-or-later */
/* next-start.c - a configuration for which a service does not start (.stops of an answer). */
#include "evaluate/next-start.h"

#include "query/service-cause.h"

void next_start_lower(struct rule_context *ctx, struct answer *answer)
{
	const struct service *s = answer->stops ? node_service(ctx->node, answer->stops) : NULL;
	const char *impact = answer->impact ? answer->impact : ctx->rule->impact;

	if (!s || service_condition(s) != SERVICE_RUNS)
		return;
	if (!answer->graded || answer->severity > SEVERITY_WARN)
		answer->severity = SEVERITY_WARN;
	answer->graded = true;
	answer->observed = text_printf(ctx, "%s. %s was started before this", answer->observed,
				       answer->stops);
	answer->impact = text_printf(ctx, "At its next start: %s", impact);
}
