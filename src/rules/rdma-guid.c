/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-guid.c - the identities of RDMA devices: none is zero, and no two are the same (rule rdma/guid-wrong). */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/gid.h"
#include "query/kind.h"
#include "query/node-find.h"
#include "query/ports.h"

/* Other drivers may leave it zero (efa before it reported one). A soft device takes it from its interface's
 * address, which VLANs share. */
static bool counts(const struct rdma_device *d)
{
	return str_is(d->driver, "mlx5_core") || str_is(d->driver, "mlx4_core");
}

/* An idle virtual function has no identity until it is given to a guest. */
static const struct rdma_port *active_port(const struct rdma_device *d)
{
	for_each(p, &d->ports)
		if (port_is_active(p))
			return p;
	return NULL;
}

static bool has_unknown_port(const struct rdma_device *d)
{
	for_each(p, &d->ports)
		if (is_unknown(p->state))
			return true;
	return false;
}

static bool is_zero(const char *guid)
{
	return strspn(guid, "0:") == strlen(guid);
}

static const char *guid_fact(struct rule_context *ctx, const struct rdma_device *d)
{
	return fact_path(ctx->arena, "rdma.devices", d->name.value, "node_guid");
}

/* The lower half of an InfiniBand port's first GID is its port GUID. */
static bool has_zero_port_guid(const struct rdma_port *p)
{
	static const unsigned char zero[8];
	const struct rdma_gid *g = port_is_ethernet(p) || !is_known(p->gids) ? NULL
									     : port_gid(p, 0);
	struct gid address;

	return g && is_known(g->gid) && gid_parse(span_of(g->gid.value), &address) &&
	       memcmp(address.raw + 8, zero, sizeof(zero)) == 0;
}

static const struct rdma_device *twin_of(const struct node *node, const struct rdma_device *d)
{
	for_each(other, &node->rdma.devices)
		if (other > d && counts(other) && active_port(other) &&
		    is_known(other->node_guid) && str_is(other->node_guid, d->node_guid.value))
			return other;
	return NULL;
}

/* The physical function of a virtual one gives it its GUID. If it is here, so is the administrator. */
static enum repaired_by who_repairs(const struct node *node, const struct rdma_device *d)
{
	const struct pci_device *pci = is_known(d->bdf) ? node_pci(node, d->bdf.value) : NULL;

	return pci && is_known(pci->physical_function) ? BY_ADMIN : BY_HOST;
}

static void check_device(struct rule_context *ctx, const struct rdma_device *d,
			 const struct rdma_port *p)
{
	const struct rdma_device *twin;

	if (!is_known(d->node_guid)) {
		UNKNOWN(ctx, .subject = d->name.value, .evidence = { guid_fact(ctx, d) });
		return;
	}
	if (is_zero(d->node_guid.value)) {
		FAIL(ctx, .subject = d->name.value,
		     .observed = text_printf(ctx, "the node GUID is %s", d->node_guid.value),
		     .expected = "a node GUID that is not zero",
		     .repaired_by = who_repairs(ctx->node, d), .evidence = { guid_fact(ctx, d) });
		return;
	}
	if (has_zero_port_guid(p)) {
		FAIL(ctx, .subject = d->name.value,
		     .observed = text_printf(ctx, "the port GUID in GID 0 of port %s is zero",
					     port_name(ctx->arena, d, p)),
		     .expected = "a port GUID that is not zero",
		     .evidence = { port_fact(ctx->arena, d, p, "gids") });
		return;
	}
	twin = twin_of(ctx->node, d);
	if (twin)
		FAIL(ctx, .subject = d->name.value,
		     .observed = text_printf(ctx, "%s has the same node GUID %s", twin->name.value,
					     d->node_guid.value),
		     .expected = "a node GUID of its own",
		     .evidence = { guid_fact(ctx, d), guid_fact(ctx, twin) });
}

/* ---- functions that pods get ---- */

/* A virtual function with its driver and without a GUID, that no pod has yet. The driver takes the GUID when it is
 * bound, so that it is too late once a pod has the function. */
static bool is_bare_function(const struct node *node, const struct rdma_device *d)
{
	const struct pci_device *pci = is_known(d->bdf) ? node_pci(node, d->bdf.value) : NULL;

	return pci && is_known(pci->physical_function) && !active_port(d) && !has_unknown_port(d) &&
	       is_known(d->node_guid) && is_zero(d->node_guid.value);
}

static void check_idle(struct rule_context *ctx)
{
	struct kind_answer kubernetes = kind_find(ctx->node, KIND_KUBERNETES, ctx->arena);
	bool on_host = node_is(ctx->node, KIND_BARE_METAL);

	if (!known_is(kubernetes.is, true))
		return;
	for_each(d, &ctx->node->rdma.devices)
		if (counts(d) && is_bare_function(ctx->node, d))
			FAIL(ctx, .subject = d->name.value,
			     .observed = text_printf(
				     ctx, "a virtual function for pods; its node GUID is %s",
				     d->node_guid.value),
			     .expected = "a node GUID that is not zero",
			     .repaired_by = on_host ? BY_ADMIN : BY_HOST,
			     .evidence = { guid_fact(ctx, d), kubernetes.fact });
}

static void check_guids(struct rule_context *ctx)
{
	size_t before = ctx->findings->count, seen = 0;
	bool unread = false; /* its owner, or whether it is active */

	if (skip_without_rdma_device(ctx))
		return;
	for_each(d, &ctx->node->rdma.devices) {
		const struct rdma_port *p = counts(d) ? active_port(d) : NULL;

		unread |= !was_read(ctx->node->pci.devices) || is_unknown(d->driver) ||
			  has_unknown_port(d);
		if (!p)
			continue;
		seen++;
		check_device(ctx, d, p);
	}
	check_idle(ctx);
	if (ctx->findings->count > before)
		return;
	if (seen)
		PASS(ctx, .evidence = { "rdma.devices" });
	else if (unread)
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = "no active ConnectX port",
			       .evidence = { "rdma.devices" });
}

static const struct rule rdma_guid_rules[] = {
	{
		.id = "rdma/guid-wrong",
		.title = "RDMA connections fail: a device has no GUID, or that of another",
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_WARN,
		.evaluate = check_guids,
		.impact =
			"rdma_cm finds no device for an address, and libraries that tell devices apart by their GUID mix "
			"them up. On InfiniBand the subnet manager does not bring the port up.",
		.remedy =
			"On the host give the virtual function its identity, with ip link set, the name of the physical function, vf and "
			"the function's number: node_guid and port_guid on InfiniBand, mac on Ethernet. Then unbind its driver and bind "
			"it again, or create the pod again.",
		.repaired_by = BY_HOST,
		.activation = ACTIVATION_NOW,
		.reads =
			"node_guid of ConnectX devices with an active port, and on nodes of Kubernetes of idle virtual functions; "
			"GID 0 of InfiniBand ports.",
		.why = "A virtual function of SR-IOV starts without GUIDs. The plug-in that gives it to a job has to set "
		       "them before the driver is bound. Elsewhere functions without an active port are idle and left out.",
		.check = "cat /sys/class/infiniband/*/node_guid; ip link show PF",
		.sources = "ip-link(8) of iproute2 6.1.0: vf NUM node_guid, port_guid\n"
			   "github.com/openshift/sriov-network-device-plugin issue 20, "
			   "github.com/k8snetworkplumbingwg/sriov-network-operator issue 267",
	},
};

RULE_TABLE(rdma_guid);
