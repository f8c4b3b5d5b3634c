/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-gid.c - the addresses of RoCE ports (rules rdma/...): one of them routes, its interface is up, and the
 * interface still has it. */
#include <string.h>

#include "base/shell.h"
#include "evaluate/skip.h"
#include "query/endpoints.h"
#include "query/ports.h"
#include "query/selection.h"

/* Answers for a node without an active Ethernet port. */
static bool skip_without_roce(struct rule_context *ctx)
{
	size_t unknown = 0;

	if (skip_without_rdma_device(ctx))
		return true;
	for_each_port(d, p, ctx->node) {
		if (is_management(ctx->endpoints, d))
			continue;
		if (port_is_ethernet(p) && port_is_active(p))
			return false;
		unknown += (!is_known(p->state) && !port_is_infiniband(p)) ||
			   (!is_known(p->link_layer) && port_is_active(p));
	}
	if (unknown)
		UNKNOWN(ctx, .observed = "state or link layer of a port is not known",
			.evidence = { "rdma.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = "no active Ethernet port",
			       .evidence = { "rdma.devices" });
	return true;
}

static bool is_active_roce(const struct rule_context *ctx, const struct rdma_device *d,
			   const struct rdma_port *p)
{
	return port_is_ethernet(p) && port_is_active(p) && !is_management(ctx->endpoints, d);
}

/* ---- rdma/no-rocev2-gid ---- */

/* A port that no job runs over needs no address. Returns true if the answer was given. */
static bool skip_left_out(struct rule_context *ctx, const struct rdma_device *d,
			  const struct rdma_port *p)
{
	const char *fact = NULL;
	const char *why = port_left_out(ctx->arena, ctx->endpoints, d, p, &fact);

	if (why)
		NOT_APPLICABLE(ctx, .subject = port_name(ctx->arena, d, p), .observed = why,
			       .evidence = { fact });
	return why;
}

static bool any_usable_gid(const struct rule_context *ctx)
{
	for_each_port(d, p, ctx->node)
		if (is_active_roce(ctx, d, p) && port_usable_gid(p))
			return true;
	return false;
}

/* Lists the GIDs that the port has instead. */
static const char *gids_found(const struct rdma_device *d, const struct rdma_port *p)
{
	bool local = false, old = false;

	if (is_iwarp(d))
		return "the port runs iWARP, over which NCCL and NVSHMEM make no connections";
	for_each(g, &p->gids) {
		local |= str_is(g->type, "RoCE v2");
		old |= !str_is(g->type, "RoCE v2");
	}
	if (local)
		return "only link-local RoCE v2 GIDs: the interface has no IP address";
	if (old)
		return "only RoCE v1 GIDs";
	return "no GID: RoCE is switched off, or the GIDs belong to another network namespace";
}

#define LEAVE_OUT " If jobs do not need the port, leave it out of NCCL_IB_HCA."

static const char *netdev_name(const struct rdma_port *p)
{
	for_each(g, &p->gids)
		if (is_known(g->netdev))
			return g->netdev.value;
	return NULL;
}

static const char *shell_gids(struct rule_context *ctx, const struct rdma_device *d,
			      const struct rdma_port *p)
{
	const char *netdev = netdev_name(p);

	if (is_iwarp(d))
		return NULL;
	if (netdev)
		return shell_printf(ctx->arena, "sudo ip address add ADDRESS/BITS dev %s", netdev);
	return p->gids.count || !is_known(d->bdf) || is_known(ctx->node->os.container)
		       ? NULL
		       : shell_printf(ctx->arena,
				      "sudo devlink dev param set pci/%s name enable_roce value "
				      "true cmode driverinit\n"
				      "sudo devlink dev reload pci/%s",
				      d->bdf.value, d->bdf.value);
}

static const char *remedy_gids(struct rule_context *ctx, const struct rdma_device *d,
			       const struct rdma_port *p)
{
	if (is_iwarp(d))
		return text_printf(
			ctx,
			"Switch the port from iWARP to RoCE: set enable_iwarp to false and enable_roce to "
			"true with devlink dev param set pci/%s.",
			shell_name(is_known(d->bdf) ? d->bdf.value : NULL, "ADDRESS"));
	if (netdev_name(p))
		return "Give the port's interface an IPv4 address of the fabric, also for the next boot." LEAVE_OUT;
	if (p->gids.count)
		return NULL;
	return is_known(ctx->node->os.container)
		       ? "Give the container the port's network interface too: host network, or an SR-IOV or macvlan "
			 "attachment of that port." LEAVE_OUT
		       : "If the port's interface is in another network namespace, jobs there can use it. Otherwise "
			 "switch RoCE on. The reload takes the interface down for some seconds and ends its RDMA "
			 "connections: do not do it while you are logged in through it." LEAVE_OUT;
}

/* 169.254.0.0/16 does not route, as fe80:: does not, and NCCL uses it like any other address. */
static bool is_autoconfigured(const struct rdma_gid *g)
{
	struct gid address;

	return gid_parse(span_of(g->gid.value), &address) && gid_is_ipv4(&address) &&
	       address.raw[12] == 169 && address.raw[13] == 254;
}

/* The GID that routes; if there is none, one of such an address. */
static const struct rdma_gid *best_gid(const struct rdma_port *p)
{
	for_each(g, &p->gids)
		if (gid_is_usable(g) && !is_autoconfigured(g))
			return g;
	return port_usable_gid(p);
}

static void fail_autoconfigured(struct rule_context *ctx, const struct rdma_device *d,
				const struct rdma_port *p, const struct rdma_gid *gid)
{
	FAIL_AS(ctx,
		endpoints_are_integrated(ctx->endpoints) || !is_job_nic(ctx->endpoints, d)
			? SEVERITY_INFO
			: SEVERITY_WARN,
		.subject = port_name(ctx->arena, d, p),
		.observed = "the only address is in 169.254.0.0/16, which does not route",
		.expected = "an address of the fabric",
		.evidence = { gid_fact(ctx->arena, d, p, gid, "gid") });
}

static bool gids_are_known(const struct rdma_port *p)
{
	for_each(g, &p->gids)
		if (is_unknown(g->type) || is_unknown(g->gid))
			return false;
	return true;
}

static void check_no_rocev2(struct rule_context *ctx)
{
	bool any;

	if (skip_without_roce(ctx))
		return;
	any = any_usable_gid(ctx);
	for_each_port(d, p, ctx->node) {
		const struct rdma_gid *gid = best_gid(p);
		const char *purpose = port_other_purpose(ctx->arena, ctx->endpoints, d, p);
		bool idle = purpose || (any && (!is_job_nic(ctx->endpoints, d) ||
						!ctx->endpoints->gpus.count));

		if (!is_active_roce(ctx, d, p) || skip_left_out(ctx, d, p))
			continue;
		if (gid && is_autoconfigured(gid))
			fail_autoconfigured(ctx, d, p, gid);
		else if (gid)
			PASS(ctx, .subject = port_name(ctx->arena, d, p),
			     .evidence = { gid_fact(ctx->arena, d, p, gid, "gid") });
		else if (!is_known(p->gids) || !gids_are_known(p))
			UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
				.evidence = { port_fact(ctx->arena, d, p, "gids") });
		else
			/* A storage or management port without address is not meant for RDMA. Without GPUs no
			 * path tells these from others. */
			FAIL_AS(ctx, idle ? SEVERITY_INFO : SEVERITY_ERR,
				.subject = port_name(ctx->arena, d, p),
				.observed = purpose ? text_printf(ctx, "%s; %s", gids_found(d, p),
								  purpose)
						    : gids_found(d, p),
				.remedy = remedy_gids(ctx, d, p), .command = shell_gids(ctx, d, p),
				.ends_jobs = !is_iwarp(d) && !netdev_name(p) && !p->gids.count,
				.expected = "a RoCE v2 GID of an IPv4 or a global IPv6 address",
				.evidence = { port_fact(ctx->arena, d, p, "gids") });
	}
}

/* ---- rdma/gid-no-netdev ---- */

enum netdev { NETDEV_UNKNOWN, NETDEV_NONE, NETDEV_DOWN, NETDEV_UP };

static enum netdev netdev_of(const struct node *node, const struct rdma_gid *g)
{
	const struct net_interface *interface;

	if (is_unknown(g->netdev))
		return NETDEV_UNKNOWN;
	if (is_absent(g->netdev))
		return NETDEV_NONE;
	if (!was_read(node->net.interfaces))
		return NETDEV_UNKNOWN;
	interface = node_interface(node, g->netdev.value);
	if (!interface)
		return NETDEV_NONE;
	if (!is_known(interface->state))
		return NETDEV_UNKNOWN;
	return interface_is_up(interface) ? NETDEV_UP : NETDEV_DOWN;
}

static void check_gid_without(struct rule_context *ctx, const struct rdma_device *d,
			      const struct rdma_port *p, const struct rdma_gid *g,
			      enum netdev netdev, bool others)
{
	const char *observed =
		netdev == NETDEV_DOWN
			? text_printf(ctx, "GID %llu: %s is down",
				      (unsigned long long)g->index.value, g->netdev.value)
		: is_known(g->netdev)
			? text_printf(ctx,
				      "GID %llu: interface %s is not in this network namespace",
				      (unsigned long long)g->index.value, g->netdev.value)
			: text_printf(ctx, "GID %llu has no network interface",
				      (unsigned long long)g->index.value);

	FAIL_AS(ctx,
		others					       ? SEVERITY_INFO
		: netdev == NETDEV_NONE && is_known(g->netdev) ? SEVERITY_WARN
							       : SEVERITY_ERR,
		.subject = port_name(ctx->arena, d, p), .observed = observed,
		.expected = "an interface that is up",
		.evidence = { gid_fact(ctx->arena, d, p, g, "netdev"),
			      is_known(g->netdev) ? fact_path(ctx->arena, "net.interfaces",
							      g->netdev.value, "state")
						  : NULL });
}

static void check_port_netdev(struct rule_context *ctx, const struct rdma_device *d,
			      const struct rdma_port *p)
{
	const struct rdma_gid *bad = NULL, *unknown = NULL, *good = NULL;

	for_each(g, &p->gids) {
		enum netdev netdev;

		if (!gid_is_usable(g))
			continue;
		netdev = netdev_of(ctx->node, g);
		if (netdev == NETDEV_UP)
			good = good ? good : g;
		else if (netdev == NETDEV_UNKNOWN)
			unknown = unknown ? unknown : g;
		else
			bad = bad ? bad : g;
	}
	if (bad && !unknown)
		check_gid_without(ctx, d, p, bad, netdev_of(ctx->node, bad), good);
	else if (good)
		PASS(ctx, .subject = port_name(ctx->arena, d, p),
		     .evidence = { gid_fact(ctx->arena, d, p, good, "netdev") });
	else if (unknown)
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
			.evidence = { gid_fact(ctx->arena, d, p, unknown, "netdev") });
}

static void check_no_netdev(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_roce(ctx))
		return;
	before = ctx->findings->count;
	for_each_port(d, p, ctx->node) {
		size_t said = ctx->findings->count;

		if (!is_active_roce(ctx, d, p) || skip_left_out(ctx, d, p))
			continue;
		if (is_known(p->gids))
			check_port_netdev(ctx, d, p);
		if (ctx->findings->count == said && (!is_known(p->gids) || !gids_are_known(p)))
			UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
				.evidence = { port_fact(ctx->arena, d, p, "gids") });
	}
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no routable RoCE v2 GID (see rdma/no-rocev2-gid)",
			       .evidence = { "rdma.devices" });
}

/* ---- rdma/gid-stale-address ---- */

/* A GID of iWARP is the MAC address and nothing else. */
static bool has_addresses(const struct rule_context *ctx, const struct rdma_device *d,
			  const struct rdma_port *p)
{
	return is_active_roce(ctx, d, p) && !is_iwarp(d);
}

/* To set an interface down cuts all that uses it, and on some nodes the login. */
static const char *stale_remedy(struct rule_context *ctx, const char *interface,
				const char *address)
{
	return text_printf(
		ctx,
		"Give %s the address %s again. If %s is not to have it, drain the node, and set the "
		"interface down and up when nothing else uses it, your own login included. The kernel "
		"then makes its GIDs again.",
		interface, address, interface);
}

static void check_address(struct rule_context *ctx, const struct rdma_device *d,
			  const struct rdma_port *p, size_t *checked)
{
	for_each(g, &p->gids) {
		const struct net_interface *interface =
			is_known(g->netdev) ? node_interface(ctx->node, g->netdev.value) : NULL;
		char text[GID_TEXT];
		struct gid address;

		if (!gid_needs_address(ctx->node, d, g) ||
		    !gid_parse(span_of(g->gid.value), &address))
			continue;
		(*checked)++;
		if (!is_known(interface->addresses)) {
			UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
				.evidence = { fact_path(ctx->arena, "net.interfaces",
							g->netdev.value, "addresses") });
			return;
		}
		if (!gid_is_stale(ctx->node, d, g))
			continue;
		gid_format(text, &address);
		FAIL(ctx, .subject = port_name(ctx->arena, d, p),
		     .observed = text_printf(ctx, "GID %llu is %s, and %s has no such address",
					     (unsigned long long)g->index.value, text,
					     g->netdev.value),
		     .expected = "an address of the interface",
		     .remedy = stale_remedy(ctx, g->netdev.value, text),
		     .evidence = { gid_fact(ctx->arena, d, p, g, "gid"),
				   fact_path(ctx->arena, "net.interfaces", g->netdev.value,
					     "addresses") });
		return;
	}
}

static void check_stale(struct rule_context *ctx)
{
	size_t checked = 0, unread = 0, before;

	if (skip_without_roce(ctx))
		return;
	if (!was_read(ctx->node->net.interfaces)) {
		UNKNOWN(ctx, .evidence = { "net.interfaces" });
		return;
	}
	before = ctx->findings->count;
	for_each_port(d, p, ctx->node) {
		if (!has_addresses(ctx, d, p))
			continue;
		unread += is_unknown(p->gids) || !gids_are_known(p);
		check_address(ctx, d, p, &checked);
	}
	if (ctx->findings->count > before)
		return;
	if (!checked && unread)
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
	else if (checked)
		PASS(ctx, .evidence = { "rdma.devices", "net.interfaces" });
	else
		NOT_APPLICABLE(ctx, .observed = "no GID of an IP address",
			       .evidence = { "rdma.devices" });
}

static const struct rule rdma_gid_rules[] = {
	{
		.id = "rdma/no-rocev2-gid",
		.title = "RoCE connections fail: a port has no routable RoCE v2 GID",
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_ERR,
		.evaluate = check_no_rocev2,
		.needs_running = true,
		.impact = "Connections over this port fail or time out: NCCL \"completion with "
			  "error 12\", ibv_modify_qp errors 22, 19 or 110.",
		.remedy =
			"Give the port's network interface an IPv4 address, or a global IPv6 address. The kernel "
			"then adds the GID." LEAVE_OUT,
		.activation = ACTIVATION_NOW,
		.reads =
			"gids, gid_attrs/types and gid_attrs/ndevs of every active Ethernet port; NCCL_IB_HCA "
			"and NVSHMEM_HCA_LIST.",
		.why = "RoCE v2 sends from the IP address of a GID. Link-local GIDs do not route. RoCE v1 does not "
		       "leave the Ethernet segment. iWARP runs over TCP and has no such addresses; an Intel NIC with "
		       "iWARP can be set to RoCE (devlink: enable_iwarp false, enable_roce true, cmode runtime). An address in 169.254.0.0/16 is a "
		       "warning, because a cable may join two nodes. The finding is a note for NICs that are not next "
		       "to the GPUs, while others have such a GID.",
		.check = "show_gids; or grep . /sys/class/infiniband/*/ports/*/gid_attrs/types/* "
			 "2>/dev/null",
		.sources =
			"Linux 6.1.192: Documentation/ABI/stable/sysfs-class-infiniband; "
			"drivers/infiniband/core/roce_gid_mgmt.c; Documentation/networking/devlink/devlink-params.rst and mlx5.rst\n"
			"Linux 6.12.117: Documentation/networking/devlink/ice.rst\n"
			"NCCL 2.30.7: src/transport/net_ib/connect.cc, ncclIbGetGidIndex()\n"
			"github.com/NVIDIA/nccl issue 622",
	},
	{
		.id = "rdma/gid-no-netdev",
		.title = "RoCE connections fail: a GID has no network interface that is up",
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_ERR,
		.evaluate = check_no_netdev,
		.needs_running = true,
		.impact =
			"ibv_modify_qp fails, for example with \"No such device\" (errno 19) or \"Network is unreachable\" (errno 101).",
		.remedy =
			"Bring the interface up. In a container, give the container the interface too: "
			"host network, or an SR-IOV or macvlan attachment of that port.",
		.activation = ACTIVATION_NOW,
		.reads =
			"gid_attrs/ndevs of every RoCE v2 GID that routes; the interfaces' operstate; NCCL_IB_HCA and "
			"NVSHMEM_HCA_LIST.",
		.why = "For ibv_modify_qp the kernel takes route, MAC address and network namespace from the GID's interface; "
		       "librdmacm uses the namespace of the process. A GID whose interface is in another "
		       "namespace is a warning: librdmacm cannot use it, and whether ibv_modify_qp can does not show here. If another GID of the port has an interface that is up, the finding is a note. "
		       "Ports that are not active, and ports that the job's list leaves out, are not checked.",
		.check = "grep . /sys/class/infiniband/*/ports/*/gid_attrs/ndevs/* 2>/dev/null; "
			 "ip -br link",
		.sources =
			"Linux 6.1.192: drivers/infiniband/core/sysfs.c, cma.c, addr.c, cache.c, verbs.c; net/ipv4/route.c\n"
			"github.com/NVIDIA/nccl issues 799, 925; github.com/microsoft/mscclpp "
			"issue 431",
	},
	{
		.id = "rdma/gid-stale-address",
		.title =
			"RoCE connections get no answer: a GID has an address that its interface has lost",
		.is_short_effect = true,
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_stale,
		.needs_running = true,
		.impact =
			"Connections from this GID get no answer, because nothing routes back to the address.",
		.remedy =
			"Give the interface the address again. If it is not to have it, drain the node, and set the interface "
			"down and up when nothing else uses it: the kernel then makes its GIDs again.",
		.activation = ACTIVATION_NOW,
		.reads = "GIDs and their interfaces; the interfaces' addresses.",
		.why = "The kernel keeps GIDs and addresses equal. They differ after an error of the driver, or after "
		       "an address was removed without notice. Before 7.0 it also missed changes while a device "
		       "registered. Link-local GIDs of hardware come from the MAC address "
		       "and need no such address on the interface; those of soft RoCE need it. If several interfaces "
		       "share a subnet, only a live host shows which address is whose.",
		.check = "show_gids; ip -br addr",
		.sources =
			"Linux 6.1.192: drivers/infiniband/core/cache.c, roce_gid_mgmt.c\n"
			"Linux 7.0: commit 9af0feae8016ba (as github.com/NVIDIA/NV-Kernels pull 358 quotes it)\n"
			"github.com/SoftRoCE/rxe-dev issue 79",
	},
};

RULE_TABLE(rdma_gid);
