/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-rate.c - the rate of an RDMA port against its network interface and its PCIe link (rule
 * rdma/rate-below-link). */
#include <inttypes.h>

#include "evaluate/skip.h"
#include "query/ports.h"

/* PCIe 6.0, 4.2: 8b/10b up to 5 GT/s, 128b/130b to 32 GT/s; FLITs above lose about as much. */
static uint64_t pcie_mbps(const struct pci_link *link)
{
	uint64_t raw = link->speed_mts.value * link->width.value;

	return link->speed_mts.value <= 5000 ? raw * 8 / 10 : raw * 128 / 130;
}

static bool is_link_known(const struct pci_link *link)
{
	return is_known(*link) && is_known(link->speed_mts) && is_known(link->width) &&
	       link->speed_mts.value < UINT32_MAX && link->width.value <= 32 && link->width.value;
}

/* The port's own interface, if it has the port's function: a bond has the rate of several. */
static const struct net_interface *own_interface(const struct node *node,
						 const struct rdma_device *d,
						 const struct rdma_port *p)
{
	for_each(g, &p->gids) {
		const struct net_interface *i = is_known(g->netdev)
							? node_interface(node, g->netdev.value)
							: NULL;

		if (i && is_known(i->bdf) && is_known(d->bdf) && str_is(i->bdf, d->bdf.value))
			return i;
	}
	return NULL;
}

static const char *rate_text(struct rule_context *ctx, uint64_t mbps)
{
	return text_printf(ctx, "%" PRIu64 " Gb/s", (mbps + 500) / 1000);
}

static bool check_interface(struct rule_context *ctx, const struct rdma_device *d,
			    const struct rdma_port *p)
{
	const struct net_interface *i = own_interface(ctx->node, d, p);

	/* 56 Gb/s of FDR are 54.3 of data, which some drivers give. */
	if (!i || !is_known(i->speed_mbps) ||
	    p->rate_mbps.value >= i->speed_mbps.value - i->speed_mbps.value / 10)
		return false;
	FAIL(ctx, .subject = port_name(ctx->arena, d, p),
	     .observed = text_printf(ctx, "the RDMA device says %s, the link of %s has %s",
				     rate_text(ctx, p->rate_mbps.value), i->name.value,
				     rate_text(ctx, i->speed_mbps.value)),
	     .expected = rate_text(ctx, i->speed_mbps.value),
	     .evidence = { port_fact(ctx->arena, d, p, "rate_mbps"),
			   fact_path(ctx->arena, "net.interfaces", i->name.value, "speed_mbps") });
	return true;
}

/* Where the slot or the NIC has no more, nothing is broken. */
static bool check_pcie(struct rule_context *ctx, const struct rdma_device *d,
		       const struct rdma_port *p)
{
	const struct pci_device *function = is_known(d->bdf) ? node_pci(ctx->node, d->bdf.value)
							     : NULL;

	if (!function || !is_link_known(&function->link) ||
	    node_is(ctx->node, KIND_VIRTUAL_MACHINE) || endpoints_are_integrated(ctx->endpoints) ||
	    pcie_mbps(&function->link) >= p->rate_mbps.value - p->rate_mbps.value / 10)
		return false;
	NOTE(ctx, .subject = port_name(ctx->arena, d, p),
	     .observed = text_printf(
		     ctx,
		     "the port has %s, the PCIe link of the NIC carries %s (x%" PRIu64
		     " at %g GT/s)",
		     rate_text(ctx, p->rate_mbps.value), rate_text(ctx, pcie_mbps(&function->link)),
		     function->link.width.value, (double)function->link.speed_mts.value / 1000),
	     .evidence = { port_fact(ctx->arena, d, p, "rate_mbps"),
			   fact_path(ctx->arena, "pci.devices", d->bdf.value, "link.speed_mts") });
	return true;
}

static void check_port(struct rule_context *ctx, const struct rdma_device *d,
		       const struct rdma_port *p)
{
	if (!is_known(p->rate_mbps) || !p->rate_mbps.value)
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
			.evidence = { port_fact(ctx->arena, d, p, "rate_mbps") });
	else if (check_interface(ctx, d, p) || check_pcie(ctx, d, p))
		return;
	else if (!was_read(ctx->node->pci.devices) || !was_read(ctx->node->net.interfaces))
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
			.evidence = { was_read(ctx->node->pci.devices) ? "net.interfaces"
								       : "pci.devices" });
	else
		PASS(ctx, .subject = port_name(ctx->arena, d, p),
		     .evidence = { port_fact(ctx->arena, d, p, "rate_mbps") });
}

static void check_rates(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_rdma_device(ctx))
		return;
	for_each_port(d, p, ctx->node)
		if (port_is_active(p) && is_job_nic(ctx->endpoints, d) &&
		    !is_virtual_function(ctx->endpoints, d))
			check_port(ctx, d, p);
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no active port of a physical NIC that jobs use",
			       .evidence = { "rdma.devices" });
}

static const struct rule rdma_rate_rules[] = {
	{
		.id = "rdma/rate-below-link",
		.title =
			"NCCL plans with too little bandwidth: an RDMA device reports a wrong rate",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_rates,
		.needs_running = true,
		.impact =
			"NCCL takes the rate of the RDMA device for that of the NIC, and chooses rings, channels and "
			"NICs by it. The NIC is used less than it could be.",
		.remedy =
			"Update the NIC's driver and firmware (OFED, or a newer kernel): the old one does not know "
			"this speed. Until then a topology file (NCCL_TOPO_FILE) can give NCCL the right speed.",
		.activation = ACTIVATION_NONE,
		.follows = { "pci/link-degraded" },
		.reads =
			"The rate of each active port in /sys/class/infiniband, the speed of its network interface, and "
			"the PCIe link of its function.",
		.why = "An RDMA driver translates the speed of the link into lanes and a rate per lane. One that does "
		       "not know a newer speed reports a smaller one. A PCIe link that carries less than the port is a "
		       "note: pci/link-degraded reports a link that is slower than slot and NIC allow. Bonds and virtual "
		       "functions are left out.",
		.check = "cat /sys/class/infiniband/*/ports/*/rate; cat /sys/class/net/*/speed",
		.sources =
			"Linux 6.12.117: drivers/infiniband/core/verbs.c (ib_get_eth_speed), net/core/net-sysfs.c "
			"(speed_show)\n"
			"NCCL 2.30.7: src/transport/net_ib/init.cc (ibvSpeeds, ibvWidths, wrap_ibv_query_port_speed)",
	},
};

RULE_TABLE(rdma_rate);
