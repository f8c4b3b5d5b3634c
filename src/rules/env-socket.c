/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-socket.c - the interfaces over which the ranks of a job connect (rule env/socket-ifname). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/gid.h"
#include "query/job-env.h"
#include "query/ports.h"

/* ---- what an interface is good for ---- */

enum reach {
	REACH_NOTHING, /* down, or without address: it is not taken */
	REACH_UNKNOWN,
	REACH_HOST,	 /* loopback, link-local addresses alone, a container's bridge */
	REACH_NEIGHBOUR, /* a link of two ends and no route over it */
	REACH_NODES,
};

/* The names that container runtimes, their network plug-ins and hypervisors give. */
static bool is_container_interface(const char *name)
{
	static const char *const prefixes[] = { "docker",  "veth",   "br-",  "cni",    "cali",
						"flannel", "lxc",    "lxd",  "podman", "virbr",
						"vnet",	   "cilium", "kube", "nerdctl" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (starts_with(name, prefixes[i]))
			return true;
	return false;
}

static bool has_gateway(const struct node *node, const char *interface)
{
	if (!was_read(node->net.routes))
		return true; /* not known */
	for_each(r, &node->net.routes)
		if (is_known(r->gateway) && str_is(r->interface, interface))
			return true;
	return false;
}

static bool is_loopback(const struct gid *address)
{
	static const struct gid loopback = { .raw = { [15] = 1 } };

	return gid_is_ipv4(address) ? address->raw[12] == 127 : gid_is_equal(address, &loopback);
}

/* 169.254.0.0/16, fe80::/64 */
static bool is_local(const struct gid *address)
{
	return gid_is_ipv4(address) ? address->raw[12] == 169 && address->raw[13] == 254
				    : gid_is_link_local(address);
}

static enum reach reach_of(const struct node *node, const struct net_interface *interface)
{
	enum reach reach = REACH_NOTHING;

	if (!is_known(interface->state))
		return REACH_UNKNOWN;
	if (!interface_is_up(interface))
		return REACH_NOTHING;
	if (!is_known(interface->addresses))
		return REACH_UNKNOWN;
	for (uint32_t i = 0; i < interface->addresses.count; i++) {
		unsigned int prefix;
		struct gid address;
		enum reach one = REACH_NODES;

		if (!gid_from_address(span_of(interface->addresses.items[i]), &address, &prefix))
			continue;
		/* NCCL skips ::1 only. */
		if (is_loopback(&address) && !gid_is_ipv4(&address))
			continue;
		if (is_loopback(&address) || is_local(&address) ||
		    is_container_interface(interface->name.value))
			one = REACH_HOST;
		else if (prefix >= 127 && !has_gateway(node, interface->name.value))
			one = REACH_NEIGHBOUR;
		reach = one > reach ? one : reach;
	}
	return reach;
}

static bool has_ipv4(const struct net_interface *interface)
{
	for (uint32_t i = 0; i < interface->addresses.count; i++)
		if (!strchr(interface->addresses.items[i], ':'))
			return true;
	return false;
}

/* ---- what a list takes ---- */

struct taken {
	size_t count[REACH_NODES + 1];
	const char *names[REACH_NODES + 1]; /* the first of each */
	const char *poor;		    /* all that reach no other node, for people */
	bool poor_ipv4;			    /* one of them has an IPv4 address */
	bool any_name;			    /* of whatever state */
};

static struct taken take(struct rule_context *ctx, const struct hca_list *list)
{
	struct arena_list poor = { 0 };
	struct taken t = { .poor = "" };

	for_each(interface, &ctx->node->net.interfaces) {
		const char *name = interface->name.value;
		enum reach reach;

		if (!hca_list_allows(list, name, HCA_ANY_PORT))
			continue;
		t.any_name = true;
		reach = reach_of(ctx->node, interface);
		t.count[reach]++;
		if (!t.names[reach])
			t.names[reach] = name;
		if (reach != REACH_HOST && reach != REACH_NEIGHBOUR)
			continue;
		arena_list(&poor, ctx->arena, name);
		t.poor_ipv4 |= has_ipv4(interface);
	}
	if (poor.count)
		t.poor = arena_listed(&poor);
	return t;
}

static const char *interface_fact(struct rule_context *ctx, const char *name)
{
	return name ? fact_path(ctx->arena, "net.interfaces", name, "addresses") : "net.interfaces";
}

#define NAMED 8 /* interfaces that a remedy names */

/* The interfaces that can be meant; NULL: none has an address that other nodes reach. */
static const char *remedy_of(struct rule_context *ctx, const char *variable)
{
	const char *names = "", *first = NULL;
	size_t count = 0;

	for_each(interface, &ctx->node->net.interfaces) {
		if (reach_of(ctx->node, interface) != REACH_NODES)
			continue;
		first = first ? first : interface->name.value;
		if (count++ < NAMED)
			names = text_printf(ctx, "%s%s%s", names, *names ? ", " : "",
					    interface->name.value);
	}
	if (!count)
		return text_printf(ctx, "Set %s to the interface that connects the nodes.",
				   variable);
	if (count == 1)
		return text_printf(ctx, "Set %s=%s, the only interface that reaches other nodes.",
				   variable, first);
	return text_printf(
		ctx,
		"Set %s to the interface that connects the nodes, for example %s=%s. These reach other nodes: %s%s.",
		variable, variable, first, names, count > NAMED ? " and others" : "");
}

/* EXCLUDE: the value is a list of those that are not taken. */
static void check_taken(struct rule_context *ctx, const struct job_value *v, const struct taken *t,
			bool exclude)
{
	const char *bad = t->names[REACH_NOTHING];

	if (t->count[REACH_NODES] && !*t->poor)
		PASS(ctx, .subject = v->name,
		     .evidence = { v->fact, interface_fact(ctx, t->names[REACH_NODES]) });
	else if (t->count[REACH_UNKNOWN])
		UNKNOWN(ctx, .subject = v->name,
			.evidence = { interface_fact(ctx, t->names[REACH_UNKNOWN]) });
	else if (*t->poor)
		FAIL_AS(ctx,
			exclude && !t->count[REACH_NODES] ? ctx->rule->severity : SEVERITY_WARN,
			.subject = v->name,
			.observed = text_printf(
				ctx, "%s takes %s, which reach%s no other node",
				job_value_text(ctx->arena, ctx->node, v), t->poor,
				t->count[REACH_HOST] + t->count[REACH_NEIGHBOUR] == 1 ? "es" : ""),
			.expected = "only interfaces over which the nodes reach each other",
			.remedy = remedy_of(ctx, v->name),
			.evidence = {
				v->fact,
				interface_fact(ctx,
					       t->names[t->count[REACH_HOST] ? REACH_HOST
									     : REACH_NEIGHBOUR]) });
	else
		FAIL(ctx, .subject = v->name,
		     .observed = bad ? text_printf(ctx, "%s: %s is down or has no address",
						   job_value_text(ctx->arena, ctx->node, v), bad)
				     : text_printf(ctx, "%s matches no interface",
						   job_value_text(ctx->arena, ctx->node, v)),
		     .expected = "an interface that is up and has an address",
		     .remedy = remedy_of(ctx, v->name),
		     .evidence = { v->fact,
				   bad ? fact_path(ctx->arena, "net.interfaces", bad, "state")
				       : "net.interfaces" });
}

/* ---- the variables ---- */

/* NCCL_SOCKET_IFNAME=lo where no job between nodes is asked for: a choice for jobs of one node, which works. An
 * exclusion that forgets lo is not one. */
static bool is_for_one_node(const struct rule_context *ctx, const struct hca_list *list,
			    const struct taken *t)
{
	return !is_asked_for(ctx, PROFILE_RDMA_ANY) && !list->exclude && *t->poor;
}

static void check_list(struct rule_context *ctx, const struct job_value *v)
{
	struct hca_list list = hca_list_nccl(v->value);
	struct taken t;

	if (strlen(v->value) < 2) /* NCCL takes it for none */
		return;
	t = take(ctx, &list);
	if (is_for_one_node(ctx, &list, &t))
		NOTE(ctx, .subject = v->name,
		     .observed = text_printf(ctx, "%s takes %s: only ranks of this node connect",
					     job_value_text(ctx->arena, ctx->node, v), t.poor),
		     .evidence = { v->fact, "net.interfaces" });
	else
		check_taken(ctx, v, &t, list.exclude);
}

/* Whole names with commas between them, and each must do. Open MPI also takes subnets, which are not looked up. */
static const char *const of_names[] = { "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME",
					"OMPI_MCA_btl_tcp_if_include",
					"OMPI_MCA_oob_tcp_if_include" };
#define OF_NAMES (ARRAY_SIZE(of_names))

static void check_names(struct rule_context *ctx, const struct job_value *v)
{
	struct span rest = span_of(v->value);
	struct taken worst = { .poor = "" }, t;
	struct hca_entry entry;
	bool any = false;

	while (hca_entry_next(&rest, &entry)) {
		struct hca_list one = { .exact = true, .entries = entry.name };

		if (span_find(entry.name, '/') < entry.name.n)
			continue;
		t = take(ctx, &one);
		if (!any || !t.count[REACH_NODES])
			worst = t;
		any = true;
		if (!t.count[REACH_NODES])
			break;
	}
	if (any)
		check_taken(ctx, v, &worst, false);
}

/* NCCL's own choice (src/misc/socket.cc, ncclFindInterfaces): ib*, else all but docker*, lo* and virbr*. Only an
 * interface with IPv4 can be the first. Jobs of a Kubernetes node have their own network, unless they ask for the
 * host's: they do not see the bridges and links of other pods, which every such node has. */
static void check_automatic(struct rule_context *ctx)
{
	struct hca_list list = hca_list_nccl("ib");
	struct taken t = take(ctx, &list);

	if (t.count[REACH_NODES] + t.count[REACH_HOST] + t.count[REACH_NEIGHBOUR] == 0) {
		list = hca_list_nccl("^docker,lo,virbr");
		t = take(ctx, &list);
	}
	if (t.count[REACH_UNKNOWN])
		UNKNOWN(ctx, .evidence = { interface_fact(ctx, t.names[REACH_UNKNOWN]) });
	else if (*t.poor)
		FAIL_AS(ctx,
			t.poor_ipv4 && !node_is(ctx->node, KIND_KUBERNETES) ? SEVERITY_WARN
									    : SEVERITY_INFO,
			.subject = "NCCL_SOCKET_IFNAME",
			.observed = text_printf(
				ctx, "not set: NCCL also takes %s, which reaches no other node",
				t.poor),
			.expected = "NCCL_SOCKET_IFNAME set to the interface between the nodes",
			.remedy = remedy_of(ctx, "NCCL_SOCKET_IFNAME"),
			.evidence = {
				"env.variables",
				interface_fact(ctx,
					       t.names[t.count[REACH_HOST] ? REACH_HOST
									   : REACH_NEIGHBOUR]) });
	else if (t.count[REACH_NODES])
		PASS(ctx,
		     .observed = text_printf(ctx, "not set; NCCL takes %s", t.names[REACH_NODES]),
		     .evidence = { "env.variables", interface_fact(ctx, t.names[REACH_NODES]) });
	else
		NOT_APPLICABLE(ctx,
			       .observed = "not set, and no interface has an address that routes",
			       .evidence = { "net.interfaces" });
}

static void check_socket(struct rule_context *ctx)
{
	struct job_value nccl, nvshmem, other;
	size_t set = 0;

	if (skip_without_nccl_variables(ctx) || skip_without_nvshmem_variables(ctx))
		return;
	if (!is_known(ctx->node->net.interfaces)) {
		UNKNOWN(ctx, .evidence = { "net.interfaces" });
		return;
	}
	nccl = job_nccl(ctx->arena, ctx->node, "NCCL_SOCKET_IFNAME");
	nvshmem = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME");
	for (size_t i = 0; i < OF_NAMES; i++) {
		other = job_env(ctx->arena, ctx->node, of_names[i]);
		set += other.value != NULL;
		if (other.value)
			check_names(ctx, &other);
	}
	if (nccl.value && strlen(nccl.value) > 1)
		check_list(ctx, &nccl);
	else if (expects_nccl(ctx))
		check_automatic(ctx);
	else if (!nvshmem.value && !set)
		NOT_APPLICABLE(ctx, .observed = "not set, and no job between nodes is asked for",
			       .evidence = { "env.variables" });
	if (nvshmem.value)
		check_list(ctx, &nvshmem);
}

static const struct rule env_socket_rules[] = {
	{
		.id = "env/socket-ifname",
		.title = "Ranks cannot connect: a job uses the wrong network interface",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_socket,
		.impact =
			"NCCL ends with \"Bootstrap : no socket interface found\", or the ranks wait for each "
			"other forever.",
		.remedy = "Set the variable to the interface that connects the nodes.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads = "NCCL_SOCKET_IFNAME (also in nccl.conf), "
			 "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME, GLOO_SOCKET_IFNAME, TP_SOCKET_IFNAME, "
			 "OMPI_MCA_btl_tcp_if_include and OMPI_MCA_oob_tcp_if_include of the job; "
			 "interfaces, addresses and routes.",
		.why = "NCCL takes every interface that is up with a link, has an address and matches. If none is left, that is an "
		       "error. If one is left that reaches no other node, that is a warning: loopback, link-local "
		       "addresses only, the bridge or link of a container, or a /31 link without a route. Without the "
		       "variable NCCL's own choice is checked: a warning if such an interface has IPv4, else a note. On a "
		       "Kubernetes node it is a note, because jobs there have their own interfaces. NCCL's own choice leaves "
		       "lo out; a list replaces that choice, so ^docker0 takes lo. Without an RDMA profile only variables "
		       "that are set are checked.",
		.check =
			"ip -br addr; NCCL_SOCKET_IFNAME=bond0 is a prefix, =bond0 as a value the whole name, "
			"^docker,veth excludes; GLOO_SOCKET_IFNAME takes whole names only; NCCL_DEBUG=INFO shows \"Bootstrap: Using\"",
		.sources =
			"NCCL 2.30.7: src/misc/socket.cc, ncclFindInterfaces(); src/os/linux.cc, "
			"ncclOsFindInterfaces(); src/misc/utils.cc, matchIfList()\n"
			"NVSHMEM 3.5.1: src/modules/bootstrap/uid/ncclSocket/ncclsocket_socket.cpp\n"
			"PyTorch (2026-06): torch/csrc/distributed/c10d/ProcessGroupGloo.cpp, "
			"torch/csrc/distributed/rpc/tensorpipe_agent.cpp, guessAddress()\n"
			"Open MPI 4.1.6: opal/mca/btl/tcp/btl_tcp_component.c (if_include)\n"
			"github.com/NVIDIA/nccl issue 913",
	},
};

RULE_TABLE(env_socket);
