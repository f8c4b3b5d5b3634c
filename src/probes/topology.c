/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology.c - the section topology, derived from pci, rdma and net; it reads nothing. */
#include "query/topology.h"

#include "probes/probe.h"

static void topology_run(struct probe_context *ctx)
{
	topology_table(ctx->node, &ctx->node->topology, ctx->arena);
}

const struct probe probe_topology = {
	.name = "topology",
	.phase = PHASE_THIRD,
	.is_hardware = true,
	PROBE_SECTION(topology),
	.run = topology_run,
};
