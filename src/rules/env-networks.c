/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-networks.c - the networks of the RoCE ports that a job's environment selects (rule env/nic-networks). */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/job-env.h"
#include "query/ports.h"

/* Fewer than this many others in one network show nothing: rails have a network each, and two ports often differ. */
#define OTHERS_MIN 3
#define PORTS_MAX 64

struct member {
	const struct rdma_device *device;
	const struct rdma_port *port;
	const struct net_interface *interface;
	const char *network; /* 10.64.0.0/24 */
	struct gid gid;
	unsigned int prefix;
};

struct members {
	struct member items[PORTS_MAX];
	size_t count;
	const char *unread; /* the path of a fact that was not read; NULL: all were */
};

/* The network on the link that the address of the GID is in, by the routes. */
static bool find_network(const struct node *node, const struct rdma_gid *gid, struct member *m)
{
	struct gid own, network;

	if (!gid_parse(span_of(gid->gid.value), &own) || !gid_is_ipv4(&own))
		return false;
	for_each(route, &node->net.routes)
		if (!is_known(route->gateway) &&
		    str_is(route->interface, m->interface->name.value) &&
		    gid_from_address(span_of(route->destination.value), &network, &m->prefix) &&
		    m->prefix < 128 && gid_is_within(&own, &network, m->prefix)) {
			m->network = route->destination.value;
			m->gid = own;
			return true;
		}
	return false;
}

static void add_port(struct rule_context *ctx, struct members *all, const struct rdma_device *d,
		     const struct rdma_port *p)
{
	const struct rdma_gid *gid = port_job_gid(ctx->node, d, p);
	struct member m = { .device = d, .port = p };

	if (!was_read(p->gids) && !all->unread)
		all->unread = port_fact(ctx->arena, d, p, "gids");
	if (!gid || !is_known(gid->netdev) || all->count == PORTS_MAX)
		return;
	m.interface = node_interface(ctx->node, gid->netdev.value);
	if (m.interface && find_network(ctx->node, gid, &m))
		all->items[all->count++] = m;
}

static void find_members(struct rule_context *ctx, const struct hca_list *list, struct members *all)
{
	for_each_port(d, p, ctx->node)
		if (port_is_ethernet(p) && port_usable(ctx->node, d, p) == USABLE_YES &&
		    hca_list_allows(list, d->name.value, (int)p->port.value))
			add_port(ctx, all, d, p);
}

static bool is_of_network(const struct member *m, const struct member *other)
{
	return gid_is_ipv4(&m->gid) == gid_is_ipv4(&other->gid) && m->prefix == other->prefix &&
	       gid_is_within(&m->gid, &other->gid, other->prefix);
}

static size_t count_of_network(const struct members *all, const struct member *of)
{
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++)
		n += is_of_network(&all->items[i], of);
	return n;
}

/* The only port that is in another network than all the others; NULL: there is none. */
static const struct member *find_odd(const struct members *all, const struct member **usual)
{
	*usual = NULL;
	for (size_t i = 0; i < all->count && !*usual; i++)
		if (count_of_network(all, &all->items[i]) + 1 == all->count &&
		    all->count > OTHERS_MIN)
			*usual = &all->items[i];
	for (size_t i = 0; i < all->count && *usual; i++)
		if (!is_of_network(&all->items[i], *usual))
			return &all->items[i];
	return NULL;
}

static void check_variable(struct rule_context *ctx, const struct job_value *v,
			   struct hca_list list)
{
	struct members all = { .count = 0 };
	const struct member *usual, *odd;

	find_members(ctx, &list, &all);
	odd = find_odd(&all, &usual);
	if (all.unread)
		UNKNOWN(ctx, .subject = v->name, .evidence = { all.unread });
	else if (odd)
		FAIL(ctx, .subject = v->name,
		     .observed = text_printf(
			     ctx,
			     "%s takes %s, which is in the network %s; the other %zu ports are in %s",
			     job_value_text(ctx->arena, ctx->node, v), odd->device->name.value,
			     odd->network, all.count - 1, usual->network),
		     .expected = "ports of one network, or each port in its own",
		     .remedy = text_printf(
			     ctx,
			     "If %s is for storage or for the node itself, leave it out of %s. Else give %s an "
			     "address of the jobs' network.",
			     odd->device->name.value, v->name, odd->interface->name.value),
		     .evidence = { v->fact, port_fact(ctx->arena, odd->device, odd->port, "gids"),
				   "net.routes" });
	else
		PASS(ctx, .subject = v->name, .evidence = { v->fact });
}

static void check_networks(struct rule_context *ctx)
{
	struct job_value nccl, nvshmem, ucx;

	if (skip_without_rdma_device(ctx) || skip_without_nccl_variables(ctx) ||
	    skip_without_nvshmem_variables(ctx))
		return;
	nccl = job_nccl(ctx->arena, ctx->node, "NCCL_IB_HCA");
	nvshmem = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_HCA_LIST");
	ucx = job_env(ctx->arena, ctx->node, "UCX_NET_DEVICES");
	if (!nccl.value && !nvshmem.value && !ucx.value)
		NOT_APPLICABLE(ctx, .observed = "no list of NICs is set",
			       .evidence = { "env.variables" });
	else if (!was_read(ctx->node->net.interfaces) || !was_read(ctx->node->net.routes))
		UNKNOWN(ctx, .evidence = { was_read(ctx->node->net.routes) ? "net.interfaces"
									   : "net.routes" });
	else {
		if (nccl.value)
			check_variable(ctx, &nccl, hca_list_nccl(nccl.value));
		if (nvshmem.value)
			check_variable(ctx, &nvshmem, hca_list_nvshmem(nvshmem.value));
		if (ucx.value)
			check_variable(
				ctx, &ucx,
				(struct hca_list){ .exact = true, .entries = span_of(ucx.value) });
	}
}

static const struct rule env_networks_rules[] = {
	{
		.id = "env/nic-networks",
		.title = "Jobs hang or time out: one of their NICs is in another network",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_networks,
		.impact =
			"Connections from this port to ports of the other network time out: ibv_modify_qp error 110, "
			"NCCL \"completion with error 12\".",
		.remedy = "List only NICs of the jobs' network.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"NCCL_IB_HCA (also in nccl.conf), NVSHMEM_HCA_LIST and UCX_NET_DEVICES of the job; the GIDs of "
			"RoCE ports, and the routes of IPv4.",
		.why = "NCCL can connect any NIC of a node with any NIC of another node. The finding is for one port in another "
		       "network than three or more others, which share theirs. Rails, which have a network each, and "
		       "ports in two groups are intended. Whether a router joins the networks is not known. A port "
		       "without a routable address is rdma/no-rocev2-gid.",
		.check = "show_gids; ip -br address",
		.sources =
			"github.com/NVIDIA/nccl issue 2013 (2026-02-20): comment on ibv_modify_qp error 110; issue 1664\n"
			"github.com/ROCm/rccl issue 1303",
	},
};

RULE_TABLE(env_networks);
