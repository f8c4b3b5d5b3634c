/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kinds.c - the kinds of the node, derived from the other sections; it reads nothing. */
#include "probes/probe.h"
#include "query/kind.h"

static void kinds_run(struct probe_context *ctx)
{
	kinds_fill(ctx->node, ctx->arena);
}

const struct probe probe_kinds = {
	.name = "kinds",
	.phase = PHASE_ALL,
	PROBE_SECTION(kinds),
	.run = kinds_run,
};
