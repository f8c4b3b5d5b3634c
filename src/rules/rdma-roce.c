/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-roce.c - what RDMA needs of Ethernet (rules rdma/...): packets of the full size, and flow control. */
#include <inttypes.h>

#include "evaluate/known.h"
#include "evaluate/skip.h"
#include "query/ports.h"
#include "query/selection.h"

/* ---- rdma/mtu-small ---- */

/* A payload of 4096 bytes and the headers of RoCE v2 over IPv6 with a VLAN tag. */
#define MTU_NETDEV 4200
#define MTU_VERBS 4096

/* The interface of the GID that routes, else of any GID. */
static const struct net_interface *roce_interface(const struct node *node,
						  const struct rdma_port *p)
{
	const struct rdma_gid *gid = port_usable_gid(p);

	for_each(g, &p->gids)
		if (!gid && is_known(g->netdev))
			gid = g;
	return gid && is_known(gid->netdev) ? node_interface(node, gid->netdev.value) : NULL;
}

/* A known defect makes the NICs of jobs hang with small packets, which is graver than slow ones. */
static void fail_mtu(struct rule_context *ctx, const struct rdma_device *d,
		     const struct rdma_port *p, const char *observed, const char *expected,
		     const char *const evidence[2])
{
	struct known_cause cause = known_cause(ctx, observed);
	enum severity severity = SEVERITY_INFO;

	/* Nothing that routes, or other traffic: no job sends RDMA here. */
	if (port_is_ethernet(p) &&
	    (!port_usable_gid(p) || port_other_purpose(ctx->arena, ctx->endpoints, d, p)))
		severity = SEVERITY_INFO;
	else if (is_job_nic(ctx->endpoints, d) && cause.source)
		severity = SEVERITY_ERR;
	else if (is_job_nic(ctx->endpoints, d) && port_is_ethernet(p) &&
		 is_asked_for(ctx, PROFILE_RDMA_ANY))
		severity = SEVERITY_WARN;
	FAIL_AS(ctx, severity, .subject = port_name(ctx->arena, d, p), .observed = cause.observed,
		.expected = expected,
		.impact = cause.source ? "Traffic that the GPU starts itself hangs." : NULL,
		.remedy = cause.cure ? text_printf(ctx, "%s Set the MTU for the next boot too.",
						   cause.cure)
				     : NULL,
		.source = cause.source, .evidence = { evidence[0], evidence[1] });
}

/* The interface's MTU, where verbs were not asked for the port's own. */
static void check_interface_mtu(struct rule_context *ctx, const struct rdma_device *d,
				const struct rdma_port *p, const struct net_interface *interface)
{
	const char *fact = fact_path(ctx->arena, "net.interfaces", interface->name.value,
				     "mtu_bytes");

	if (interface->mtu_bytes.value >= MTU_NETDEV)
		PASS(ctx, .subject = port_name(ctx->arena, d, p), .evidence = { fact });
	else
		fail_mtu(ctx, d, p,
			 text_printf(ctx, "%s has MTU %" PRIu64, interface->name.value,
				     interface->mtu_bytes.value),
			 "at least 4200, for an RDMA MTU of 4096",
			 (const char *const[2]){ fact, NULL });
}

static void check_port_mtu(struct rule_context *ctx, const struct rdma_device *d,
			   const struct rdma_port *p)
{
	const struct net_interface *interface = port_is_ethernet(p) ? roce_interface(ctx->node, p)
								    : NULL;
	const char *verbs = port_fact(ctx->arena, d, p, "active_mtu_bytes");
	bool mtu = interface && is_known(interface->mtu_bytes);

	if (is_known(p->active_mtu_bytes) && p->active_mtu_bytes.value < MTU_VERBS)
		fail_mtu(ctx, d, p,
			 mtu ? text_printf(ctx, "active MTU %" PRIu64 "; %s has MTU %" PRIu64,
					   p->active_mtu_bytes.value, interface->name.value,
					   interface->mtu_bytes.value)
			     : text_printf(ctx, "active MTU %" PRIu64, p->active_mtu_bytes.value),
			 "4096",
			 (const char *const[2]){ verbs,
						 mtu ? fact_path(ctx->arena, "net.interfaces",
								 interface->name.value, "mtu_bytes")
						     : NULL });
	else if (is_known(p->active_mtu_bytes))
		PASS(ctx, .subject = port_name(ctx->arena, d, p), .evidence = { verbs });
	else if (mtu)
		check_interface_mtu(ctx, d, p, interface);
	else
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p), .evidence = { verbs });
}

static void check_mtu(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_rdma_device(ctx))
		return;
	before = ctx->findings->count;
	for_each_port(d, p, ctx->node) {
		const char *left_out, *fact = NULL;

		if (!port_is_active(p) || is_management(ctx->endpoints, d))
			continue;
		left_out = port_left_out(ctx->arena, ctx->endpoints, d, p, &fact);
		if (left_out) {
			NOT_APPLICABLE(ctx, .subject = port_name(ctx->arena, d, p),
				       .observed = left_out, .evidence = { fact });
			continue;
		}
		/* The subnet manager sets the MTU of InfiniBand, and EFA has its own: only verbs report
		 * them. */
		if (!port_is_ethernet(p) && is_known(p->link_layer) &&
		    !is_known(p->active_mtu_bytes))
			continue;
		check_port_mtu(ctx, d, p);
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
		NOTE(ctx, .subject = port_name(ctx->arena, d, p),
		     .observed = text_printf(ctx, "%s has neither PFC nor global pause",
					     interface->name.value),
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
		.title = "RDMA is slow: a port sends packets smaller than 4096 bytes",
		.profiles = PROFILE_BASE | PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_mtu,
		.impact =
			"Headers use up bandwidth. Connections to a peer with another MTU may fail.",
		.remedy =
			"Set the interface's MTU to 4200 or more (9000 is usual) on every node, and on the "
			"switches; now, and for the next boot.",
		.activation = ACTIVATION_NOW,
		.reads =
			"On a live host the active MTU through verbs; else the MTU of the interface of the "
			"port's GID. NCCL on disk.",
		.why = "The RDMA MTU is the largest of 256, 512, 1024, 2048 and 4096 bytes that fits the interface's "
		       "MTU with its headers. An interface with the standard 1500 gives 1024. It works, more slowly. "
		       "NCCL 2.28.7 to 2.30.7 is an exception: its GPU-initiated networking sets 4096 whatever the "
		       "port has, and hangs. With such an NCCL this is an error in the profiles deepep and nccl-gin. It is a note "
		       "for InfiniBand, where the subnet manager decides, for NICs that are not next to the GPUs, and "
		       "if no RDMA profile is asked for.",
		.check = "ibv_devinfo | grep active_mtu; ip link",
		.cost = "Switches and peers must accept frames of that size, or connections fail.",
		.is_risk = true,
		.sources =
			"Linux 6.1.192: include/rdma/ib_addr.h, iboe_get_mtu()\n"
			"NCCL 2.30.7: src/transport/net_ib/gdaki/gin_host_gdaki.cc, gdakiConnectQp()\n"
			"github.com/NVIDIA/nccl issues 1957, 2255",
	},
	{
		.id = "rdma/flow-control-off",
		.title = "A RoCE port has neither priority flow control nor pause frames",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_INFO,
		.evaluate = check_flow_control,
		.impact =
			"If the fabric relies on it, it drops packets under load: \"transport retry counter "
			"exceeded\", or little bandwidth.",
		.remedy =
			"Configure PFC on NICs and switches for the priority that RoCE uses "
			"(dcb pfc set, mlnx_qos), with trust by DSCP and with ECN. A fabric that is built for "
			"lossy RoCE needs none.",
		.activation = ACTIVATION_NOW,
		.reads =
			"The kernel's DCB interface (IEEE PFC) and the interface's pause parameters, on a "
			"live host.",
		.why = "RDMA expects a fabric that seldom drops packets. NIC and switch together make it lossless, and "
		       "only the NIC is visible here. ConnectX can also live with loss. So this is a note. A copy of a "
		       "node does not have these settings.",
		.check = "dcb pfc show dev IFACE; mlnx_qos -i IFACE; ethtool -a IFACE",
		.sources = "Linux 6.1.192: include/uapi/linux/dcbnl.h, net/dcb/dcbnl.c\n"
			   "github.com/openucx/ucx issue 6000",
	},
};

RULE_TABLE(rdma_roce);
