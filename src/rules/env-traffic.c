/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-traffic.c - the traffic class of packets that GPUs start themselves (rule env/traffic-class). */
#include <inttypes.h>

#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/job-env.h"
#include "query/ports.h"
#include "query/selection.h"

/* From this release on NCCL starts traffic on the GPU (GIN with GDAKI), and DeepEP on NCCL. */
#define NCCL_GIN "2.28.7"
/* The variable of GIN alone (src/transport/net_ib/gin.cc); before it NCCL_IB_TC is GIN's as well. */
#define NCCL_GIN_TC "2.30.7"
#define DEEPEP_ON_NCCL "2.0.0"

/* A library that makes its queue pairs past the kernel's driver, and the class that it gives them. */
struct user {
	const char *library;
	struct job_value class;
};

static struct user nccl_user(struct rule_context *ctx)
{
	const struct software_item *nccl = node_software(ctx->node, "nccl");
	struct job_value own = job_nccl(ctx->arena, ctx->node, "NCCL_GIN_IB_TC");

	if (own.value && (!nccl || version_compare(nccl->version.value, NCCL_GIN_TC) >= 0))
		return (struct user){ "NCCL GIN", own };
	return (struct user){ "NCCL GIN", job_nccl(ctx->arena, ctx->node, "NCCL_IB_TC") };
}

static struct user nvshmem_user(struct rule_context *ctx)
{
	return (struct user){ "NVSHMEM IBGDA",
			      job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_IB_TRAFFIC_CLASS") };
}

/* DeepEP 1 runs on NVSHMEM, and DeepEP 2 on NCCL. Without a DeepEP what is installed counts. */
static bool uses_nvshmem(const struct rule_context *ctx)
{
	const struct software_item *deepep = node_software(ctx->node, "deepep");

	if (!is_asked_for(ctx, PROFILE_DEEPEP))
		return false;
	return deepep ? version_compare(deepep->version.value, DEEPEP_ON_NCCL) < 0
		      : node_software(ctx->node, "nvshmem") != NULL;
}

static bool uses_gin(const struct rule_context *ctx)
{
	const struct software_item *deepep = node_software(ctx->node, "deepep");
	const struct software_item *nccl = node_software(ctx->node, "nccl");

	if (nccl && version_compare(nccl->version.value, NCCL_GIN) < 0)
		return false;
	if (is_asked_for(ctx, PROFILE_NCCL_GIN))
		return true;
	return deepep && version_compare(deepep->version.value, DEEPEP_ON_NCCL) >= 0;
}

static void check_user(struct rule_context *ctx, const struct rdma_device *d,
		       const struct rdma_port *p, const struct user *u)
{
	const char *fact = port_fact(ctx->arena, d, p, "traffic_class");
	const char *name = port_name(ctx->arena, d, p);
	long own;

	if (!job_number(&u->class, &own))
		FAIL(ctx, .subject = name,
		     .observed = text_printf(ctx,
					     "the port's traffic class is %" PRIu64
					     "; %s does not use it, as %s is not set",
					     p->traffic_class.value, u->library, u->class.name),
		     .expected = text_printf(ctx, "%s=%" PRIu64, u->class.name,
					     p->traffic_class.value),
		     .remedy = text_printf(ctx, "Set %s=%" PRIu64 " for the job.", u->class.name,
					   p->traffic_class.value),
		     .evidence = { fact, "env.variables" });
	else if ((uint64_t)own != p->traffic_class.value)
		NOTE(ctx, .subject = name,
		     .observed = text_printf(
			     ctx, "the port's traffic class is %" PRIu64 "; %s sends with %ld",
			     p->traffic_class.value, u->library, own),
		     .evidence = { fact, u->class.fact });
	else
		PASS(ctx, .subject = name, .evidence = { fact, u->class.fact });
}

static void check_port(struct rule_context *ctx, const struct rdma_device *d,
		       const struct rdma_port *p, bool nvshmem, bool gin)
{
	struct user users[2];
	size_t n = 0;

	if (nvshmem)
		users[n++] = nvshmem_user(ctx);
	if (gin)
		users[n++] = nccl_user(ctx);
	if (is_known(p->traffic_class) && p->traffic_class.value)
		for (size_t i = 0; i < n; i++)
			check_user(ctx, d, p, &users[i]);
	else if (was_read(p->traffic_class))
		PASS(ctx, .subject = port_name(ctx->arena, d, p),
		     .evidence = { port_fact(ctx->arena, d, p, "traffic_class") });
	else
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
			.evidence = { port_fact(ctx->arena, d, p, "traffic_class") });
}

/* A port of which it was not read whether it is one that counts. */
static bool unknown_port(struct rule_context *ctx)
{
	for_each_port(d, p, ctx->node) {
		const char *fact = !was_read(p->link_layer) ? "link_layer"
				   : !was_read(p->state)    ? "state"
							    : NULL;

		if (fact)
			UNKNOWN(ctx, .evidence = { port_fact(ctx->arena, d, p, fact) });
		else if (is_unknown(d->driver))
			UNKNOWN(ctx, .evidence = { fact_path(ctx->arena, "rdma.devices",
							     d->name.value, "driver") });
		else
			continue;
		return true;
	}
	return false;
}

static void check_traffic_class(struct rule_context *ctx)
{
	bool nvshmem = uses_nvshmem(ctx), gin = uses_gin(ctx);
	size_t before;

	if (skip_without_rdma_device(ctx) || skip_without_nccl_variables(ctx) ||
	    skip_without_nvshmem_variables(ctx))
		return;
	if (!nvshmem && !gin && skip_unless_software_whole(ctx))
		return;
	before = ctx->findings->count;
	for_each_port(d, p, ctx->node) {
		const char *fact;

		if (port_is_ethernet(p) && port_is_active(p) && is_job_nic(ctx->endpoints, d) &&
		    str_is(d->driver, "mlx5_core") && (nvshmem || gin) &&
		    !port_left_out(ctx->arena, ctx->endpoints, d, p, &fact))
			check_port(ctx, d, p, nvshmem, gin);
	}
	if (ctx->findings->count == before && !unknown_port(ctx))
		NOT_APPLICABLE(ctx,
			       .observed = nvshmem || gin
						   ? "no active RoCE port of ConnectX that jobs use"
						   : "no library that sends from the GPU was found",
			       .evidence = { "rdma.devices", "software.items" });
}

static const struct rule env_traffic_rules[] = {
	{
		.id = "env/traffic-class",
		.title =
			"GPU-initiated traffic hangs or is slow: its traffic class is not the port's",
		.is_short_effect = true,
		.profiles = PROFILE_GIN_ANY,
		.used_variables = "NCCL_GIN_IB_TC NVSHMEM_IB_TRAFFIC_CLASS",
		.severity = SEVERITY_WARN,
		.evaluate = check_traffic_class,
		.impact =
			"Where only one class is lossless, these packets are dropped under load: retries, then "
			"TRANSPORT_RETRY_EXC_ERR, and kernels that wait for ever.",
		.remedy = "Set NCCL_IB_TC (for GIN alone NCCL_GIN_IB_TC, from NCCL " NCCL_GIN_TC
			  ") or NVSHMEM_IB_TRAFFIC_CLASS to the port's value.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"tc/PORT/traffic_class of each NIC that jobs use; NCCL_GIN_IB_TC and NCCL_IB_TC (also in "
			"nccl.conf) and NVSHMEM_IB_TRAFFIC_CLASS (also in nvshmem.conf) of the job; DeepEP, NCCL and "
			"NVSHMEM on disk.",
		.why = "MLNX_OFED and DOCA set the class of tc/PORT/traffic_class for each queue pair that the kernel "
		       "modifies. NCCL GDAKI and NVSHMEM IBGDA set up theirs through DevX, which the kernel does not "
		       "change. They use their variable. Without it NVSHMEM sends with 0, and NCCL with the class "
		       "that the program names (from 2.30.3 on; DeepEP 2 names 3 or EP_OVERRIDE_RDMA_SL), else with 0. "
		       "Another value than the port's can be intended: a note. Upstream's driver has no such file.",
		.check =
			"cat /sys/class/infiniband/*/tc/1/traffic_class; env | grep -E '_IB_TC|TRAFFIC_CLASS'",
		.sources =
			"NCCL 2.30.7: src/transport/net_ib/gin.cc, ncclGinIbGdakiCreateContext(); "
			"src/transport/net_ib/gdaki/gin_host_gdaki.cc\n"
			"NCCL 2.29.7 and 2.30.3: src/transport/net_ib/gdaki/gin_host_gdaki.cc (ib_tc)\n"
			"DeepEP 2.1.0: deep_ep/buffers/elastic.py (sl_idx), csrc/kernels/backend/nccl.cu "
			"(ginTrafficClass)\n"
			"NVSHMEM 3.5.1: src/modules/transport/ibgda/ibgda.cpp (IB_TRAFFIC_CLASS), "
			"src/modules/transport/common/env_defs.h\n"
			"Linux 6.12.117: drivers/infiniband/hw/mlx5 (no such file)\n"
			"github.com/NVIDIA/nccl: issue 2383 (2026-09-05)\n"
			"github.com/NVIDIA/nvshmem: pull 25 (2025-11-10)",
	},
};

RULE_TABLE(env_traffic);
