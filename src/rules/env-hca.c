/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-hca.c - the NICs that a job's environment selects (rule env/hca-selection). */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/hca-choice.h"
#include "query/job-env.h"
#include "query/names.h"
#include "query/ports.h"
#include "query/selection.h"

/* ---- one entry of a list ---- */

static const char *entry_fact(struct rule_context *ctx, const struct hca_entry_ports *a)
{
	return a->count[USABLE_NO_NODE]
		       ? fact_path(ctx->arena, "rdma.devices", a->device->name.value, "uverbs")
		       : port_fact(ctx->arena, a->device, a->port, "state");
}

static const char *entry_text(struct rule_context *ctx, const struct hca_entry *entry)
{
	if (entry->port == HCA_ANY_PORT)
		return text_printf(ctx, "%.*s", SPAN_FMT(entry->name));
	return text_printf(ctx, "%.*s:%d", SPAN_FMT(entry->name), entry->port);
}

/* The rule about the device, its node or its port; NULL: there is none. */
static const char *cause_of(const struct node *node, const struct hca_entry *entry,
			    const struct hca_entry_ports *a)
{
	if (!a->ports)
		return is_name_of_missing_device(node, entry->name) ? "rdma/device-missing" : NULL;
	return a->count[USABLE_NO_NODE] ? "dev/infiniband-not-accessible" : "rdma/port-not-active";
}

static const char *cause_subject(struct rule_context *ctx, const struct hca_entry_ports *a)
{
	if (!a->ports)
		return NULL;
	if (!a->count[USABLE_NO_NODE])
		return text_printf(ctx, "%s/%" PRIu64, a->device->name.value, a->port->port.value);
	return is_known(a->device->uverbs)
		       ? text_printf(ctx, "/dev/infiniband/%s", a->device->uverbs.value)
		       : NULL;
}

static bool is_renamed(const struct rdma_device *d)
{
	return !span_starts(span_of(d->name.value), "mlx5_") && str_is(d->driver, "mlx5_core");
}

#define NAMES_MOST 4

/* ": this node has mlx5_0, mlx5_1" */
static const char *names_text(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *text = "";

	if (!is_known(node->rdma.devices) || !node->rdma.devices.count)
		return "";
	if (node->rdma.devices.count > NAMES_MOST)
		text = "rdma link shows this node's names";
	for_each(d, &node->rdma.devices)
		if (is_renamed(d))
			return text_printf(
				ctx,
				"%s%s. If you rename %s to mlx5_N, do that first: the variable can "
				"be right then",
				*text ? ": " : "", text, d->name.value);
	if (*text)
		return text_printf(ctx, ": %s", text);
	for_each(d, &node->rdma.devices)
		text = text_printf(ctx, "%s%s%s", text, *text ? ", " : "", d->name.value);
	return text_printf(ctx, ": this node has %s", text);
}

static const char *example_text(struct rule_context *ctx, const char *variable)
{
	const char *list = job_nic_example(ctx->arena, ctx->node, ctx->endpoints, variable);

	return list ? text_printf(ctx, "%s=%s", variable, list) : "";
}

/* A line above the example, so that the example can be copied. nccl.conf(5) and a shell take it as a comment. */
static const char *example_remark(const char *example)
{
	return strstr(example, "==") ? "# The second \"=\" asks for whole names.\n" : "";
}

/* Of the variables that are such lists, where no device is to be renamed first; or "". */
static const char *example_of(struct rule_context *ctx, const char *variable)
{
	if (strcmp(variable, "NCCL_IB_HCA") != 0 && strcmp(variable, "NVSHMEM_HCA_LIST") != 0)
		return "";
	for_each(d, &ctx->node->rdma.devices)
		if (is_renamed(d))
			return "";
	return example_text(ctx, variable);
}

/* Answers for an entry that selects no usable port. */
static void fail_entry(struct rule_context *ctx, const struct job_value *v,
		       const struct hca_entry *entry, const struct hca_entry_ports *a,
		       const char *others)
{
	const char *name = entry_text(ctx, entry), *hint = "";
	bool odd = !a->ports && strcspn(name, " \t=^") < strlen(name);
	const char *example = a->ports ? "" : example_of(ctx, v->name);

	if (!a->ports && strcspn(name, " \t") < strlen(name))
		hint = " (the blank is part of the name)";
	else if (!a->ports && (name[0] == '=' || name[0] == '^'))
		hint = " (the sign is part of the name here)";
	FAIL(ctx, .subject = v->name,
	     .observed =
		     !a->ports ? text_printf(ctx, "%s: %s does not exist%s%s",
					     job_value_text(ctx->arena, ctx->node, v), name, hint,
					     others)
		     : a->count[USABLE_NO_NODE]
			     ? text_printf(ctx,
					   "%s: %s cannot be opened: it has no node in "
					   "/dev/infiniband%s",
					   job_value_text(ctx->arena, ctx->node, v), name, others)
			     : text_printf(ctx, "%s: no port of %s is active%s",
					   job_value_text(ctx->arena, ctx->node, v), name, others),
	     .expected = "NICs that exist, can be opened and are active",
	     .command = *example ? text_printf(ctx, "%s%s", example_remark(example), example)
				 : NULL,
	     .follows = cause_of(ctx->node, entry, a), .follows_any = !a->ports,
	     .follows_subject = cause_subject(ctx, a),
	     .remedy = text_printf(
		     ctx,
		     a->ports && !a->count[USABLE_NO_NODE]
			     ? "Bring %s up (rdma/port-not-active), or remove it from %s."
		     : a->ports ? "Give the job access to %s, or remove it from %s."
				: "Correct %s in %s%s.%s",
		     odd ? text_printf(ctx, "\"%s\"", name) : name, v->name, names_text(ctx),
		     *example ? " For example:" : ""),
	     .evidence = { v->fact, a->ports ? entry_fact(ctx, a) : "rdma.devices" });
}

/* "; also wrong: mlx5_5, mlx5_6" of the entries in REST, or "" */
static const char *others_text(struct rule_context *ctx, const struct hca_list *list,
			       struct span rest)
{
	struct hca_entry entry;
	const char *text = "";

	while (hca_entry_next(&rest, &entry)) {
		struct hca_entry_ports a = hca_ports_of_entry(ctx->node, list, &entry);

		if (!a.count[USABLE_YES] && !a.count[USABLE_UNKNOWN] &&
		    !hca_unread_device(ctx->node, list, &entry))
			text = text_printf(ctx, "%s%s%s", text, *text ? ", " : "; also wrong: ",
					   entry_text(ctx, &entry));
	}
	return text;
}

/* Reports the first wrong entry of a list that includes; true when there is one, or one that is not known. */
static bool check_entries(struct rule_context *ctx, const struct job_value *v,
			  const struct hca_list *list)
{
	struct span rest = list->entries;
	struct hca_entry entry;

	while (hca_entry_next(&rest, &entry)) {
		struct hca_entry_ports a = hca_ports_of_entry(ctx->node, list, &entry);
		const struct rdma_device *unread;

		if (a.count[USABLE_YES])
			continue;
		unread = hca_unread_device(ctx->node, list, &entry);
		if (unread)
			UNKNOWN(ctx, .subject = v->name,
				.evidence = { fact_path(ctx->arena, "rdma.devices",
							unread->name.value, "ports") });
		else if (a.count[USABLE_UNKNOWN])
			UNKNOWN(ctx, .subject = v->name,
				.evidence = { port_fact(ctx->arena, a.device, a.port, "state") });
		else
			fail_entry(ctx, v, &entry, &a, others_text(ctx, list, rest));
		return true;
	}
	return false;
}

/* ---- what a list leaves ---- */

static const char *mix_text(struct rule_context *ctx, const struct hca_choice *c)
{
	if (c->infiniband && c->ethernet)
		return text_printf(ctx, "%zu InfiniBand and %zu Ethernet ports", c->infiniband,
				   c->ethernet);
	return text_printf(ctx, "ports of %" PRIu64 " and of %" PRIu64 " Gb/s", c->slowest / 1000,
			   c->fastest / 1000);
}

static const char *take_too(struct rule_context *ctx, const struct job_value *v,
			    const struct hca_list *list, const struct rdma_device *d)
{
	return list->exclude ? text_printf(ctx, "Remove %s from %s.", d->name.value, v->name)
			     : text_printf(ctx, "Add %s to %s.", d->name.value, v->name);
}

static void fail_half(struct rule_context *ctx, const struct job_value *v,
		      const struct hca_list *list, const struct list_coverage *c)
{
	FAIL(ctx, .severity = SEVERITY_WARN, .graded = true, .subject = v->name,
	     .observed = text_printf(ctx,
				     "%s takes %s, and leaves out %s, the other half of its port",
				     job_value_text(ctx->arena, ctx->node, v), c->half->name.value,
				     c->other_half->name.value),
	     .expected = "both devices of the port",
	     .impact =
		     "The port is slow: its NIC has two PCIe links, and one alone has half of the bandwidth.",
	     .remedy = take_too(ctx, v, list, c->other_half),
	     .evidence = { v->fact, fact_path(ctx->arena, "rdma.devices", c->other_half->name.value,
					      "image_guid") });
}

/* An active NIC next to a GPU is missing in the list, or a NIC of another purpose is in it. A single one that is
 * missing was forgotten; where many are, that is intended. Returns true if there was something to say. */
static bool check_coverage(struct rule_context *ctx, const struct job_value *v,
			   const struct hca_list *list)
{
	struct list_coverage c = list_coverage(ctx->endpoints, list);
	const char *text = job_value_text(ctx->arena, ctx->node, v);

	if (c.half)
		fail_half(ctx, v, list, &c);
	else if (c.sibling && c.taken)
		FAIL_AS(ctx, c.left_out == 1 ? SEVERITY_WARN : SEVERITY_INFO, .subject = v->name,
			.observed =
				text_printf(ctx, "%s leaves out %s, the active NIC of %s%s", text,
					    c.sibling->name.value,
					    subject_name(ctx->node, c.gpu->bdf.value, ctx->arena),
					    c.left_out > 1 ? " (and others)" : ""),
			.expected = "every active NIC next to a GPU",
			.impact = "That GPU uses the NIC of another GPU: both share its bandwidth.",
			.remedy = take_too(ctx, v, list, c.sibling),
			.evidence = { v->fact, fact_path(ctx->arena, "rdma.devices",
							 c.sibling->name.value, "bdf") });
	else if (c.stranger && c.taken)
		NOTE(ctx, .subject = v->name,
		     .observed = text_printf(
			     ctx, "%s also takes %s, which is no NIC of the model next to the GPUs",
			     text, c.stranger->name.value),
		     .evidence = { v->fact, fact_path(ctx->arena, "rdma.devices",
						      c.stranger->name.value, "hca_type") });
	else
		return false;
	return true;
}

static void check_choice(struct rule_context *ctx, const struct job_value *v,
			 const struct hca_list *list)
{
	struct hca_choice c = hca_choice_of(ctx->node, list);
	const struct rdma_device *along = list_takes_along(ctx->node, list);

	if (!c.ports && !c.unknown)
		FAIL(ctx, .subject = v->name,
		     .observed = text_printf(ctx, "%s leaves no active port",
					     job_value_text(ctx->arena, ctx->node, v)),
		     .expected = "NICs that exist, can be opened and are active",
		     .evidence = { v->fact, "rdma.devices" });
	else if (c.unknown)
		UNKNOWN(ctx, .subject = v->name, .observed = "the state of a port is not known",
			.evidence = { "rdma.devices" });
	else if (along)
		FAIL_AS(ctx, hca_choice_is_mixed(&c) ? SEVERITY_WARN : SEVERITY_INFO,
			.subject = v->name,
			.observed = text_printf(ctx, "%s also takes %s: names are prefixes",
						job_value_text(ctx->arena, ctx->node, v),
						along->name.value),
			.expected = text_printf(ctx, "%s==..., for whole names", v->name),
			.evidence = { v->fact, "rdma.devices" });
	else if (hca_choice_is_mixed(&c))
		FAIL_AS(ctx,
			(c.infiniband && c.ethernet) || hca_choice_has_laggards(&c) ? SEVERITY_WARN
										    : SEVERITY_INFO,
			.subject = v->name,
			.observed = text_printf(ctx, "%s takes %s",
						job_value_text(ctx->arena, ctx->node, v),
						mix_text(ctx, &c)),
			.expected = "NICs of one fabric at one rate",
			.evidence = { v->fact, "rdma.devices" });
	else if (!check_coverage(ctx, v, list))
		PASS(ctx, .subject = v->name, .evidence = { v->fact });
}

static void check_list(struct rule_context *ctx, const struct job_value *v, struct hca_list list)
{
	if (list.exclude || !check_entries(ctx, v, &list))
		check_choice(ctx, v, &list);
}

/* ---- UCX: whole names with their port, interfaces among them, or "all" ---- */

static bool is_resource(const struct node *node, const struct hca_entry *entry)
{
	for_each(interface, &node->net.interfaces)
		if (span_is(entry->name, interface->name.value))
			return true;
	return !was_read(node->net.interfaces);
}

/* A note: where NCCL carries the data, sites let MPI start jobs over TCP. */
static void note_ucx_tcp(struct rule_context *ctx, const struct job_value *v, const char *observed)
{
	NOTE(ctx, .subject = v->name,
	     .observed = text_printf(ctx, "%s: %s", job_value_text(ctx->arena, ctx->node, v),
				     observed),
	     .impact =
		     "UCX's traffic to other nodes (MPI, NIXL, Mooncake) uses TCP through host memory, at a tenth of "
		     "the speed.",
	     .evidence = { v->fact, "rdma.devices" });
}

/* Returns true if the list of transports has one of RDMA's. UCX: src/ucp/core/ucp_context.c, ucp_tl_aliases. */
static bool takes_rdma(struct span rest)
{
	static const char *const rdma[] = { "all", "ib", "rc", "dc", "ud", "srd", "gga", "ugni" };
	struct span item;

	while (span_cut(&rest, ',', &item)) {
		item = span_trim(item);
		if (item.n && item.p[0] == '\\')
			item = (struct span){ item.p + 1, item.n - 1 };
		for (size_t i = 0; i < ARRAY_SIZE(rdma); i++)
			if (span_starts(item, rdma[i]) && !span_ends(item, ":aux"))
				return true;
	}
	return false;
}

static void check_ucx_transports(struct rule_context *ctx)
{
	struct job_value v = job_env(ctx->arena, ctx->node, "UCX_TLS");
	/* A list after "^" keeps all others. */
	if (v.value && v.value[0] != '^' && !takes_rdma(span_of(v.value)))
		note_ucx_tcp(ctx, &v, "UCX opens no RDMA device");
}

static void check_ucx(struct rule_context *ctx, const struct job_value *v)
{
	struct hca_list list = { .exact = true, .entries = span_of(v->value) };
	struct span rest = list.entries;
	struct hca_entry entry;
	size_t nics = 0;

	/* Patterns and exclusions of newer releases are not taken apart here. */
	if (strcspn(v->value, "^*?[") < strlen(v->value) || strcmp(v->value, "all") == 0)
		return;
	while (hca_entry_next(&rest, &entry)) {
		struct hca_entry_ports a = hca_ports_of_entry(ctx->node, &list, &entry);

		if (a.count[USABLE_YES] && entry.port == HCA_ANY_PORT) {
			FAIL_AS(ctx, SEVERITY_WARN, .subject = v->name,
				.observed = text_printf(ctx, "%s: %s is without its port",
							job_value_text(ctx->arena, ctx->node, v),
							entry_text(ctx, &entry)),
				.expected = text_printf(ctx, "%s:%" PRIu64, entry_text(ctx, &entry),
							a.port->port.value),
				.evidence = { v->fact });
			return;
		}
		nics += a.count[USABLE_YES] + a.count[USABLE_UNKNOWN];
		if (a.count[USABLE_YES] || a.count[USABLE_UNKNOWN] ||
		    (entry.port == HCA_ANY_PORT && is_resource(ctx->node, &entry)))
			continue;
		fail_entry(ctx, v, &entry, &a, "");
		return;
	}
	if (nics || !was_read(ctx->node->net.interfaces))
		PASS(ctx, .subject = v->name, .evidence = { v->fact });
	else
		note_ucx_tcp(ctx, v, "network interfaces, which UCX uses with TCP only");
}

/* ---- NVSHMEM ---- */

static size_t count_entries(const struct hca_list *list)
{
	struct span rest = list->entries;
	struct hca_entry entry;
	size_t n = 0;

	while (hca_entry_next(&rest, &entry))
		n++;
	return n;
}

/* NVSHMEM's transports. IBGDA is not among them: it has a variable of its own, which DeepEP sets itself (NVSHMEM:
 * src/host/transport/transport.cpp). */
static void check_transport(struct rule_context *ctx)
{
	static const char *const names[] = { "ibrc", "ucx", "libfabric", "ibdevx", "gpunetio" };
	struct job_value v = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_REMOTE_TRANSPORT");
	struct job_value ibgda = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_IB_ENABLE_IBGDA");

	if (!v.value)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcasecmp(v.value, names[i]) == 0)
			return;
	FAIL_AS(ctx,
		is_asked_for(ctx, PROFILE_DEEPEP) || job_is_on(&ibgda) ? SEVERITY_INFO
								       : SEVERITY_WARN,
		.subject = v.name,
		.observed = text_printf(ctx, "%s: NVSHMEM uses no RDMA device except with IBGDA",
					job_value_text(ctx->arena, ctx->node, &v)),
		.expected = "not set, or ibrc, ucx, libfabric, ibdevx, gpunetio",
		.impact =
			"NVSHMEM reaches no other node (\"Unable to initialize any transports\"), unless IBGDA "
			"starts.",
		.remedy = "Unset NVSHMEM_REMOTE_TRANSPORT: the default is ibrc.",
		.evidence = { v.fact });
}

/* The transport gpunetio came with NVSHMEM 3.7 (its release notes), and with it GDAKI instead of IBGDA. */
#define NVSHMEM_GPUNETIO "3.7"

static void check_gpunetio(struct rule_context *ctx)
{
	const struct software_item *nvshmem = node_software(ctx->node, "nvshmem");
	struct job_value gdaki = job_nvshmem(ctx->arena, ctx->node,
					     "NVSHMEM_GPUNETIO_ENABLE_GDAKI");
	struct job_value v = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_REMOTE_TRANSPORT");
	bool gpunetio = v.value && strcasecmp(v.value, "gpunetio") == 0;

	if (gpunetio && nvshmem && version_compare(nvshmem->version.value, NVSHMEM_GPUNETIO) < 0)
		FAIL_AS(ctx, SEVERITY_WARN, .subject = v.name,
			.observed = text_printf(ctx, "%s with NVSHMEM %s",
						job_value_text(ctx->arena, ctx->node, &v),
						nvshmem->version.value),
			.expected = "NVSHMEM " NVSHMEM_GPUNETIO " or later for gpunetio",
			.impact = "NVSHMEM reaches no other node, unless IBGDA starts.",
			.evidence = { v.fact, software_version_fact(ctx->arena, nvshmem) });
	else if (job_is_on(&gdaki) && !gpunetio)
		FAIL_AS(ctx, SEVERITY_WARN, .subject = gdaki.name,
			.observed = text_printf(ctx, "%s without NVSHMEM_REMOTE_TRANSPORT=gpunetio",
						job_value_text(ctx->arena, ctx->node, &gdaki)),
			.expected = "NVSHMEM_REMOTE_TRANSPORT=gpunetio",
			.impact = "NVSHMEM does not use GPU-initiated networking.",
			.remedy = "Set NVSHMEM_REMOTE_TRANSPORT=gpunetio, or unset "
				  "NVSHMEM_GPUNETIO_ENABLE_GDAKI.",
			.evidence = { gdaki.fact });
}

static void check_nvshmem(struct rule_context *ctx)
{
	struct job_value list = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_HCA_LIST");
	struct job_value mapping = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_HCA_PE_MAPPING");
	struct job_value by_pe = job_nvshmem(ctx->arena, ctx->node,
					     "NVSHMEM_ENABLE_NIC_PE_MAPPING");
	struct hca_list taken = job_nic_list(ctx->arena, ctx->node, true);

	if (list.value)
		check_list(ctx, &list, taken);
	if (mapping.value && list.value)
		FAIL_AS(ctx, SEVERITY_WARN, .subject = mapping.name,
			.observed = "set together with NVSHMEM_HCA_LIST: NVSHMEM ignores it",
			.expected = "one of the two",
			.remedy = "Unset NVSHMEM_HCA_LIST or NVSHMEM_HCA_PE_MAPPING.",
			.evidence = { mapping.fact, list.fact });
	else if (mapping.value)
		check_list(ctx, &mapping, taken);
	/* DeepEP's normal kernels: one PE of a node in each team, which all take the first entry.
	 */
	if (is_asked_for(ctx, PROFILE_DEEPEP) && job_is_on(&by_pe) && count_entries(&taken) != 1)
		FAIL_AS(ctx, SEVERITY_WARN, .subject = by_pe.name,
			.observed = text_printf(
				ctx,
				"%s: with DeepEP 1's normal kernels all ranks use the first NIC",
				job_value_text(ctx->arena, ctx->node, &by_pe)),
			.expected = "not set, or one NIC for each rank",
			.remedy =
				"Unset NVSHMEM_ENABLE_NIC_PE_MAPPING. Or give the environment of each rank a list with "
				"only its own NIC.",
			.evidence = { by_pe.fact, mapping.value ? mapping.fact : list.fact });
}

/* ---- nothing is set ---- */

static void check_all(struct rule_context *ctx)
{
	struct hca_choice c = hca_choice_of_all(ctx->node, ctx->endpoints);
	const char *example = example_text(ctx, "NCCL_IB_HCA");

	if (hca_choice_is_mixed(&c))
		FAIL_AS(ctx, SEVERITY_WARN, .subject = "NCCL_IB_HCA",
			.observed = text_printf(
				ctx, "not set in this environment, and the active NICs differ: %s",
				hca_groups_text(ctx->arena, ctx->node, ctx->endpoints)),
			.expected = "NCCL_IB_HCA names the NICs of the jobs' fabric",
			.remedy = text_printf(
				ctx,
				"Choose one of these groups and name its NICs in NCCL_IB_HCA and NVSHMEM_HCA_LIST. "
				"/etc/nccl.conf sets NCCL_IB_HCA for all jobs.%s",
				*example ? " For example:" : ""),
			/* A rate that the RDMA driver does not know makes no other kind of NIC. */
			.follows = c.infiniband && c.ethernet ? "rdma/link-type-eth"
							      : "rdma/rate-below-link",
			.follows_any = true,
			.command = *example ? text_printf(ctx, "%s%s\n%s", example_remark(example),
							  example,
							  example_text(ctx, "NVSHMEM_HCA_LIST"))
					    : NULL,
			.evidence = { "env.variables", "rdma.devices" });
	else if (c.unknown)
		UNKNOWN(ctx, .observed = "not set; the state of a port is not known",
			.evidence = { "rdma.devices" });
	else if (!c.ports)
		NOT_APPLICABLE(ctx, .observed = "no list is set, and no port is active",
			       .evidence = { "env.variables", "rdma.devices" });
	else
		PASS(ctx, .observed = "not set, and the active NICs of jobs are alike",
		     .evidence = { "env.variables", "rdma.devices" });
}

/* ---- NCCL takes none ---- */

static void fail_switched_off(struct rule_context *ctx, const struct job_value *v, const char *what)
{
	FAIL_AS(ctx, SEVERITY_WARN, .subject = v->name,
		.observed = text_printf(ctx, "%s: %s", job_value_text(ctx->arena, ctx->node, v),
					what),
		.expected = text_printf(ctx, "%s not set", v->name),
		.impact =
			"NCCL copies through host memory, or over sockets at a tenth of the speed. Only "
			"NCCL_DEBUG=INFO shows it.",
		.remedy = text_printf(
			ctx,
			"Unset %s in the job's environment and in nccl.conf, unless it is intended.",
			v->name),
		.evidence = { v->fact, "rdma.devices" });
}

/* LOC is 0: no NIC is near enough (NCCL: src/graph/paths.cc, ncclTopoCheckGdr()). */
static void check_gdr_level(struct rule_context *ctx)
{
	struct job_value level = job_nccl(ctx->arena, ctx->node, "NCCL_NET_GDR_LEVEL");
	long number;

	if (level.value &&
	    (strcmp(level.value, "LOC") == 0 || (job_number(&level, &number) && number == 0)))
		fail_switched_off(ctx, &level, "NCCL uses GPUDirect RDMA with no NIC");
}

static const struct software_item *net_plugin(const struct node *node)
{
	for_each(item, &node->software.items)
		if (str_is(item->name, "nccl-net"))
			return item;
	return NULL;
}

/* NCCL has nets of these names itself; others come with a plugin, which is a library in the loader's folders or
 * what NCCL_NET_PLUGIN names (src/plugin/net.cc, ncclNetInit()). A blank or quote at the end is
 * env/nccl-conf-line's matter. */
static void check_net(struct rule_context *ctx, const struct job_value *net)
{
	struct job_value plugin = job_nccl(ctx->arena, ctx->node, "NCCL_NET_PLUGIN");

	if (!net->value || strcasecmp(net->value, "IB") == 0 ||
	    strcasecmp(net->value, "Socket") == 0 || !*net->value ||
	    strchr(" \t\"'", net->value[strlen(net->value) - 1]) || plugin.value ||
	    net_plugin(ctx->node))
		return;
	if (!known_is(ctx->node->software.complete, true))
		UNKNOWN(ctx, .subject = net->name,
			.observed = text_printf(
				ctx, "%s; whether a plugin has this network was not read",
				job_value_text(ctx->arena, ctx->node, net)),
			.evidence = { "software.complete", net->fact });
	else
		/* An environment of conda's may have it where only its own libnccl looks. */
		FAIL_AS(ctx, SEVERITY_WARN, .subject = net->name,
			.observed = text_printf(
				ctx, "%s: no libnccl-net.so with such a network was found",
				job_value_text(ctx->arena, ctx->node, net)),
			.expected = "NCCL_NET not set, or its plugin installed",
			.impact =
				"NCCL does not start: \"Failed to initialize any NET plugin\", or in older releases "
				"\"network not found\".",
			.remedy =
				"Unset NCCL_NET, or install the plugin that has a net of this name and put its "
				"folder into LD_LIBRARY_PATH or /etc/ld.so.conf.d.",
			.evidence = { net->fact, "software.items" });
}

/* Returns true if NCCL opens no RDMA device, so that no list of them matters to it. */
static bool is_switched_off(struct rule_context *ctx)
{
	struct job_value disable = job_nccl(ctx->arena, ctx->node, "NCCL_IB_DISABLE");
	struct job_value net = job_nccl(ctx->arena, ctx->node, "NCCL_NET");
	bool disabled, socket;
	long number;

	disabled = disable.value && job_number(&disable, &number) && number != 0;
	socket = net.value && strcasecmp(net.value, "Socket") == 0;
	if (disabled)
		fail_switched_off(ctx, &disable, "NCCL opens no RDMA device");
	else if (socket)
		fail_switched_off(ctx, &net, "NCCL opens no RDMA device");
	check_net(ctx, &net);
	return disabled || socket;
}

static void check_selection(struct rule_context *ctx)
{
	bool rdma = is_asked_for(ctx, PROFILE_RDMA_ANY);
	struct job_value nccl, ucx;
	size_t before;

	if (skip_without_rdma_device(ctx) || skip_without_nccl_variables(ctx) ||
	    skip_without_nvshmem_variables(ctx))
		return;
	before = ctx->findings->count;
	nccl = job_nccl(ctx->arena, ctx->node, "NCCL_IB_HCA");
	ucx = job_env(ctx->arena, ctx->node, "UCX_NET_DEVICES");
	if (rdma)
		check_gdr_level(ctx);
	if (!(rdma && is_switched_off(ctx)) && nccl.value)
		check_list(ctx, &nccl, hca_list_nccl(nccl.value));
	if (rdma) {
		check_transport(ctx);
		check_gpunetio(ctx);
	}
	check_nvshmem(ctx);
	if (ucx.value)
		check_ucx(ctx, &ucx);
	if (ctx->findings->count == before && expects_nccl(ctx))
		check_all(ctx);
	if (rdma)
		check_ucx_transports(ctx);
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no list is set, and no NCCL job is asked for",
			       .evidence = { "env.variables" });
}

static const struct rule env_hca_rules[] = {
	{
		.id = "env/hca-selection",
		.title =
			"Jobs can use the wrong NICs, or too few: NIC settings do not fit this node",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_selection,
		.impact =
			"The job uses fewer NICs than intended, none (\"no active IB device\"), or connects two fabrics "
			"and hangs.",
		.remedy =
			"List the NICs of the jobs' fabric: NCCL_IB_HCA==mlx5_0,mlx5_3 (the second \"=\" compares whole "
			"names), NVSHMEM_HCA_LIST=mlx5_0:1,mlx5_3:1, UCX_NET_DEVICES=mlx5_0:1. For all jobs of a node "
			"put NCCL_IB_HCA into /etc/nccl.conf.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"NCCL_IB_HCA, NCCL_IB_DISABLE, NCCL_NET, NCCL_NET_PLUGIN, NCCL_NET_GDR_LEVEL (also in "
			"nccl.conf); NVSHMEM_REMOTE_TRANSPORT, NVSHMEM_GPUNETIO_ENABLE_GDAKI, NVSHMEM_HCA_LIST, "
			"NVSHMEM_HCA_PE_MAPPING, NVSHMEM_ENABLE_NIC_PE_MAPPING; UCX_TLS, UCX_NET_DEVICES. RDMA devices, "
			"their ports and nodes; network interfaces; NCCL's network plugins on disk.",
		.why = "Names differ between nodes, and change with firmware, kernel and slots. A list for one node can "
		       "name nothing, or a storage NIC, on another. NCCL compares prefixes unless \"=\" is in front: "
		       "mlx5_1 takes mlx5_10 too. NCCL skips silently what is absent or down, and with a "
		       "warning (NCCL_DEBUG=WARN) a device that it cannot open. Without a list NCCL takes all active NICs, which is a warning if they differ in "
		       "link layer or rate. A list that leaves out one active NIC next to a GPU is a warning. With "
		       "NCCL_IB_DISABLE=1 or NCCL_NET=Socket NCCL uses no RDMA. UCX without an RDMA transport is a "
		       "note, because MPI often only starts the job.",
		.check = "ibv_devinfo | grep -E 'hca_id|state|link_layer'; NCCL_DEBUG=INFO shows "
			 "\"NET/IB : Using\"",
		.sources =
			"NCCL 2.30.7: src/transport/net_ib/init.cc, ncclIbInitDevices(); "
			"src/misc/utils.cc, matchIfList(); src/misc/param.cc, setEnvFile(); src/plugin/net.cc\n"
			"NVSHMEM 3.5.1: src/modules/transport/common/transport_common.cpp, "
			"nvshmemt_parse_hca_list(); ibgda.cpp; src/host/transport/transport.cpp\n"
			"NVSHMEM 3.7 documentation: Environment Variables; release notes 3.7.0 (gpunetio)\n"
			"UCX (2026-08-21): src/ucp/core/ucp_context.c, ucp_tl_aliases\n"
			"github.com/NVIDIA/nccl issues 302, 733, 1277; github.com/deepseek-ai/DeepEP issues 17, 336, 658; "
			"github.com/openucx/ucx issues 9727, 9908; "
			"github.com/NVIDIA/dgx-spark-playbooks issue 102 (2026-08-17)",
	},
};

RULE_TABLE(env_hca);
