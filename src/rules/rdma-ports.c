/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-ports.c - the links of RDMA ports (rules rdma/...): configured, of one link layer, stable, in the partition
 * that jobs use. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/settings.h"
#include "evaluate/skip.h"
#include "query/job-env.h"
#include "query/ports.h"

/* ---- rdma/port-init-no-sm ---- */

static bool others_are_active(const struct rule_context *ctx)
{
	for_each_port(d, p, ctx->node)
		if (port_is_infiniband(p) && port_is_active(p) && !is_management(ctx->endpoints, d))
			return true;
	return false;
}

static void check_init(struct rule_context *ctx, const struct rdma_device *d,
		       const struct rdma_port *p)
{
	const char *state = port_fact(ctx->arena, d, p, "state"),
		   *sm = port_fact(ctx->arena, d, p, "sm_lid");

	if (known_is(p->sm_lid, 0))
		FAIL(ctx, .subject = port_name(ctx->arena, d, p),
		     .observed =
			     "INIT: the link is up, and no subnet manager has configured the port (sm_lid 0)",
		     .expected = "ACTIVE",
		     .remedy =
			     others_are_active(ctx)
				     ? "Other ports are ACTIVE, so their fabric has a subnet manager: do not start a "
				       "second one. Check that the cable leads to a switch of that fabric, and ask its "
				       "administrator why the subnet manager does not accept the port."
				     : NULL,
		     .evidence = { state, sm });
	else if (is_known(p->sm_lid))
		FAIL_AS(ctx, SEVERITY_WARN, .subject = port_name(ctx->arena, d, p),
			.observed = text_printf(ctx,
						"INIT: the subnet manager at LID %" PRIu64
						" has not configured the port yet",
						p->sm_lid.value),
			.expected = "ACTIVE", .evidence = { state, sm });
	else
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p), .evidence = { sm });
}

static void check_no_sm(struct rule_context *ctx)
{
	size_t good = 0, seen = 0, before;

	if (skip_without_rdma_device(ctx))
		return;
	before = ctx->findings->count;
	for_each_port(d, p, ctx->node) {
		if (port_is_ethernet(p) || is_management(ctx->endpoints, d))
			continue;
		seen++;
		if (!is_known(p->state) || !is_known(p->link_layer))
			UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
				.evidence = {
					port_fact(ctx->arena, d, p,
						  is_known(p->state) ? "link_layer" : "state") });
		else if (p->state.value == RDMA_PORT_INIT && port_is_infiniband(p))
			check_init(ctx, d, p);
		else
			good++;
	}
	if (ctx->findings->count > before)
		return;
	if (good)
		PASS(ctx, .evidence = { "rdma.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = seen ? "no port" : "no InfiniBand port",
			       .evidence = { "rdma.devices" });
}

/* ---- rdma/link-flapping ---- */

/* Errors of the link itself; port_rcv_errors and buffer overruns have other reasons too. */
static bool is_link_counter(const struct rdma_counter *c)
{
	return str_is(c->name, "link_downed") || str_is(c->name, "symbol_error") ||
	       str_is(c->name, "local_link_integrity_errors") ||
	       str_is(c->name, "link_error_recovery");
}

static void check_counters(struct rule_context *ctx, const struct rdma_device *d,
			   const struct rdma_port *p)
{
	uint64_t limit = ctx->settings ? ctx->settings->link_errors_max : 0, most = 0;
	struct arena_list seen = { 0 };
	const char *fact = NULL;
	bool unread = false;

	for_each(c, &p->counters) {
		unread |= is_link_counter(c) && is_unknown(c->value);
		if (!is_link_counter(c) || !is_known(c->value) || c->value.value == 0)
			continue;
		arena_list(&seen, ctx->arena,
			   text_printf(ctx, "%s %" PRIu64, c->name.value, c->value.value));
		if (c->value.value < most)
			continue;
		most = c->value.value;
		fact = text_printf(ctx, "%s[%s].value", port_fact(ctx->arena, d, p, "counters"),
				   c->name.value);
	}
	if (!fact && unread)
		UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
			.evidence = { port_fact(ctx->arena, d, p, "counters") });
	else if (!fact)
		PASS(ctx, .subject = port_name(ctx->arena, d, p),
		     .evidence = { port_fact(ctx->arena, d, p, "counters") });
	else
		FAIL_AS(ctx, limit && most > limit ? SEVERITY_WARN : SEVERITY_INFO,
			.subject = port_name(ctx->arena, d, p), .observed = arena_listed(&seen),
			.expected = limit ? text_printf(ctx, "at most %" PRIu64 " each", limit)
					  : "none",
			.evidence = { fact });
}

static void check_flapping(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_rdma_device(ctx))
		return;
	before = ctx->findings->count;
	for_each_port(d, p, ctx->node) {
		if (is_management(ctx->endpoints, d) || is_absent(p->counters))
			continue;
		if (is_unknown(p->counters))
			UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
				.evidence = { port_fact(ctx->arena, d, p, "counters") });
		else
			check_counters(ctx, d, p);
	}
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx,
			       .observed = "no port has counters of its own (virtual functions)",
			       .evidence = { "rdma.devices" });
}

/* ---- rdma/link-layer-mixed ---- */

struct layers {
	size_t infiniband, ethernet, unknown;
};

/* Counts the link layers of the ports that are in use; with JOBS, of those that jobs use. */
static struct layers count_layers(const struct rule_context *ctx, bool jobs)
{
	struct layers n = { 0 };

	for_each_port(d, p, ctx->node) {
		if (is_management(ctx->endpoints, d) || (jobs && !is_job_nic(ctx->endpoints, d)))
			continue;
		if (!port_is_active(p) && is_known(p->state))
			continue;
		n.infiniband += port_is_infiniband(p);
		n.ethernet += port_is_ethernet(p);
		n.unknown += !is_known(p->state) || !is_known(p->link_layer);
	}
	return n;
}

static void check_mixed(struct rule_context *ctx)
{
	struct layers jobs, all;

	if (skip_without_rdma_device(ctx))
		return;
	jobs = count_layers(ctx, true);
	all = count_layers(ctx, false);
	if (jobs.infiniband && jobs.ethernet && !ctx->endpoints->complete)
		UNKNOWN(ctx, .observed = "which NICs jobs use is not known",
			.evidence = { "pci.devices" });
	else if (jobs.infiniband && jobs.ethernet && !expects_nccl(ctx))
		NOTE(ctx,
		     .observed = text_printf(ctx,
					     "%zu InfiniBand and %zu Ethernet ports are active",
					     jobs.infiniband, jobs.ethernet),
		     .evidence = { "rdma.devices" });
	else if (jobs.infiniband && jobs.ethernet)
		FAIL(ctx,
		     .observed = text_printf(
			     ctx,
			     "%zu InfiniBand and %zu Ethernet ports are active among the "
			     "NICs that jobs use",
			     jobs.infiniband, jobs.ethernet),
		     .expected = "one link layer", .follows = "rdma/link-type-eth",
		     .follows_any = true, .evidence = { "rdma.devices" });
	else if (all.infiniband && all.ethernet)
		NOTE(ctx,
		     .observed = text_printf(
			     ctx,
			     "%zu InfiniBand and %zu Ethernet ports are active; the NICs next to "
			     "the GPUs are %s",
			     all.infiniband, all.ethernet,
			     jobs.infiniband ? "InfiniBand" : "Ethernet"),
		     .evidence = { "rdma.devices" });
	else if (all.unknown)
		UNKNOWN(ctx, .observed = "state or link layer of a port is not known",
			.evidence = { "rdma.devices" });
	else if (all.infiniband || all.ethernet)
		PASS(ctx, .observed = all.ethernet ? "all Ethernet" : "all InfiniBand",
		     .evidence = { "rdma.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = "no active port", .evidence = { "rdma.devices" });
}

/* ---- rdma/link-type-eth ---- */

/* Ports of devices of the same model, that one among them. */
static struct layers peers_of(const struct rule_context *ctx, const struct rdma_device *device)
{
	struct layers n = { 0 };

	for_each_port(d, p, ctx->node) {
		if (!is_known(d->hca_type) || !is_known(device->hca_type) ||
		    strcmp(d->hca_type.value, device->hca_type.value) != 0 ||
		    is_management(ctx->endpoints, d))
			continue;
		n.infiniband += port_is_infiniband(p);
		n.ethernet += port_is_ethernet(p);
	}
	return n;
}

static const char *type_command(struct rule_context *ctx, const struct rdma_device *d,
				const struct rdma_port *p)
{
	if (!is_known(d->bdf) || !is_known(p->port))
		return NULL;
	return shell_printf(ctx->arena, "sudo mlxconfig -d %s set LINK_TYPE_P%s=1", d->bdf.value,
			    text_printf(ctx, "%" PRIu64, p->port.value));
}

/* That most ports of a model are InfiniBand only makes it likely: a storage port can be Ethernet on purpose. */
static const char *type_remedy(struct rule_context *ctx, const struct rdma_device *d)
{
	return text_printf(
		ctx,
		"Is %s meant to be Ethernet? Yes: name only the other NICs in NCCL_IB_HCA and "
		"NVSHMEM_HCA_LIST, for all jobs in /etc/nccl.conf. No: set the link type of its port "
		"to InfiniBand in the NIC's firmware.",
		d->name.value);
}

/* The commands for both answers. */
static const char *choice_commands(struct rule_context *ctx, const struct rdma_device *d,
				   const struct rdma_port *p)
{
	const char *list = job_nic_example(ctx->arena, ctx->node, ctx->endpoints, "NCCL_IB_HCA");
	const char *nvshmem = job_nic_example(ctx->arena, ctx->node, ctx->endpoints,
					      "NVSHMEM_HCA_LIST");
	const char *type = type_command(ctx, d, p);

	if (!list || !nvshmem || !type)
		return type;
	return text_printf(ctx, "# Yes, for jobs:\nNCCL_IB_HCA=%s\nNVSHMEM_HCA_LIST=%s\n# No:\n%s",
			   list, nvshmem, type);
}

static void check_type(struct rule_context *ctx)
{
	const struct expectation *expected = ctx->settings
						     ? settings_expect(ctx->settings, "link-layer")
						     : NULL;
	bool wanted = expected && strcmp(expected->value, "InfiniBand") == 0;
	size_t infiniband = 0, unknown = 0, before;

	if (skip_without_rdma_device(ctx))
		return;
	before = ctx->findings->count;
	for_each_port(d, p, ctx->node) {
		struct layers peers = peers_of(ctx, d);

		infiniband += port_is_infiniband(p);
		unknown += !is_known(p->link_layer);
		if (!port_is_ethernet(p) || is_management(ctx->endpoints, d) ||
		    is_fast_path(ctx->endpoints, d) ||
		    (!wanted && peers.infiniband <= peers.ethernet))
			continue;
		FAIL(ctx, .subject = port_name(ctx->arena, d, p),
		     .observed =
			     wanted ? "Ethernet"
				    : text_printf(
					      ctx,
					      "Ethernet; %zu port%s of the same model %s InfiniBand, so "
					      "this is probably a mistake",
					      peers.infiniband, peers.infiniband == 1 ? "" : "s",
					      peers.infiniband == 1 ? "is" : "are"),
		     .expected = wanted ? text_printf(ctx, "InfiniBand (%s)", expected->file)
					: "InfiniBand, as its peers",
		     .remedy = wanted ? NULL : type_remedy(ctx, d),
		     .command = wanted ? type_command(ctx, d, p) : choice_commands(ctx, d, p),
		     .evidence = { port_fact(ctx->arena, d, p, "link_layer") });
	}
	if (ctx->findings->count > before)
		return;
	if (unknown)
		UNKNOWN(ctx, .observed = "the link layer of a port is not known",
			.evidence = { "rdma.devices" });
	else if (infiniband)
		PASS(ctx, .evidence = { "rdma.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = "no InfiniBand port, and none expected",
			       .evidence = { "rdma.devices" });
}

/* ---- rdma/pkey-missing ---- */

#define PKEY_DEFAULT 0x7fff /* without the membership bit; InfiniBand specification, 10.9.1.2 */
#define PKEY_FULL 0x8000

/* 0: not there, 1: limited member, 2: full member */
static int membership(const struct rdma_port *p, uint64_t wanted)
{
	int found = 0;

	for (uint32_t i = 0; i < p->pkeys.count; i++) {
		uint64_t pkey;

		if (span_u64(span_of(p->pkeys.items[i]), 16, &pkey) ||
		    (pkey & PKEY_DEFAULT) != (wanted & PKEY_DEFAULT))
			continue;
		if (pkey & PKEY_FULL)
			return 2;
		found = 1;
	}
	return found;
}

/* Returns true if the first entry, which NCCL uses, is the default key of a limited member. */
static bool is_limited_first(const struct rdma_port *p)
{
	uint64_t pkey;

	return span_u64(span_of(p->pkeys.items[0]), 16, &pkey) == 0 && pkey == PKEY_DEFAULT;
}

/* Returns the first key of which the port is a full member, or NULL. */
static const char *full_member(const struct rdma_port *p)
{
	for (uint32_t i = 0; i < p->pkeys.count; i++) {
		uint64_t pkey;

		if (span_u64(span_of(p->pkeys.items[i]), 16, &pkey) == 0 && pkey & PKEY_FULL)
			return p->pkeys.items[i];
	}
	return NULL;
}

/* Gets the key that the job sets. NCCL_IB_PKEY and NVSHMEM_IB_PKEY_INDEX are indexes; the others are keys. */
static bool wanted_pkey(struct rule_context *ctx, uint64_t *pkey, struct job_value *v)
{
	*v = job_env(ctx->arena, ctx->node, "UCX_IB_PKEY");
	if (v->value && span_u64(span_of(v->value), 0, pkey) == 0)
		return true;
	*v = job_nccl(ctx->arena, ctx->node, "NCCL_IB_PKEY_VALUE");
	return v->value && span_u64(span_of(v->value), 0, pkey) == 0;
}

/* FULL: the key of another partition, of which the port is a full member. */
static void fail_limited(struct rule_context *ctx, const struct rdma_device *d,
			 const struct rdma_port *p, const char *full)
{
	const char *fact = port_fact(ctx->arena, d, p, "pkeys"),
		   *subject = port_name(ctx->arena, d, p);

	FAIL(ctx, .subject = subject,
	     .title =
		     "NCCL between nodes can fail: a port is only a limited member of the default partition",
	     .observed = text_printf(ctx,
				     "limited member of 0x%x"
				     ", which NCCL uses without a setting; full member of %s",
				     PKEY_DEFAULT, full),
	     .expected = "a key of which the port is a full member",
	     .impact = "Two limited members of a partition cannot communicate.",
	     .remedy = text_printf(
		     ctx,
		     "Set NCCL_IB_PKEY to the index of %s in the port's table, for all jobs "
		     "in /etc/nccl.conf. Or make the ports full members in the subnet "
		     "manager's partitions.conf.",
		     full),
	     .command = "grep . /sys/class/infiniband/*/ports/*/pkeys/[0-7]", .evidence = { fact });
}

static void check_port_pkey(struct rule_context *ctx, const struct rdma_device *d,
			    const struct rdma_port *p)
{
	const char *fact = port_fact(ctx->arena, d, p, "pkeys"),
		   *subject = port_name(ctx->arena, d, p);
	struct job_value index = job_nccl(ctx->arena, ctx->node, "NCCL_IB_PKEY"), own;
	uint64_t pkey = PKEY_DEFAULT, number;
	bool set = wanted_pkey(ctx, &pkey, &own);
	bool has_index = index.value && span_u64(span_of(index.value), 0, &number) == 0;
	int member = membership(p, pkey);

	if (has_index && number >= p->pkeys.count)
		FAIL(ctx, .subject = subject,
		     .observed = text_printf(
			     ctx, "NCCL_IB_PKEY is index %" PRIu64 "; the table has %u entr%s",
			     number, p->pkeys.count, p->pkeys.count == 1 ? "y" : "ies"),
		     .expected = "the index of an entry", .evidence = { fact, index.fact });
	else if (set && !member)
		FAIL(ctx, .subject = subject,
		     .observed = text_printf(ctx, "no entry for 0x%" PRIx64 ", the key in %s", pkey,
					     job_value_text(ctx->arena, ctx->node, &own)),
		     .expected = "the job's partition key", .evidence = { fact, own.fact });
	else if (!set && !p->pkeys.count)
		FAIL(ctx, .subject = subject, .observed = "no partition key",
		     .expected = "0xffff, or the partition's key", .evidence = { fact });
	else if (!set &&
		 has_index) /* which entry it is depends on the empty ones, which are left out */
		PASS(ctx, .subject = subject, .evidence = { fact, index.fact });
	else if (!set && !member)
		FAIL(ctx, .subject = subject,
		     .observed = text_printf(ctx, "no default partition key; the first is %s",
					     p->pkeys.items[0]),
		     .expected = "0xffff, or a setting that names the partition's key",
		     .evidence = { fact });
	else if (!set && member == 1 && is_limited_first(p) && full_member(p))
		fail_limited(ctx, d, p, full_member(p));
	else if (member == 1)
		NOTE(ctx, .subject = subject,
		     .observed = text_printf(
			     ctx, "limited member of 0x%" PRIx64 ": it reaches full members only",
			     pkey & PKEY_DEFAULT),
		     .evidence = { fact });
	else
		PASS(ctx, .subject = subject, .evidence = { fact });
}

static void check_pkey(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_rdma_device(ctx))
		return;
	before = ctx->findings->count;
	for_each_port(d, p, ctx->node) {
		/* Until it is ACTIVE the subnet manager has not filled the table. */
		if (!port_is_infiniband(p) || !port_is_active(p) ||
		    is_management(ctx->endpoints, d))
			continue;
		if (!is_known(p->pkeys))
			UNKNOWN(ctx, .subject = port_name(ctx->arena, d, p),
				.evidence = { port_fact(ctx->arena, d, p, "pkeys") });
		else
			check_port_pkey(ctx, d, p);
	}
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no active InfiniBand port",
			       .evidence = { "rdma.devices" });
}

static const struct rule rdma_ports_rules[] = {
	{
		.id = "rdma/port-init-no-sm",
		.title = "A NIC carries no traffic: its InfiniBand port waits for a subnet manager",
		.is_short_effect = true,
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_ERR,
		.evaluate = check_no_sm,
		.on_site = true,
		.impact = "The port carries no traffic of jobs.",
		.remedy =
			"Ask the fabric's administrator why its subnet manager does not reach or accept this port. "
			"Start one (opensm) only on a fabric that has none.",
		.activation = ACTIVATION_NOW,
		.reads = "state and sm_lid of every InfiniBand port.",
		.why = "In INIT the link is up and no subnet manager has configured the port. If sm_lid names one, "
		       "it may still configure the port, so that is a warning. Ethernet ports need none.",
		.check = "ibstat; sminfo",
		.sources =
			"MLNX_OFED 5.3-1.0.0.1 documentation: OpenSM (one subnet manager must run for each subnet)\n"
			"Linux 6.1.192: Documentation/ABI/stable/sysfs-class-infiniband (state, sm_lid)",
	},
	{
		.id = "rdma/link-flapping",
		.title = "An RDMA link had errors or went down since the counters were reset",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_flapping,
		.impact =
			"Packets are sent again. A job hangs or ends if the link goes down during the job.",
		.remedy =
			"Check whether the counters still rise. If so, clean or replace cable and transceiver, and "
			"check the switch port.",
		.repaired_by = BY_HARDWARE,
		.reads = "counters/link_downed, symbol_error, link_error_recovery and "
			 "local_link_integrity_errors of every port.",
		.why = "A restart of the switch counts too. Above "
		       "zero is a note. Above link-errors-max in the section [limits] is a warning. No source gives a "
		       "number, so the site sets it.",
		.check = "perfquery -x; or grep . "
			 "/sys/class/infiniband/*/ports/*/counters/link_downed",
		.sources =
			"Linux 6.1.192: Documentation/ABI/stable/sysfs-class-infiniband (counters)",
	},
	{
		.id = "rdma/link-layer-mixed",
		.title = "Jobs can hang: InfiniBand and Ethernet ports are both active",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_mixed,
		.impact =
			"A job that uses all NICs connects InfiniBand with Ethernet: NCCL ends with ibv_modify_qp "
			"\"Invalid argument\", or hangs.",
		.remedy =
			"Name the NICs of one link layer in NCCL_IB_HCA and NVSHMEM_HCA_LIST, for all jobs in "
			"/etc/nccl.conf. Or set the ports to one link layer.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads = "link_layer of every active port.",
		.why = "Neither NCCL nor NVSHMEM sorts NICs by link layer before it selects them. The finding is a "
		       "warning among the NICs that jobs use: those of the model next to the GPUs. It is a note if "
		       "only others differ, for example storage NICs.",
		.check = "ibv_devinfo | grep -E 'hca_id|link_layer'",
		.sources = "NCCL 2.30.7: src/transport/net_ib/init.cc, ncclIbInitDevices()\n"
			   "github.com/NVIDIA/nccl issue 302",
	},
	{
		.id = "rdma/link-type-eth",
		.title = "A port is set to Ethernet, and InfiniBand is expected or more likely",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_type,
		.impact = "The port does not join the InfiniBand fabric.",
		.remedy =
			"Set the port's link type to InfiniBand in the NIC's firmware: LINK_TYPE_P1=1, of a second "
			"port LINK_TYPE_P2=1.",
		.then = THEN_REBOOT,
		.activation = ACTIVATION_REBOOT,
		.reads = "link_layer of every port; link-layer in the section [expect].",
		.why = "ConnectX VPI ports take either type from their firmware settings. A replaced card has the "
		       "setting that it was sold with. A port is wrong if the configuration expects InfiniBand, or if "
		       "most ports of the same model are InfiniBand.",
		.check = "ibv_devinfo | grep link_layer; mlxconfig -d BDF query LINK_TYPE_P1",
		.cost = "The NIC is reset: its connections end, also those of administrators.",
		.is_risk = true,
		.sources =
			"NVIDIA Firmware Tools (MFT) 4.34.1: Using mlxconfig (LINK_TYPE_P1)\n"
			"Linux 6.1.192: Documentation/ABI/stable/sysfs-class-infiniband (link_layer)",
	},
	{
		.id = "rdma/pkey-missing",
		.title = "Jobs cannot connect: a port's partition table lacks their key",
		.is_short_effect = true,
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_WARN,
		.evaluate = check_pkey,
		.needs_running = true,
		.impact = "Queue pairs cannot be made, or packets are dropped.",
		.remedy =
			"Make the port a member in the subnet manager's partitions.conf. Or set NCCL_IB_PKEY (an "
			"index) or UCX_IB_PKEY (a key) to an entry of the port's table.",
		.activation = ACTIVATION_NOW,
		.reads = "pkeys of every active InfiniBand port; NCCL_IB_PKEY, NCCL_IB_PKEY_VALUE "
			 "and UCX_IB_PKEY of the job.",
		.why = "Two ports can communicate only with a common key of which at least one is a full member. "
		       "Without a setting NCCL uses the entry at index 0, normally the default key 0xffff, and UCX the first "
		       "full member. NVSHMEM before 3.7 has no setting for it. Limited membership of the only partition is a note, because "
		       "it can be intended. NCCL has NCCL_IB_PKEY_VALUE after 2.30.7. The facts leave out empty entries, so an "
		       "index is compared with the number of entries that are set.",
		.check = "grep . /sys/class/infiniband/*/ports/*/pkeys/[0-7]",
		.sources =
			"NVIDIA WinOF-2 3.10.52010: InfiniBand Network, PKey Membership Types\n"
			"NCCL 2.30.7: src/transport/net_ib/connect.cc, NCCL_PARAM(IbPkey)\n"
			"UCX 9466d10 (2026-08-21): src/uct/ib/base/ib_iface.c, uct_ib_iface_init_pkey(); github.com/NVIDIA/nvshmem issue 82\n"
			"NCCL user guide (read in November 2026): Environment Variables, NCCL_IB_PKEY_VALUE",
	},
};

RULE_TABLE(rdma_ports);
