/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net-firewall.c - firewalls in the way of the sockets by which the ranks of a job connect (rule net/firewall-on). */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/packet.h"
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
#define UFW_REMEDY "ufw allow from SUBNET, for the networks of the job's nodes."

/* Returns true if jobs connect to other nodes. With RDMA devices or several GPUs they may; else if the environment says
 * so. */
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

/* A single one can be a mistyped port. */
#define REFUSED_MIN 3

static const char *refused_ports(struct rule_context *ctx, const struct log_line *line)
{
	struct span first = packet_field(span_of(line->first.value), " DPT=");
	struct span last = packet_field(span_of(line->last.value), " DPT=");

	if (!first.n || (first.n == last.n && memcmp(first.p, last.p, last.n) == 0))
		return text_printf(ctx, "port %.*s", SPAN_FMT(last));
	return text_printf(ctx, "ports %.*s and %.*s", SPAN_FMT(first), SPAN_FMT(last));
}

static const char *firewall_remedy(const struct node *node, const char *line)
{
	if (strstr(line, "UFW "))
		return UFW_REMEDY;
	for (size_t i = 0; i < FIREWALLS; i++) {
		const struct service *s = node_service(node, firewalls[i].unit);

		if (s && is_on(s))
			return firewalls[i].remedy;
	}
	return NULL;
}

/* Returns true if the kernel log has connections that a firewall refused. One that is off by now refuses none. */
static bool fail_refused(struct rule_context *ctx, bool off)
{
	const struct log_line *line = node_log(ctx->node, "packet-refused");

	if (!line || line->count.value < REFUSED_MIN || off)
		return false;
	FAIL_AS(ctx, SEVERITY_WARN,
		.observed = text_printf(
			ctx,
			"%" PRIu64
			" connections from the private network were refused, to %s among others; the last: "
			"%s",
			line->count.value, refused_ports(ctx, line), line->last.value),
		.expected = "connections from the job's nodes are allowed",
		.remedy = firewall_remedy(ctx->node, line->last.value),
		.evidence = { "log.lines[packet-refused].last",
			      "log.lines[packet-refused].count" });
	return true;
}

static bool is_known_off(const struct node *node)
{
	for (size_t i = 0; i < FIREWALLS; i++) {
		const struct service *s = node_service(node, firewalls[i].unit);

		if (!s || is_on(s) ||
		    (is_unknown(s->active) && !str_is(s->load, "not-found") &&
		     !str_is(s->enabled, "disabled")))
			return false;
	}
	return is_absent(node->net.ufw) || known_is(node->net.ufw, false);
}

static void check_firewall(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	bool unknown = !was_read(node->services.units), any;

	if (skip_without_sockets(ctx))
		return;
	if (skip_in_container(ctx) || fail_refused(ctx, is_known_off(node)))
		return;
	any = note_units(ctx, &unknown);
	if (known_is(node->net.ufw, true))
		NOTE(ctx, .subject = "ufw",
		     .observed = "it is enabled; which networks it allows is not known",
		     .remedy = UFW_REMEDY, .evidence = { "net.ufw" });
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
		.max_severity = SEVERITY_WARN,
		.evaluate = check_firewall,
		.impact =
			"If it does not allow the other nodes, jobs of several nodes hang at the start, or NCCL says \"Connect "
			"to ... failed : No route to host\" or \"Connection timed out\". Ping and RDMA still work.",
		.remedy = "Allow the networks of the job's nodes on all ports.",
		.activation = ACTIVATION_NOW,
		.reads =
			"Whether firewalld, nftables, iptables or netfilter-persistent runs; /etc/ufw/ufw.conf; lines of the "
			"kernel log about refused packets.",
		.why = "NCCL, MPI and PyTorch's rendezvous connect over TCP first. NCCL's ports are those that the kernel "
		       "chooses for each job. Without RDMA devices all data goes the same way. RDMA traffic passes no firewall of the "
		       "kernel. By default firewalld allows little but ssh, and ufw no incoming "
		       "connection. Which networks a firewall allows is not "
		       "read, so this is a note. It is a warning if the kernel log has three refused connections from private "
		       "addresses, at ports that jobs take. Rules from elsewhere are not read. A node with one GPU and no RDMA device "
		       "is left out, unless an RDMA profile or NCCL_SOCKET_IFNAME speaks of jobs between nodes.",
		.check = "firewall-cmd --list-all --zone=trusted; ufw status; nft list ruleset",
		.sources = "NCCL 2.30.7: docs/userguide/source/troubleshooting, IP ports\n"
			   "github.com/NVIDIA/nccl issue 352\n"
			   "github.com/sgl-project/sglang issue 3794\n"
			   "Linux 7.1: net/netfilter/nf_log_syslog.c, nf_log_dump_tcp_header()\n"
			   "firewall-cmd(1), ufw(8), nft(8)",
	},
};

RULE_TABLE(net_firewall);
