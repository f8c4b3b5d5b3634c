/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-roce.c - what Ethernet has to bring along for RDMA (rules rdma/...): packets of the full
 * size and a fabric that does not drop them. */
#include <inttypes.h>

#include "evaluate/known.h"
#include "evaluate/skip.h"
#include "query/ports.h"
#include "query/selection.h"

/* ---- rdma/mtu-small ---- */

/* A payload of 4096 bytes and the headers of RoCE v2 over IPv6 with a VLAN tag. */
#define MTU_NETDEV 4200
#define MTU_VERBS 4096

/* The interface of the GID that counts, else of any. */
static const struct net_interface *roce_interface(const struct node *node,
						  const struct rdma_port *p)
{
	const struct rdma_gid *gid = port_usable_gid(p);

	for_each(g, &p->gids)
		if (!gid && is_known(g->netdev))
			gid = g;
	return gid && is_known(gid->netdev) ? node_interface(node, gid->netdev.value) : NULL;
}

static void check_port_mtu(struct rule_context *ctx, const struct rdma_device *d,
			   const struct rdma_port *p, enum severity severity)
{
	const struct net_interface *interface = port_is_ethernet(p) ? roce_interface(ctx->node, p)
								    : NULL;
	const char *verbs = port_fact(ctx->arena, d, p, "active_mtu_bytes");
	struct known_cause cause;
	const char *netdev = interface ? fact_path(ctx->arena, "net.interfaces",
						   interface->name.value, "mtu_bytes")
				       : NULL;
	bool mtu = interface && is_known(interface->mtu_bytes);

	if (is_known(p->active_mtu_bytes) && p->active_mtu_bytes.value < MTU_VERBS) {
		cause = known_cause(
			ctx,
			text_printf(ctx, "active MTU %" PRIu64 "%s%s%s", p->active_mtu_bytes.value,
				    mtu ? ", MTU " : "",
				    mtu ? text_printf(ctx, "%" PRIu64, interface->mtu_bytes.value)
					: "",
				    mtu ? text_printf(ctx, " of %s", interface->name.value) : ""));
		FAIL_AS(ctx, severity, .subject = port_name(ctx->arena, d, p),
			.observed = cause.observed, .expected = "4096", .remedy = cause.remedy,
			.source = cause.source, .evidence = { verbs, netdev });
	} else if (is_known(p->active_mtu_bytes))
		PASS(ctx, .subject = port_name(ctx->arena, d, p), .evidence = { verbs });
	else if (!mtu)
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p), .evidence = { verbs });
	else if (interface->mtu_bytes.value >= MTU_NETDEV)
		PASS(ctx, .subject = port_name(ctx->arena, d, p), .evidence = { netdev });
	else {
		cause = known_cause(ctx,
				    text_printf(ctx, "%s has MTU %" PRIu64, interface->name.value,
						interface->mtu_bytes.value));
		FAIL_AS(ctx, severity, .subject = port_name(ctx->arena, d, p),
			.observed = cause.observed,
			.expected = "at least 4200, for an RDMA MTU of 4096",
			.remedy = cause.remedy, .source = cause.source, .evidence = { netdev });
	}
}

static void check_mtu(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_rdma_device(ctx))
		return;
	before = ctx->findings->count;
	for_each_port(d, p, ctx->node) {
		enum severity severity = SEVERITY_INFO;
		const char *left_out, *fact = NULL;

		if (!port_is_active(p) || is_management(ctx->endpoints, d))
			continue;
		left_out = port_left_out(ctx->arena, ctx->endpoints, d, p, &fact);
		if (left_out) {
			NOT_APPLICABLE(ctx, .subject = port_name(ctx->arena, d, p),
				       .observed = left_out, .evidence = { fact });
			continue;
		}
		/* The MTU of InfiniBand is the subnet manager's, that of a link of neither kind (EFA) the
		 * device's own: only verbs tell it. */
		if (!port_is_ethernet(p) && is_known(p->link_layer) &&
		    !is_known(p->active_mtu_bytes))
			continue;
		if (port_is_ethernet(p) && is_job_nic(ctx->endpoints, d))
			severity = SEVERITY_WARN;
		check_port_mtu(ctx, d, p, severity);
	}
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no active Ethernet port",
			       .evidence = { "rdma.devices" });
}

/* ---- rdma/flow-control-off ---- */

static void check_flow(struct rule_context *ctx, const struct rdma_device *d,
		       const struct rdma_port *p)
{
	const struct net_interface *interface = roce_interface(ctx->node, p);
	const char *pfc, *pause;

	if (!interface) {
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
			.evidence = { port_fact(ctx->arena, d, p, "gids") });
		return;
	}
	pfc = fact_path(ctx->arena, "net.interfaces", interface->name.value, "pfc_priorities");
	pause = fact_path(ctx->arena, "net.interfaces", interface->name.value, "pause");
	if (known_not(interface->pfc_priorities, 0))
		PASS(ctx, .subject = port_name(ctx->arena, d, p),
		     .observed = text_printf(ctx, "PFC for priorities 0x%" PRIx64,
					     interface->pfc_priorities.value),
		     .evidence = { pfc });
	else if (known_is(interface->pause, true))
		PASS(ctx, .subject = port_name(ctx->arena, d, p), .observed = "global pause",
		     .evidence = { pause });
	else if (known_is(interface->pfc_priorities, 0) && known_is(interface->pause, false))
		FAIL(ctx, .subject = port_name(ctx->arena, d, p),
		     .observed = text_printf(ctx, "%s has neither PFC nor global pause",
					     interface->name.value),
		     .expected = "one of them, unless the fabric is meant to be lossy with ECN",
		     .evidence = { pfc, pause });
	else
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
			.evidence = { is_known(interface->pfc_priorities) ? pause : pfc });
}

static void check_flow_control(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_rdma_device(ctx))
		return;
	before = ctx->findings->count;
	for_each_port(d, p, ctx->node)
		if (port_is_ethernet(p) && port_is_active(p) && is_job_nic(ctx->endpoints, d) &&
		    !is_virtual_function(ctx->endpoints, d))
			check_flow(ctx, d, p);
	if (ctx->findings->count == before)
		NOT_APPLICABLE(
			ctx, .observed = "no active Ethernet port of a physical NIC that jobs use",
			.evidence = { "rdma.devices" });
}

static const struct rule rdma_roce_rules[] = {
	{
		.id = "rdma/mtu-small",
		.title = "An RDMA port works with small packets",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_mtu,
		.impact = "Bandwidth is lost to headers; with a peer of another MTU connections "
			  "may fail.",
		.remedy = "Set the interface's MTU to 4200 or more (9000 is usual) on every node, "
			  "and on the switches.",
		.activation = ACTIVATION_NOW,
		.reads = "The active MTU through verbs on a live host; else the MTU of the "
			 "interface of the port's GID.",
		.why = "The RDMA MTU is the largest of 256, 512, 1024, 2048 and 4096 bytes that "
		       "fits the interface's MTU with its headers: an interface with the standard "
		       "1500 gives 1024. It works, more slowly. It is information for InfiniBand, "
		       "where the subnet manager decides, and for NICs that are not those next to "
		       "the GPUs.",
		.check = "ibv_devinfo | grep active_mtu; ip link",
		.cost = "Switches and peers must take frames of that size.",
		.sources = "Linux: include/rdma/ib_addr.h, iboe_get_mtu()\n"
			   "github.com/autoscriptlabs/nccl-mesh-plugin pull 12",
	},
	{
		.id = "rdma/flow-control-off",
		.title = "A RoCE port has neither priority flow control nor pause frames",
		.profiles = PROFILE_RDMA,
		.severity = SEVERITY_INFO,
		.evaluate = check_flow_control,
		.impact = "Under load the fabric drops packets: \"transport retry counter "
			  "exceeded\", or bandwidth that falls to a fraction.",
		.remedy = "Configure PFC on NICs and switches for the priority that RoCE uses "
			  "(dcb pfc set, mlnx_qos), with trust by DSCP and ECN; or leave it off "
			  "on purpose with a fabric that is built for lossy RoCE.",
		.activation = ACTIVATION_NOW,
		.reads = "The kernel's DCB interface (IEEE PFC) and the pause parameters of the "
			 "interface, on a live host.",
		.why = "RDMA expects a fabric that seldom drops. Whether it is lossless is "
		       "decided by NIC and switch together, of which only the NIC is seen here, "
		       "and ConnectX has ways to live with loss: so this is information. A tree "
		       "does not have these settings: unknown.",
		.check = "dcb pfc show dev IFACE; mlnx_qos -i IFACE; ethtool -a IFACE",
		.sources = "Linux: include/uapi/linux/dcbnl.h, net/dcb/dcbnl.c\n"
			   "github.com/openucx/ucx issue 6000",
	},
};

RULE_TABLE(rdma_roce);
