/* SPDX-License-Identifier: GPL-2.0-or-later */
/* net.c - how the nodes of a job reach each other over IP (rules net/...). */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/text-map.h"
#include "evaluate/skip.h"
#include "parse/gid.h"
#include "query/job-env.h"
#include "query/kind.h"
#include "query/ports.h"

/* ---- net/hostname-loopback ---- */

static bool is_loopback(const char *text)
{
	unsigned int prefix;
	struct gid address;

	if (!gid_from_address(span_of(text), &address, &prefix))
		return false;
	return gid_is_ipv4(&address) ? address.raw[12] == 127 : strcmp(text, "::1") == 0;
}

static size_t position(const struct node *node, const char *service)
{
	for (uint32_t i = 0; i < node->net.hosts_order.count; i++)
		if (strcmp(node->net.hosts_order.items[i], service) == 0)
			return i;
	return node->net.hosts_order.count;
}

/* The services that could know the name, besides the file. */
static const char *other_service(const struct node *node)
{
	static const char *const names[] = { "myhostname", "resolve", "dns",	 "sss",
					     "ldap",	   "nis",     "nisplus", "winbind" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (position(node, names[i]) < node->net.hosts_order.count)
			return names[i];
	return NULL;
}

/* What makes jobs span nodes, beside RDMA devices: a scheduler's node, as NULL or for people. */
static const char *scheduler(const struct node *node)
{
	return node_is(node, KIND_SLURM)	? "a Slurm node"
	       : node_is(node, KIND_KUBERNETES) ? "a Kubernetes node"
						: NULL;
}

/* A variable by which the job names its interface; the value is NULL if there is none. */
static struct job_value job_interface(struct rule_context *ctx)
{
	static const char *const names[] = { "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME",
					     "TP_SOCKET_IFNAME", "OMPI_MCA_btl_tcp_if_include",
					     "OMPI_MCA_oob_tcp_if_include" };
	struct job_value value = job_nccl(ctx->arena, ctx->node, "NCCL_SOCKET_IFNAME");

	for (size_t i = 0; i < ARRAY_SIZE(names) && !value.value; i++)
		value = job_env(ctx->arena, ctx->node, names[i]);
	return value;
}

static void fail_loopback(struct rule_context *ctx, const char *observed)
{
	struct job_value nccl = job_interface(ctx);

	/* NCCL_SOCKET_IFNAME does not help Gloo, which looks the name up. A node without RDMA device mostly has no
	 * peers. */
	bool alone = was_read(ctx->node->rdma.devices) && ctx->node->rdma.devices.count == 0;
	const char *span = scheduler(ctx->node);

	if (span)
		observed = text_printf(ctx, "%s; this is %s, whose jobs span nodes", observed,
				       span);
	FAIL_AS(ctx,
		nccl.value || alone || !is_asked_for(ctx, PROFILE_GPUDIRECT_ANY) ? SEVERITY_INFO
										 : SEVERITY_WARN,
		.observed = observed, .expected = "an address that the other nodes reach",
		.evidence = { "net.hostname_addresses", "net.hosts_order", "os.hostname",
			      nccl.fact });
}

/* The name is not in /etc/hosts, or that is not looked at. */
static void check_elsewhere(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *service = other_service(node);

	if (is_absent(node->net.hosts_order))
		service = "dns"; /* glibc's default without the line: files dns */
	if (service && strcmp(service, "myhostname") == 0)
		PASS(ctx, .observed = "nss-myhostname answers with the node's own addresses",
		     .evidence = { "net.hosts_order" });
	else if (service)
		UNKNOWN(ctx,
			.observed = text_printf(
				ctx, "%s is not in /etc/hosts, and \"%s\" was not asked",
				is_known(node->os.hostname) ? node->os.hostname.value
							    : "the node's name",
				service),
			.remedy = "getent ahosts $(hostname)", .evidence = { "net.hosts_order" });
	else
		fail_loopback(ctx,
			      "the host name is not in /etc/hosts, and no other service knows it");
}

/* Half of all machines have Debian's line: it matters where jobs have ranks on other nodes. */
static bool skip_unless_jobs_span(struct rule_context *ctx)
{
	struct kind_answer slurm = kind_find(ctx->node, KIND_SLURM, ctx->arena);
	struct kind_answer kubernetes = kind_find(ctx->node, KIND_KUBERNETES, ctx->arena);

	if (skip_without_gpu(ctx))
		return true;
	if (known_is(slurm.is, true) || known_is(kubernetes.is, true))
		return false;
	if (is_known(slurm.is) && is_known(kubernetes.is))
		NOT_APPLICABLE(ctx, .observed = "neither a Slurm nor a Kubernetes node",
			       .evidence = { slurm.fact, kubernetes.fact });
	else
		UNKNOWN(ctx, .evidence = { is_known(slurm.is) ? kubernetes.fact : slurm.fact });
	return true;
}

static void check_hostname(struct rule_context *ctx)
{
	const struct net_facts *net = &ctx->node->net;
	struct job_value gloo = job_env(ctx->arena, ctx->node, "GLOO_SOCKET_IFNAME");
	size_t loopback = 0;

	if (!is_asked_for(ctx, PROFILE_GPUDIRECT_ANY) && skip_unless_jobs_span(ctx))
		return;
	if (gloo.value) {
		NOT_APPLICABLE(ctx, .observed = "GLOO_SOCKET_IFNAME is set",
			       .evidence = { gloo.fact });
		return;
	}
	if (!was_read(net->hostname_addresses) || !was_read(net->hosts_order)) {
		UNKNOWN(ctx, .evidence = { was_read(net->hosts_order) ? "net.hostname_addresses"
								      : "net.hosts_order" });
		return;
	}
	for (uint32_t i = 0; i < net->hostname_addresses.count; i++)
		loopback += is_loopback(net->hostname_addresses.items[i]);
	if (!net->hostname_addresses.count ||
	    (is_known(net->hosts_order) && position(ctx->node, "files") == net->hosts_order.count))
		check_elsewhere(ctx);
	else if (position(ctx->node, "myhostname") < position(ctx->node, "files"))
		PASS(ctx, .observed = "nss-myhostname answers before /etc/hosts",
		     .evidence = { "net.hosts_order" });
	else if (loopback == net->hostname_addresses.count)
		fail_loopback(ctx, text_printf(ctx, "the host name is %s in /etc/hosts",
					       net->hostname_addresses.items[0]));
	else
		PASS(ctx, .evidence = { "net.hostname_addresses" });
}

/* ---- several interfaces in one subnet ---- */

static bool is_on_link(const struct net_route *r)
{
	return is_absent(r->gateway) && is_known(r->interface) && is_known(r->destination) &&
	       strcmp(r->destination.value, "0.0.0.0/0") != 0 &&
	       !str_starts(r->destination, "169.254.");
}

static bool is_in_use(const struct node *node, const struct net_route *r)
{
	const struct net_interface *interface = node_interface(node, r->interface.value);

	return !interface || !is_known(interface->state) || interface_is_up(interface);
}

static bool carries_roce(const struct node *node, const char *interface)
{
	for_each_port(d, p, node) {
		if (!port_is_ethernet(p))
			continue;
		for_each(g, &p->gids)
			if (str_is(g->netdev, interface))
				return true;
	}
	return false;
}

/* Of the routes to one subnet: the one that the kernel prefers, and the one that it prefers of those over another
 * interface. */
struct route_pair {
	const struct net_route *first, *other;
};

static bool is_preferred(const struct net_route *a, const struct net_route *b)
{
	if (is_known(a->metric) && is_known(b->metric) && a->metric.value != b->metric.value)
		return a->metric.value < b->metric.value;
	return a < b;
}

static void add_to_pair(struct route_pair *pair, const struct net_route *r)
{
	bool same = pair->first && str_is(r->interface, pair->first->interface.value);

	if (!pair->first || is_preferred(r, pair->first)) {
		pair->other = same ? pair->other : pair->first;
		pair->first = r;
	} else if (!same && (!pair->other || is_preferred(r, pair->other))) {
		pair->other = r;
	}
}

/* Which routes are held together. */
enum route_key {
	OF_SUBNET,
	OF_SUBNET_AND_METRIC,
	OF_SUBNET_IN_ROCE, /* those over interfaces that carry RoCE */
};

static struct route_pair *pair_of(struct rule_context *ctx, struct text_map *pairs,
				  const struct net_route *r, enum route_key by)
{
	const char *key = by == OF_SUBNET_AND_METRIC
				  ? text_printf(ctx, "%s %" PRIu64, r->destination.value,
						r->metric.value)
				  : r->destination.value;
	void **at = text_map_at(pairs, span_of(key));

	if (!*at)
		*at = arena_alloc(ctx->arena, sizeof(struct route_pair));
	return *at;
}

static struct text_map *pair_routes(struct rule_context *ctx, enum route_key by)
{
	const struct node *node = ctx->node;
	struct text_map *pairs = text_map_new(ctx->arena, node->net.routes.count);

	for_each(r, &node->net.routes)
		if (is_on_link(r) && is_in_use(node, r) &&
		    (by == OF_SUBNET_IN_ROCE ? carries_roce(node, r->interface.value)
					     : is_known(r->metric)))
			add_to_pair(pair_of(ctx, pairs, r, by), r);
	return pairs;
}

/* The first of the routes to the subnet of ROUTE that are over another interface; NULL: none. */
static const struct net_route *over_another(struct rule_context *ctx, struct text_map *pairs,
					    const struct net_route *route, enum route_key by)
{
	const struct route_pair *pair = pair_of(ctx, pairs, route, by);

	return pair->first && !str_is(pair->first->interface, route->interface.value) ? pair->first
										      : pair->other;
}

/* An earlier route to the same subnet over another interface, with the same metric. */
static const struct net_route *rival_of(struct rule_context *ctx, struct text_map *pairs,
					const struct net_route *route)
{
	const struct net_route *r = is_known(route->metric)
					    ? over_another(ctx, pairs, route, OF_SUBNET_AND_METRIC)
					    : NULL;

	return r && r < route ? r : NULL;
}

/* A table beside main and local with a route to the subnet, or to everything: rules by source address then choose the
 * interface. The rules themselves are in no file. NULL: none. */
static const struct net_table *table_for(const struct node *node, const char *subnet)
{
	for_each(table, &node->net.tables)
		for_each(s, &table->subnets)
			if (strcmp(*s, subnet) == 0 || strcmp(*s, "0.0.0.0/0") == 0)
				return table;
	return NULL;
}

static void pass_routed(struct rule_context *ctx, const char *interface,
			const struct net_table *table)
{
	PASS(ctx, .subject = interface,
	     .observed = text_printf(
		     ctx, "the routing table %" PRIu64 " is there for rules by source address",
		     table->id.value),
	     .evidence = { "net.tables", "net.routes" });
}

/* Without a wish for RDMA, interfaces of cards count: bridges and links of containers are others' business. */
static bool is_judged(const struct rule_context *ctx, const char *name)
{
	const struct net_interface *interface = node_interface(ctx->node, name);

	return is_asked_for(ctx, PROFILE_RDMA_ANY) || (interface && is_known(interface->bdf));
}

static void check_duplicate(struct rule_context *ctx, const struct net_route *route,
			    const struct net_route *rival)
{
	const struct net_table *table = table_for(ctx->node, route->destination.value);

	if (table)
		pass_routed(ctx, route->interface.value, table);
	else
		FAIL(ctx, .subject = route->interface.value,
		     .observed = text_printf(
			     ctx, "%s and %s both have a route to %s with metric %" PRIu64,
			     rival->interface.value, route->interface.value,
			     route->destination.value, route->metric.value),
		     .expected = "one interface for each subnet, or different metrics",
		     .evidence = { "net.routes", "net.tables" });
}

static void check_duplicates(struct rule_context *ctx)
{
	struct text_map *pairs;
	size_t before = ctx->findings->count;

	if (skip_without_gpu_or_rdma(ctx))
		return;
	if (!is_known(ctx->node->net.routes)) {
		UNKNOWN(ctx, .evidence = { "net.routes" });
		return;
	}
	pairs = pair_routes(ctx, OF_SUBNET_AND_METRIC);
	for_each(route, &ctx->node->net.routes) {
		const struct net_route *rival;

		if (!is_on_link(route) || !is_in_use(ctx->node, route) ||
		    !is_judged(ctx, route->interface.value))
			continue;
		rival = rival_of(ctx, pairs, route);
		if (rival && is_judged(ctx, rival->interface.value) &&
		    !rule_has_answered(ctx, route->interface.value))
			check_duplicate(ctx, route, rival);
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "net.routes" });
}

/* ---- net/arp-flux ---- */

/* Shares a subnet with another interface of RoCE. PAIRS are OF_SUBNET_IN_ROCE. */
static const char *shared_subnet(struct rule_context *ctx, struct text_map *pairs,
				 const char *interface)
{
	for_each(a, &ctx->node->net.routes)
		if (is_on_link(a) && str_is(a->interface, interface) &&
		    over_another(ctx, pairs, a, OF_SUBNET_IN_ROCE))
			return a->destination.value;
	return NULL;
}

/* Documentation/networking/ip-sysctl.rst: the higher of conf/all and the interface's own value is used. */
static uint64_t with_all(const struct node *node, const char *name, struct fact_u64 own)
{
	for_each(s, &node->os.sysctls) {
		uint64_t all;

		if (str_is(s->name, name) && is_known(s->value) &&
		    span_u64(span_of(s->value.value), 10, &all) == 0)
			return all > own.value ? all : own.value;
	}
	return own.value;
}

static void check_arp_of(struct rule_context *ctx, const struct net_interface *interface,
			 const char *subnet)
{
	const char *name = interface->name.value;
	const char *ignore = fact_path(ctx->arena, "net.interfaces", name, "arp_ignore");
	const char *announce = fact_path(ctx->arena, "net.interfaces", name, "arp_announce");
	uint64_t i, a;

	if (!is_known(interface->arp_ignore) || !is_known(interface->arp_announce)) {
		UNKNOWN(ctx, .subject = name,
			.evidence = { is_known(interface->arp_ignore) ? announce : ignore });
		return;
	}
	i = with_all(ctx->node, "net.ipv4.conf.all.arp_ignore", interface->arp_ignore);
	a = with_all(ctx->node, "net.ipv4.conf.all.arp_announce", interface->arp_announce);
	if (i && a)
		PASS(ctx, .subject = name, .evidence = { ignore, announce });
	else
		NOTE(ctx, .subject = name,
		     .observed = text_printf(ctx,
					     "shares %s with another RoCE port; arp_ignore %" PRIu64
					     ", arp_announce %" PRIu64,
					     subnet, i, a),
		     .evidence = { ignore, announce, "net.routes" });
}

static void check_arp(struct rule_context *ctx)
{
	struct text_map *pairs;
	size_t before, unread = 0;

	if (skip_without_rdma_device(ctx))
		return;
	if (!is_known(ctx->node->net.routes) || !was_read(ctx->node->net.interfaces)) {
		UNKNOWN(ctx, .evidence = { is_known(ctx->node->net.routes) ? "net.interfaces"
									   : "net.routes" });
		return;
	}
	before = ctx->findings->count;
	pairs = pair_routes(ctx, OF_SUBNET_IN_ROCE);
	for_each(interface, &ctx->node->net.interfaces) {
		const char *subnet;

		if (!carries_roce(ctx->node, interface->name.value) ||
		    (is_known(interface->state) && !interface_is_up(interface)))
			continue;
		subnet = shared_subnet(ctx, pairs, interface->name.value);
		if (subnet)
			check_arp_of(ctx, interface, subnet);
	}
	for_each_port(d, p, ctx->node) {
		unread += port_is_ethernet(p) && is_unknown(p->gids);
		for_each(g, &p->gids)
			unread += is_unknown(g->netdev);
	}
	if (ctx->findings->count == before && unread)
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
	else if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no two RoCE ports share a subnet",
			       .evidence = { "net.routes" });
}

/* ---- net/rp-filter-strict ---- */

/* The route to the same subnet that the kernel prefers: over another interface, with a lower metric or earlier. PAIRS
 * are OF_SUBNET. */
static const struct net_route *preferred_to(struct rule_context *ctx, struct text_map *pairs,
					    const struct net_route *route)
{
	const struct net_route *r = is_known(route->metric)
					    ? over_another(ctx, pairs, route, OF_SUBNET)
					    : NULL;

	return r && is_preferred(r, route) ? r : NULL;
}

static void check_filter_of(struct rule_context *ctx, const struct net_route *route,
			    const struct net_route *preferred)
{
	const char *name = route->interface.value;
	const struct net_interface *interface = node_interface(ctx->node, name);
	const char *fact = fact_path(ctx->arena, "net.interfaces", name, "rp_filter");
	const struct net_table *table = table_for(ctx->node, route->destination.value);
	uint64_t filter;

	if (table) {
		pass_routed(ctx, name, table);
		return;
	}
	if (!interface || !is_known(interface->rp_filter)) {
		UNKNOWN(ctx, .subject = name,
			.observed = interface && is_absent(interface->rp_filter)
					    ? "the interface has no rp_filter here"
					    : NULL,
			.evidence = { fact });
		return;
	}
	filter = with_all(ctx->node, "net.ipv4.conf.all.rp_filter", interface->rp_filter);
	if (filter == 1)
		FAIL(ctx, .subject = name,
		     .observed = text_printf(ctx, "strict; the way back to %s is over %s",
					     route->destination.value, preferred->interface.value),
		     .expected = "loose (2), or a subnet for each interface",
		     .remedy = text_printf(
			     ctx,
			     "Set net.ipv4.conf.%s.rp_filter=2 in a file of /etc/sysctl.d, then run sysctl "
			     "--system. Or give the interface its own subnet, or a routing rule by source "
			     "address.",
			     name),
		     .evidence = { fact, "net.routes" });
	else
		PASS(ctx, .subject = name, .evidence = { fact });
}

static void check_filter(struct rule_context *ctx)
{
	struct text_map *pairs;
	size_t before = ctx->findings->count;

	if (skip_without_gpu_or_rdma(ctx))
		return;
	if (!is_known(ctx->node->net.routes) || !was_read(ctx->node->net.interfaces)) {
		UNKNOWN(ctx, .evidence = { is_known(ctx->node->net.routes) ? "net.interfaces"
									   : "net.routes" });
		return;
	}
	pairs = pair_routes(ctx, OF_SUBNET);
	for_each(route, &ctx->node->net.routes) {
		const struct net_route *preferred;

		if (!is_on_link(route) || !is_in_use(ctx->node, route) ||
		    rule_has_answered(ctx, route->interface.value))
			continue;
		preferred = preferred_to(ctx, pairs, route);
		if (preferred)
			check_filter_of(ctx, route, preferred);
	}
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no two interfaces share a subnet",
			       .evidence = { "net.routes" });
}

static const struct rule net_rules[] = {
	{
		.id = "net/hostname-loopback",
		.title =
			"Gloo cannot connect to other nodes: the host name resolves only to loopback",
		.profiles = PROFILE_GPUDIRECT_ANY | PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_hostname,
		.impact = "Gloo gives its peers 127.0.0.1: \"connectFullMesh "
			  "failed\", remote=[127.0.0.1], or a hang at the start.",
		.remedy =
			"Give the host name the node's address in /etc/hosts (Debian writes 127.0.1.1 there). Or set "
			"GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME for the jobs.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"/etc/hosts, /etc/nsswitch.conf, the host name; GLOO_SOCKET_IFNAME and "
			"NCCL_SOCKET_IFNAME of the job, and the like of NVSHMEM, TensorPipe and Open MPI; whether it is "
			"a Slurm or a Kubernetes node.",
		.why = "Without GLOO_SOCKET_IFNAME Gloo looks up the host name and listens on that address. A job on one "
		       "node works. If the job names its interface to another library, the finding is a note: NCCL and others "
		       "do not look the name up. So it is on a node of Slurm or Kubernetes without a wish for RDMA. "
		       "DNS is not asked, so a name that is not in the file is unknown if DNS could have it.",
		.check = "getent ahosts $(hostname)",
		.sources = "PyTorch (2026-06): torch/csrc/distributed/c10d/ProcessGroupGloo.cpp, "
			   "createDefaultDevice()\n"
			   "nsswitch.conf(5), hosts(5), nss-myhostname(8)\n"
			   "github.com/aws-samples/aws-do-eks pulls 50, 69",
	},
	{
		.id = "net/duplicate-subnet-routes",
		.title = "Connections use the wrong interface: two interfaces have the same subnet",
		.profiles = PROFILE_RDMA_ANY | PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_duplicates,
		.impact =
			"Connections leave by the interface that came up first. NCCL connects over another "
			"interface than the one that is set.",
		.remedy =
			"Give each interface its own subnet, or give one of the routes a higher metric. Or set up a routing "
			"table and a rule by source address for each interface.",
		.activation = ACTIVATION_NOW,
		.reads =
			"/proc/net/route: on-link routes of interfaces that are up; /proc/net/fib_trie: further "
			"routing tables.",
		.why = "Of routes with the same destination and metric the kernel uses the first. Routing rules by source "
		       "address correct that. They are in no file, but need a table of their own: one with a route to the "
		       "subnet, or to everything, counts as such. Without a profile for RDMA, only interfaces of PCI "
		       "functions count. RDMA itself uses the GID's interface.",
		.check = "ip route show table all; ip rule",
		.sources =
			"github.com/NVIDIA/nccl issue 1581\nip-route(8) of iproute2 6.1.0: metric\nip-rule(8)\n"
			"Linux 6.1.192: net/ipv4/fib_trie.c, fib_table_print()",
	},
	{
		.id = "net/rp-filter-strict",
		.title =
			"Connections to an interface time out: the kernel drops packets that come in on it",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_filter,
		.follows = { "net/duplicate-subnet-routes" },
		.impact =
			"Connections to this interface's address time out. The first one of the subnet works.",
		.remedy = "Set rp_filter=2 for the interface, or give it its own subnet.",
		.activation = ACTIVATION_NOW,
		.reads =
			"/proc/net/route, routing tables in /proc/net/fib_trie, and rp_filter of interfaces that share a "
			"subnet and of conf/all.",
		.why = "With rp_filter=1 a packet is dropped if the best route to its sender is over another interface. Of two "
		       "interfaces in one subnet that is so for one. The higher value of conf/all and of the interface "
		       "counts. Routing rules by source address correct the way back: a table of their own counts as such.",
		.check =
			"sysctl -a | grep '\\.rp_filter'; ip rule; nstat -az TcpExtIPReversePathFilter",
		.sources =
			"Linux 6.1.192: Documentation/networking/ip-sysctl.rst (rp_filter)\nip-rule(8)",
	},
	{
		.id = "net/arp-flux",
		.title = "RoCE connections can use the wrong port: ports in one subnet answer ARP "
			 "for each other",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_INFO,
		.evaluate = check_arp,
		.impact =
			"A peer can send to the wrong port: connections time out, or all traffic uses one port.",
		.remedy =
			"Give each port its own subnet. Or set net.ipv4.conf.all.arp_ignore=1 and "
			"net.ipv4.conf.all.arp_announce=2 in sysctl.d, with routing rules by source address.",
		.fix = { "set-sysctl",
			 { "net.ipv4.conf.all.arp_ignore", "1", "net.ipv4.conf.all.arp_announce",
			   "2" } },
		.activation = ACTIVATION_NOW,
		.reads =
			"On-link routes; arp_ignore and arp_announce of interfaces that share a subnet.",
		.why = "By default Linux answers ARP for any of its addresses on any interface. With several ports in one "
		       "subnet another port than the one with the address can answer. A fabric with a subnet for each "
		       "rail does not have this.",
		.check = "sysctl net.ipv4.conf.all.arp_ignore net.ipv4.conf.all.arp_announce; ip "
			 "-br addr",
		.cost = "Services that need addresses answered on other interfaces change, for example some load "
			"balancers.",
		.is_risk = true,
		.sources =
			"Linux 6.1.192: Documentation/networking/ip-sysctl.rst, arp_ignore, arp_announce",
	},
};

RULE_TABLE(net);
