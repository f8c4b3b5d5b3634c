/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-gid.c - the GIDs that a job's environment selects (rule env/gid-index-wrong). */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/job-env.h"
#include "query/ports.h"

/* Without a setting these and later releases search for the GID; older ones use index 0.
 * NCCL: commit ab2b89c4 (2.21.5); NVSHMEM: release notes 3.1. */
#define NCCL_FINDS_GID "2.21"
#define NVSHMEM_FINDS_GID "3.1"

/* A library, and the variables by which it selects a GID. */
struct user {
	const char *name;
	const char *index;  /* variable */
	const char *family; /* NULL: it has no search of its own */
	const char *range;
	const char *version;
	const char *software; /* in the facts */
	const char *since;    /* it searches */
	bool nvshmem;
};

static const struct user users[] = {
	{ "NCCL", "NCCL_IB_GID_INDEX", "NCCL_IB_ADDR_FAMILY", "NCCL_IB_ADDR_RANGE",
	  "NCCL_IB_ROCE_VERSION_NUM", "nccl", NCCL_FINDS_GID, false },
	{ "NVSHMEM", "NVSHMEM_IB_GID_INDEX", "NVSHMEM_IB_ADDR_FAMILY", "NVSHMEM_IB_ADDR_RANGE",
	  "NVSHMEM_IB_ROCE_VERSION_NUM", "nvshmem", NVSHMEM_FINDS_GID, true },
	{ "UCX", "UCX_IB_GID_INDEX", NULL, NULL, NULL, NULL, NULL, false },
	{ "Mooncake", "MC_GID_INDEX", NULL, NULL, NULL, NULL, NULL, false },
};

static struct job_value value_of(struct rule_context *ctx, const struct user *u, const char *name)
{
	return u->nvshmem ? job_nvshmem(ctx->arena, ctx->node, name)
			  : job_nccl(ctx->arena, ctx->node, name);
}

/* ---- the search ---- */

struct search {
	bool ipv6;
	long version;
	struct gid range;
	unsigned int prefix; /* 0: no range */
	struct job_value family_value, range_value, version_value;
	bool range_ignored; /* it is not one for that family */
};

static struct search search_of(struct rule_context *ctx, const struct user *u)
{
	struct search s = { .version = 2 };

	s.family_value = value_of(ctx, u, u->family);
	s.range_value = value_of(ctx, u, u->range);
	s.version_value = value_of(ctx, u, u->version);
	s.ipv6 = s.family_value.value && strcmp(s.family_value.value, "AF_INET6") == 0;
	job_number(&s.version_value, &s.version);
	if (!s.range_value.value)
		return s;
	s.range_ignored = !strchr(s.range_value.value, '/') ||
			  !gid_from_address(span_of(s.range_value.value), &s.range, &s.prefix) ||
			  gid_is_ipv4(&s.range) == s.ipv6;
	if (s.range_ignored)
		s.prefix = 0;
	return s;
}

static long version_of(const struct rdma_gid *g)
{
	return str_is(g->type, "RoCE v2") ? 2 : 1;
}

static bool is_valid(const struct gid *address)
{
	return !gid_is_zero(address) && !gid_is_link_local(address);
}

/* NCCL: src/transport/net_ib/connect.cc, ncclIbGetGidIndex() and ncclUpdateGidIndex(), which
 * NVSHMEM has too (transport_ib_common.h). The entry that it ends at, or NULL for an empty one. */
static const struct rdma_gid *search_gid(const struct rdma_port *p, const struct search *s)
{
	const struct rdma_gid *best = port_gid(p, 0);
	struct gid own = { 0 }, candidate;

	if (best)
		gid_parse(span_of(best->gid.value), &own);
	for_each(g, &p->gids) {
		bool fits;

		if (g->index.value == 0 || !gid_parse(span_of(g->gid.value), &candidate))
			continue;
		fits = gid_is_ipv4(&candidate) != s->ipv6 &&
		       (!s->prefix || gid_is_within(&candidate, &s->range, s->prefix));
		if (!fits)
			continue;
		if (gid_is_ipv4(&candidate) == gid_is_ipv4(&own) &&
		    (!is_valid(&candidate) || version_of(g) != s->version ||
		     (is_valid(&own) && best && version_of(best) == version_of(g))))
			continue;
		best = g;
		own = candidate;
	}
	return best;
}

/* ---- one port ---- */

static const char *fault_of_gid(struct rule_context *ctx, const struct rdma_gid *g)
{
	struct gid address;

	if (!g || !gid_parse(span_of(g->gid.value), &address))
		return "is empty";
	if (gid_is_link_local(&address))
		return "is link-local and does not route";
	if (!str_is(g->type, "RoCE v2"))
		return is_known(g->type)
			       ? text_printf(ctx, "is %s, which does not route", g->type.value)
			       : "is of an unknown type";
	return NULL;
}

static const char *better_gid(struct rule_context *ctx, const struct rdma_device *d,
			      const struct rdma_port *p)
{
	const struct rdma_gid *good = port_job_gid(ctx->node, d, p);
	char text[GID_TEXT];
	struct gid address;

	if (!good)
		return "a RoCE v2 GID that routes (this port has none)";
	gid_parse(span_of(good->gid.value), &address);
	gid_format(text, &address);
	return text_printf(ctx, "index %" PRIu64 " (RoCE v2, %s)%s", good->index.value, text,
			   gid_is_stale(ctx->node, d, good)
				   ? ", when the interface has this address again"
				   : "");
}

/* An active Ethernet port that the job's list takes; without a list one that jobs use. */
static bool is_used(struct rule_context *ctx, const struct hca_list *list,
		    const struct rdma_device *d, const struct rdma_port *p)
{
	return port_is_ethernet(p) && port_is_active(p) && !is_management(ctx->endpoints, d) &&
	       hca_list_allows(list, d->name.value, (int)p->port.value) &&
	       (list->entries.n > 0 || is_job_nic(ctx->endpoints, d));
}

/* An index is of the whole job: another port of it can have no good GID there. NULL: each has one. */
static const char *port_without(struct rule_context *ctx, const struct rdma_port *own,
				const struct job_value *set, uint64_t index)
{
	bool nvshmem = starts_with(set->name, "NVSHMEM_");
	struct hca_list list = job_nic_list(ctx->arena, ctx->node, nvshmem);

	for_each_port(d, p, ctx->node) {
		const struct rdma_gid *g = port_gid(p, index);

		if (p == own || !is_used(ctx, &list, d, p))
			continue;
		if (!g || !gid_is_usable(g) || gid_is_stale(ctx->node, d, g))
			return text_printf(ctx, "%s port %" PRIu64, d->name.value, p->port.value);
	}
	return NULL;
}

static const char *setting_text(struct rule_context *ctx, const struct rdma_device *d,
				const struct rdma_port *p, const struct job_value *set)
{
	const struct rdma_gid *good = port_job_gid(ctx->node, d, p);
	const char *bad = good ? port_without(ctx, p, set, good->index.value) : NULL;

	/* Its address comes first: rdma/gid-stale-address. */
	if (!good || gid_is_stale(ctx->node, d, good))
		return NULL;
	return bad ? text_printf(ctx,
				 "no index is right for all ports (GID %" PRIu64
				 " of %s is not usable)",
				 good->index.value, bad)
		   : text_printf(ctx, "set %s=%" PRIu64, set->name, good->index.value);
}

/* Without the index these libraries look for the GID themselves; others have only the index. */
static const char *remedy_index(struct rule_context *ctx, const struct rdma_device *d,
				const struct rdma_port *p, const struct job_value *set)
{
	const char *text = setting_text(ctx, d, p, set);

	if (starts_with(set->name, "NCCL_"))
		return text_printf(ctx,
				   "Unset %s: NCCL from " NCCL_FINDS_GID " on finds the GID.%s%s%s",
				   set->name, text ? " With an older one, " : "", text ? text : "",
				   text ? "." : "");
	if (starts_with(set->name, "NVSHMEM_"))
		return text_printf(
			ctx, "Unset %s: NVSHMEM from " NVSHMEM_FINDS_GID " on finds the GID.%s%s%s",
			set->name, text ? " With an older one, " : "", text ? text : "",
			text ? "." : "");
	return text ? text_printf(ctx, "%c%s.", *text - 'a' + 'A', text + 1) : NULL;
}

/* The search of a library, without an index, ends at a wrong GID. SET: a variable that directs the search, or NULL. */
static const char *remedy_search(struct rule_context *ctx, const struct rdma_device *d,
				 const struct rdma_port *p, const struct user *u,
				 const struct job_value *set)
{
	struct job_value index = { .name = u->index };
	const char *text = setting_text(ctx, d, p, &index);

	if (set)
		return text_printf(ctx, "Correct %s, or unset it.", set->name);
	return text && starts_with(text, "set ")
		       ? text_printf(ctx, "S%s, or set %s to the subnet of the fabric.", text + 1,
				     u->range)
		       : text_printf(ctx, "Set %s to the subnet of the fabric.", u->range);
}

/* INDEX: of a variable, of an old release or of a search. */
static void fail_gid(struct rule_context *ctx, const struct rdma_device *d,
		     const struct rdma_port *p, const char *who, const struct rdma_gid *g,
		     uint64_t index, const char *remedy, const char *fact)
{
	FAIL(ctx, .subject = port_name(ctx->arena, d, p),
	     .title = text_printf(ctx, "RoCE connections fail: %s, and GID %" PRIu64 " %s", who,
				  index, fault_of_gid(ctx, g)),
	     .observed = text_printf(ctx, "%s: entry %" PRIu64 " %s", who, index,
				     fault_of_gid(ctx, g)),
	     .expected = better_gid(ctx, d, p), .remedy = remedy,
	     .evidence = { fact,
			   g ? gid_fact(ctx->arena, d, p, g, "gid")
			     : port_fact(ctx->arena, d, p, "gids"),
			   g ? gid_fact(ctx->arena, d, p, g, "type") : NULL });
}

static bool entry_is_unknown(const struct rdma_gid *g)
{
	return g && (is_unknown(g->type) || is_unknown(g->gid));
}

static bool check_index(struct rule_context *ctx, const struct rdma_device *d,
			const struct rdma_port *p, const char *who, uint64_t index,
			const struct job_value *set)
{
	const char *fact = set ? set->fact : NULL;
	const struct rdma_gid *g = port_gid(p, index);

	if (entry_is_unknown(g))
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
			.evidence = { gid_fact(ctx->arena, d, p, g,
					       is_unknown(g->gid) ? "gid" : "type") });
	else if (fault_of_gid(ctx, g))
		fail_gid(ctx, d, p, who, g, index, set ? remedy_index(ctx, d, p, set) : NULL, fact);
	else
		return false;
	return true;
}

static bool check_search(struct rule_context *ctx, const struct rdma_device *d,
			 const struct rdma_port *p, const struct user *u)
{
	struct search s = search_of(ctx, u);
	const struct rdma_gid *g = search_gid(p, &s);
	const struct job_value *set = s.range_value.value     ? &s.range_value
				      : s.family_value.value  ? &s.family_value
				      : s.version_value.value ? &s.version_value
							      : NULL;
	const char *who = set ? text_printf(ctx, "%s with %s", u->name,
					    job_value_text(ctx->arena, ctx->node, set))
			      : text_printf(ctx, "%s without settings", u->name);

	/* If no GID routes, rdma/no-rocev2-gid reports that. */
	if (!port_usable_gid(p))
		return false;
	if (s.range_ignored && set) {
		FAIL_AS(ctx, SEVERITY_WARN, .subject = port_name(ctx->arena, d, p),
			.observed = text_printf(ctx, "%s is not a range of %s: %s ignores it",
						job_value_text(ctx->arena, ctx->node, set),
						s.ipv6 ? "IPv6" : "IPv4", u->name),
			.expected = text_printf(ctx, "ADDRESS/BITS of the family in %s", u->family),
			.remedy = text_printf(
				ctx,
				"Give %s an address range of %s, or correct %s: both must "
				"name one family.",
				set->name, s.ipv6 ? "IPv6" : "IPv4", u->family),
			.evidence = { set->fact });
		return true;
	}
	if (!fault_of_gid(ctx, g) || entry_is_unknown(g))
		return false;
	fail_gid(ctx, d, p, who, g, g ? g->index.value : 0, remedy_search(ctx, d, p, u, set),
		 set ? set->fact : "env.variables");
	return true;
}

/* ---- one user ---- */

static bool is_old(struct rule_context *ctx, const struct user *u,
		   const struct software_item **item)
{
	*item = u->software ? node_software(ctx->node, u->software) : NULL;
	return *item && version_compare((*item)->version.value, u->since) < 0;
}

/* The first entry is of the link alone, and serves nodes of one Ethernet segment (Linux:
 * drivers/infiniband/core/verbs.c, ib_resolve_unicast_gid_dmac()). */
static bool check_first_entry(struct rule_context *ctx, const struct user *u,
			      const struct software_item *item, const struct rdma_device *d,
			      const struct rdma_port *p)
{
	const struct rdma_gid *g = port_gid(p, 0);

	if (entry_is_unknown(g))
		return check_index(ctx, d, p, u->name, 0, NULL);
	if (!fault_of_gid(ctx, g))
		return false;
	FAIL_AS(ctx, SEVERITY_WARN, .subject = port_name(ctx->arena, d, p),
		.observed = text_printf(
			ctx,
			"%s %s without %s uses entry 0, which reaches only nodes of the "
			"same Ethernet segment",
			u->name, item->version.value, u->index),
		.evidence = { software_version_fact(ctx->arena, item),
			      port_fact(ctx->arena, d, p, "gids") });
	return true;
}

static bool check_user_port(struct rule_context *ctx, const struct user *u,
			    const struct job_value *index, const struct rdma_device *d,
			    const struct rdma_port *p)
{
	const struct software_item *item;
	long number = -1;

	if (index->value && job_number(index, &number) && number >= 0)
		return check_index(ctx, d, p, job_value_text(ctx->arena, ctx->node, index),
				   (uint64_t)number, index);
	if (is_old(ctx, u, &item) && port_usable_gid(p))
		return check_first_entry(ctx, u, item, d, p);
	return u->family && check_search(ctx, d, p, u);
}

/* Without NCCL between nodes only an index that is set counts: who sets one uses RDMA. */
static bool is_asked(struct rule_context *ctx, const struct user *u, const struct job_value *index)
{
	if (!expects_nccl(ctx))
		return index->value;
	if (u->nvshmem)
		return index->value || is_asked_for(ctx, PROFILE_DEEPEP);
	return index->value || u->family;
}

struct tally {
	size_t ports, bad;
};

static void check_user(struct rule_context *ctx, const struct user *u, struct tally *t)
{
	struct job_value index = value_of(ctx, u, u->index);
	struct hca_list list = job_nic_list(ctx->arena, ctx->node, u->nvshmem);

	if (!is_asked(ctx, u, &index))
		return;
	for_each_port(d, p, ctx->node) {
		if (!is_used(ctx, &list, d, p))
			continue;
		t->ports++;
		if (is_known(p->gids)) {
			t->bad += check_user_port(ctx, u, &index, d, p);
			continue;
		}
		t->bad++;
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
			.evidence = { port_fact(ctx->arena, d, p, "gids") });
	}
}

static void check_gid_index(struct rule_context *ctx)
{
	struct tally t = { 0 };

	if (skip_without_rdma_device(ctx) || skip_without_nccl_variables(ctx) ||
	    skip_without_nvshmem_variables(ctx))
		return;
	/* The PCI tree decides which ports jobs use, and which manage the node. */
	if (!was_read(ctx->node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(users) && !t.bad; i++)
		check_user(ctx, &users[i], &t);
	if (t.bad)
		return;
	if (t.ports)
		PASS(ctx, .evidence = { "env.variables", "rdma.devices" });
	else
		NOT_APPLICABLE(ctx,
			       .observed = expects_nccl(ctx)
						   ? "no active Ethernet port that jobs use"
						   : "no index is set",
			       .evidence = { "rdma.devices" });
}

static const struct rule env_gid_rules[] = {
	{
		.id = "env/gid-index-wrong",
		.title = "RoCE connections fail: a job sends from a GID that is not routable",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_gid_index,
		.impact = "Connections over RoCE fail or time out: NCCL \"completion with error "
			  "12\", NVSHMEM \"connect EPS failed\", ibv_modify_qp errors 22 and 110.",
		.remedy =
			"Unset the index, so that the library finds the GID: NCCL from " NCCL_FINDS_GID
			" on, NVSHMEM from " NVSHMEM_FINDS_GID
			" on. If there are several GIDs, set NCCL_IB_ADDR_RANGE and NCCL_IB_ADDR_FAMILY. Or set the "
			"index that this port has.",
		.activation = ACTIVATION_NEW_JOBS,
		.follows = { "rdma/no-rocev2-gid" },
		.reads = "NCCL_IB_GID_INDEX, _ADDR_FAMILY, _ADDR_RANGE and _ROCE_VERSION_NUM "
			 "(also in nccl.conf), the same of NVSHMEM, UCX_IB_GID_INDEX and "
			 "MC_GID_INDEX of the job; the GIDs of active Ethernet "
			 "ports that jobs use; NCCL and NVSHMEM on disk.",
		.why = "The order of GIDs follows the order in which the interface got its addresses. So one index can be "
		       "another GID on the next node or the next day. The right one is a RoCE v2 GID of an address that "
		       "is not link-local. If no index is set, the search of NCCL and NVSHMEM is repeated here. Older "
		       "releases use index 0; the highest version on disk counts, and the job may load another. "
		       "InfiniBand ports do not use the index. Without an RDMA profile only an index that is set is checked.",
		.check = "show_gids; NCCL_DEBUG=INFO shows \"GID\"",
		.sources = "NCCL 2.30.7: src/transport/net_ib/connect.cc, ncclIbGetGidIndex(); "
			   "docs/userguide/source/env.rst\n"
			   "NVSHMEM 3.5.1: src/modules/transport/common/transport_ib_common.h, "
			   "ib_get_gid_index()\n"
			   "github.com/NVIDIA/nccl issues 394, 426, 769; "
			   "github.com/kvcache-ai/Mooncake issue 204",
	},
};

RULE_TABLE(env_gid);
