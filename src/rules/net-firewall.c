/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net-firewall.c - firewalls in the way of the sockets by which the ranks of a job connect (rule net/firewall-on). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/endpoints.h"
#include "query/job-env.h"

/* Units that load rules at boot and stay active: Debian's and Red Hat's nftables and iptables, Debian's
 * netfilter-persistent, and firewalld. */
static const struct firewall {
	const char *unit;
	const char *remedy;
} firewalls[] = {
	{ "firewalld.service",
	  "firewall-cmd --permanent --zone=trusted --add-source=SUBNET for the networks of the job's nodes, then "
	  "firewall-cmd --reload." },
	{ "nftables.service",
	  "Accept the networks of the job's nodes in the file that the unit loads (nft list ruleset)." },
	{ "iptables.service",
	  "Accept the networks of the job's nodes in /etc/sysconfig/iptables (iptables -S INPUT)." },
	{ "netfilter-persistent.service",
	  "Accept the networks of the job's nodes in /etc/iptables/rules.v4 (iptables -S INPUT)." },
};
#define FIREWALLS (ARRAY_SIZE(firewalls))

/* Do jobs connect to other nodes? With RDMA devices or several GPUs they may; else if the environment says so. */
static bool skip_without_sockets(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (is_asked_for(ctx, PROFILE_RDMA_ANY) || ctx->endpoints->gpus.count > 1 ||
	    job_nccl(ctx->arena, node, "NCCL_SOCKET_IFNAME").value || node->rdma.devices.count)
		return false;
	if (!was_read(node->pci.devices))
		UNKNOWN(ctx, .evidence = { "pci.devices" });
	else
		NOT_APPLICABLE(
			ctx,
			.observed = "fewer than two GPUs, no RDMA device, and no job between nodes",
			.evidence = { "pci.devices", "rdma.devices" });
	return true;
}

/* firewalld is a daemon. The others load their rules at boot and end, so a copy does not show whether they ran. */
static bool is_on(const struct service *s)
{
	return str_is(s->active, "active") ||
	       (is_unknown(s->active) && str_is(s->enabled, "enabled") &&
		!str_is(s->unit, "firewalld.service"));
}

static bool note_units(struct rule_context *ctx, bool *unknown)
{
	bool any = false;

	for (size_t i = 0; i < FIREWALLS; i++) {
		const struct service *s = node_service(ctx->node, firewalls[i].unit);

		*unknown |= s && is_unknown(s->active) && !str_is(s->load, "not-found") &&
			    !str_is(s->enabled, "disabled");
		if (!s || !is_on(s))
			continue;
		any = true;
		NOTE(ctx, .subject = firewalls[i].unit,
		     .observed = str_is(s->active, "active")
					 ? "it runs; which networks it allows is not known"
					 : "it is enabled; which networks it allows is not known",
		     .remedy = firewalls[i].remedy,
		     .evidence = { fact_path(ctx->arena, "services.units", firewalls[i].unit,
					     "active") });
	}
	return any;
}

static void check_firewall(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	bool unknown = !was_read(node->services.units), any;

	if (skip_without_sockets(ctx))
		return;
	if (skip_in_container(ctx))
		return;
	any = note_units(ctx, &unknown);
	if (known_is(node->net.ufw, true))
		NOTE(ctx, .subject = "ufw",
		     .observed = "it is enabled; which networks it allows is not known",
		     .remedy = "ufw allow from SUBNET, for the networks of the job's nodes.",
		     .evidence = { "net.ufw" });
	else if (any)
		return;
	else if (unknown)
		UNKNOWN(ctx, .evidence = { "services.units" });
	else if (!was_read(node->net.ufw))
		UNKNOWN(ctx, .evidence = { "net.ufw" });
	else
		PASS(ctx,
		     .observed =
			     "no unit of a firewall runs, and ufw is off; other rules were not read",
		     .evidence = { "services.units", "net.ufw" });
}

static const struct rule net_firewall_rules[] = {
	{
		.id = "net/firewall-on",
		.title = "Jobs of several nodes can hang: a firewall runs on this node",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.evaluate = check_firewall,
		.impact =
			"If it does not allow the other nodes, jobs of several nodes hang at the start, or NCCL says \"Connect "
			"to ... failed : No route to host\" or \"Connection timed out\". Ping and RDMA still work.",
		.remedy = "Allow the networks of the job's nodes on all ports.",
		.activation = ACTIVATION_NOW,
		.reads =
			"Whether firewalld, nftables, iptables or netfilter-persistent runs; /etc/ufw/ufw.conf.",
		.why = "NCCL, MPI and PyTorch's rendezvous connect over TCP first. NCCL's ports are those that the kernel "
		       "chooses for each job. Without RDMA devices all data goes the same way. RDMA traffic passes no firewall of the "
		       "kernel. By default firewalld allows little but ssh, and ufw no incoming "
		       "connection. Which networks a firewall allows is not "
		       "read, so this is a note. Rules from elsewhere are not read. A node with one GPU and no RDMA device "
		       "is left out, unless an RDMA profile or NCCL_SOCKET_IFNAME speaks of jobs between nodes.",
		.check = "firewall-cmd --list-all --zone=trusted; ufw status; nft list ruleset",
		.sources = "NCCL 2.30.7: docs/userguide/source/troubleshooting, IP ports\n"
			   "github.com/NVIDIA/nccl issue 352\n"
			   "github.com/sgl-project/sglang issue 3794\n"
			   "firewall-cmd(1), ufw(8), nft(8)",
	},
};

RULE_TABLE(net_firewall);
