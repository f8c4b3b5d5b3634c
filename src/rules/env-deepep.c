/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-deepep.c - what a job's environment sets for DeepEP (rules env/...). */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/job-env.h"
#include "query/ports.h"

/* ---- env/deepep-unknown-variable ---- */

static const char *const known_names[] = {
#include "deepep-variables.inc"
};

static bool is_known_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_names); i++)
		if (strcmp(known_names[i], name) == 0)
			return true;
	return false;
}

#define NAME_MAX_CHARS 64

/* How many characters have to be added, removed or changed to make B of A: Levenshtein's distance. */
static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(b), row[NAME_MAX_CHARS + 1];

	if (n > NAME_MAX_CHARS)
		return n;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t change = corner + (a[i - 1] != b[j - 1]);
			size_t shorter = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;

			corner = row[j];
			row[j] = change < shorter ? change : shorter;
		}
	}
	return row[n];
}

#define MISSPELT_AT_MOST 2

/* The name that is nearly that one. Other programs have names with EP_ too: experts, execution providers. */
static const char *meant_name(const char *name)
{
	if (span_starts(span_of(name), "DEEP_EP_") && is_known_name(name + strlen("DEEP_")))
		return name + strlen("DEEP_");
	for (size_t i = 0; i < ARRAY_SIZE(known_names); i++)
		if (distance(name, known_names[i]) <= MISSPELT_AT_MOST)
			return known_names[i];
	return NULL;
}

static void check_names(struct rule_context *ctx)
{
	size_t right = 0, before = ctx->findings->count;

	if (skip_without_variables(ctx))
		return;
	for_each(v, &ctx->node->env.variables) {
		const char *name = v->name.value, *meant;
		bool deepep = span_starts(span_of(name), "DEEP_EP_");

		if (!deepep && !span_starts(span_of(name), "EP_"))
			continue;
		if (is_known_name(name)) {
			right++;
			continue;
		}
		meant = meant_name(name);
		if (meant || deepep)
			FAIL(ctx, .subject = name, .observed = "DeepEP has no such variable",
			     .expected = meant,
			     .remedy = meant ? text_printf(ctx, "Rename %s to %s.", name, meant)
					     : text_printf(ctx, "Unset %s.", name),
			     .evidence = { fact_path(ctx->arena, "env.variables", name, "value") });
	}
	if (ctx->findings->count > before)
		return;
	if (right)
		PASS(ctx, .evidence = { "env.variables" });
	else
		NOT_APPLICABLE(ctx, .observed = "no variable of DeepEP is set",
			       .evidence = { "env.variables" });
}

/* ---- env/deepep-nic-name ---- */

/* DeepEP asks ibstat for the properties of this NIC (deep_ep/utils/envs.py). */
#define DEFAULT_NIC "mlx5_0"

/* 0: none is, 1: one is, -1: not known */
static int any_active(const struct rdma_device *d)
{
	int active = was_read(d->ports) ? 0 : -1;

	for_each(p, &d->ports) {
		if (port_is_active(p))
			return 1;
		active = is_known(p->state) ? active : -1;
	}
	return active;
}

static void check_nic_name(struct rule_context *ctx)
{
	const struct software_item *deepep = node_software(ctx->node, "deepep");
	const struct rdma_device *device;
	struct job_value v;
	const char *name, *fact, *state;

	if (skip_without_rdma_device(ctx) || skip_without_variables(ctx))
		return;
	v = job_env(ctx->arena, ctx->node, "EP_NIC_NAME");
	if (!v.value && !deepep) {
		NOT_APPLICABLE(ctx, .observed = "EP_NIC_NAME is not set, and no DeepEP was found",
			       .evidence = { "env.variables", "software.items" });
		return;
	}
	name = v.value ? v.value : DEFAULT_NIC;
	fact = v.value ? v.fact : "env.variables";
	device = node_rdma(ctx->node, name);
	state = text_printf(ctx, "%s%s", name, v.value ? "" : " (the default of EP_NIC_NAME)");
	if (!device)
		FAIL(ctx, .subject = "EP_NIC_NAME",
		     .observed = text_printf(ctx, "%s does not exist", state),
		     .expected = "a NIC that jobs use", .evidence = { fact, "rdma.devices" });
	else if (any_active(device) < 0)
		UNKNOWN(ctx, .subject = "EP_NIC_NAME",
			.evidence = { fact_path(ctx->arena, "rdma.devices", name, "ports") });
	else if (!any_active(device))
		FAIL(ctx, .subject = "EP_NIC_NAME",
		     .observed = text_printf(ctx, "%s has no active port", state),
		     .expected = "a NIC that jobs use",
		     .evidence = { fact, fact_path(ctx->arena, "rdma.devices", name, "ports") });
	else
		PASS(ctx, .evidence = { fact, "rdma.devices" });
}

/* ---- env/deepep-bond-rate ---- */

/* DeepEP from this release on plans with the rate that ibstat prints (deep_ep/utils/envs.py, get_rdma_gbs()). */
#define DEEPEP_PLANS "2.0.0"

/* The bond that the device's port runs over. NULL: none; UNREAD, if the port's GIDs are not known. */
static const struct net_interface *bond_of(const struct node *node,
					   const struct rdma_device *device, bool *unread)
{
	for_each(p, &device->ports) {
		const struct rdma_gid *gid = port_usable_gid(p);
		const struct net_interface *interface;

		*unread = *unread || (port_is_ethernet(p) && !was_read(p->gids));
		interface = gid && is_known(gid->netdev) ? node_interface(node, gid->netdev.value)
							 : NULL;
		if (interface && str_is(interface->driver, "bonding"))
			return interface;
	}
	return NULL;
}

static void check_bonded_device(struct rule_context *ctx, const struct rdma_device *device)
{
	const struct software_item *deepep = node_software(ctx->node, "deepep");
	bool unread = false;
	const struct net_interface *bond = bond_of(ctx->node, device, &unread);

	if (bond)
		FAIL(ctx, .subject = device->name.value,
		     .observed = text_printf(
			     ctx, "%s is a bond; DeepEP %s plans with the rate of one of its links",
			     bond->name.value, deepep->version.value),
		     .expected = "the number of SMs given by the job",
		     .evidence = {
			     fact_path(ctx->arena, "net.interfaces", bond->name.value, "driver"),
			     software_version_fact(ctx->arena, deepep) });
	else if (unread)
		UNKNOWN(ctx, .subject = device->name.value,
			.evidence = { fact_path(ctx->arena, "rdma.devices", device->name.value,
						"ports") });
	else
		PASS(ctx, .subject = device->name.value, .evidence = { "net.interfaces" });
}

static void check_bond(struct rule_context *ctx)
{
	const struct software_item *deepep = node_software(ctx->node, "deepep");
	const struct rdma_device *device;
	struct job_value v;

	if (skip_without_rdma_device(ctx) || skip_without_variables(ctx))
		return;
	v = job_env(ctx->arena, ctx->node, "EP_NIC_NAME");
	device = node_rdma(ctx->node, v.value ? v.value : DEFAULT_NIC);
	if (!deepep || version_compare(deepep->version.value, DEEPEP_PLANS) < 0 || !device)
		NOT_APPLICABLE(ctx,
			       .observed = device ? "no DeepEP 2 was found"
						  : "the NIC that DeepEP asks for is not here",
			       .evidence = { "software.items", "rdma.devices" });
	else if (!is_known(ctx->node->net.interfaces))
		UNKNOWN(ctx, .evidence = { "net.interfaces" });
	else
		check_bonded_device(ctx, device);
}

/* ---- env/qp-depth-small ---- */

/* deep_ep/buffers/legacy.py: the default of NVSHMEM_QP_DEPTH, and what low_latency_dispatch() asserts. */
#define QP_DEPTH_DEFAULT 1024
/* DeepEP's own tests and guide use so many tokens; SGLang's default is the same. */
#define TOKENS_USUAL 128

static long depth_for(long tokens)
{
	return (tokens + 1) * 2;
}

static void check_depth(struct rule_context *ctx)
{
	struct job_value depth, tokens;
	long have = QP_DEPTH_DEFAULT, count = TOKENS_USUAL;

	if (skip_without_nvshmem_variables(ctx))
		return;
	depth = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_QP_DEPTH");
	tokens = job_env(ctx->arena, ctx->node, "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK");
	job_number(&depth, &have);
	job_number(&tokens, &count);
	if (!depth.value && !tokens.value)
		NOT_APPLICABLE(ctx, .observed = "neither queue depth nor number of tokens is set",
			       .evidence = { "env.variables" });
	else if (count < 0 || count > INT32_MAX || have >= depth_for(count))
		PASS(ctx, .evidence = { depth.value ? depth.fact : tokens.fact });
	else
		FAIL_AS(ctx, tokens.value ? SEVERITY_ERR : SEVERITY_WARN,
			.subject = "NVSHMEM_QP_DEPTH",
			.observed = text_printf(ctx, "queue depth %ld for %ld tokens%s", have,
						count,
						tokens.value ? "" : " (DeepEP's usual number)"),
			.expected = text_printf(ctx, "at least %ld", depth_for(count)),
			.remedy = text_printf(ctx, "Set NVSHMEM_QP_DEPTH=%ld or more for the job.",
					      depth_for(count)),
			.evidence = { depth.value ? depth.fact : tokens.fact,
				      depth.value ? tokens.fact : NULL });
}

static const struct rule env_deepep_rules[] = {
	{
		.id = "env/deepep-unknown-variable",
		.title = "A DeepEP setting has no effect: DeepEP has no such variable",
		.profiles = PROFILE_DEEPEP,
		.used_variables = "EP_* DEEP_EP_*",
		.severity = SEVERITY_WARN,
		.evaluate = check_names,
		.impact = "DeepEP uses its default instead.",
		.remedy = "Correct the name, or unset the variable.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads = "Variables of the job that begin with EP_ or DEEP_EP_.",
		.why = "DeepEP's variables for jobs begin with EP_. None begins with DEEP_EP_; DEEP_EP_NUM_MAX_RDMA_TOKENS, for "
		       "one, is in no release. Other programs use EP_ too. So of these only a name that is nearly one "
		       "of DeepEP's is reported. A fork of DeepEP can have more names.",
		.check = "env | grep -E '^(DEEP_)?EP_'",
		.sources =
			"DeepEP 2.1.0 (commit dd758ca): README.md, Environment variables; csrc; deep_ep",
	},
	{
		.id = "env/deepep-nic-name",
		.title = "DeepEP plans with wrong NIC properties: EP_NIC_NAME is not a usable NIC",
		.profiles = PROFILE_DEEPEP,
		.used_variables = "EP_NIC_NAME",
		.severity = SEVERITY_WARN,
		.evaluate = check_nic_name,
		.impact =
			"Without the NIC DeepEP 2 takes the RDMA bandwidth as 0 (\"Failed to get RDMA connection speed\"): a job on "
			"several nodes that gives no num_sms stops with ZeroDivisionError. With another NIC's rate it chooses a "
			"wrong number of SMs.",
		.remedy = "Set EP_NIC_NAME to the name of a NIC that jobs use.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"EP_NIC_NAME of the job, DeepEP on disk, RDMA devices and the state of their ports.",
		.why = "DeepEP 2 asks ibstat for the rate and the type of one NIC and takes them for all. Without "
		       "EP_NIC_NAME it asks for mlx5_0, which can be a storage NIC, absent or down.",
		.check = "ibstat | grep -E \"^CA|Rate|State\"",
		.sources =
			"DeepEP 2.1.0: deep_ep/utils/envs.py, get_rdma_gbs() and "
			"check_fast_rdma_atomic_support(); deep_ep/buffers/elastic.py, get_theoretical_num_sms()\n"
			"github.com/deepseek-ai/DeepEP pull 734 (2026-08-21)",
	},
	{
		.id = "env/deepep-bond-rate",
		.title = "DeepEP is slow: it sees only one link of the bonded NIC",
		.is_short_effect = true,
		.profiles = PROFILE_DEEPEP,
		.used_variables = "EP_NIC_NAME",
		.severity = SEVERITY_WARN,
		.evaluate = check_bond,
		.impact =
			"dispatch() and combine() are slower than the NIC: DeepEP takes half its bandwidth as all of it.",
		.remedy =
			"Pass num_sms to DeepEP in the job: the number of SMs for the rate of the whole bond.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads = "EP_NIC_NAME of the job; the interface of the NIC's GID; DeepEP on disk.",
		.why = "DeepEP 2 takes the rate of its NIC from ibstat. For a bond of two ports (mlx5_bond_0) ibstat prints "
		       "the rate of one. Several queue pairs use both. DeepEP 2.1.0 has no variable for the rate. "
		       "Changes that read it are proposed and not merged.",
		.check = "ibstat | grep -E \"^CA|Rate\"; cat /sys/class/net/bond0/speed",
		.sources =
			"DeepEP 2.1.0: deep_ep/utils/envs.py, get_rdma_gbs()\n"
			"github.com/deepseek-ai/DeepEP: issue 614 (2026-04-28), pulls 671 (2026-06-25) and 705 (2026-07-27)",
	},
	{
		.id = "env/qp-depth-small",
		.title = "DeepEP's low-latency mode fails: NVSHMEM's queues are too short",
		.profiles = PROFILE_DEEPEP,
		.used_variables = "NVSHMEM_QP_DEPTH SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK",
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_depth,
		.impact =
			"low_latency_dispatch() and low_latency_combine() stop with an AssertionError on "
			"nvshmem_qp_depth.",
		.remedy = "Set NVSHMEM_QP_DEPTH to at least (tokens + 1) * 2 for the job.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"NVSHMEM_QP_DEPTH and SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK of the job.",
		.why = "DeepEP does not check for a free slot in the queue, so the queue must hold all requests in "
		       "flight: (tokens of a rank + 1) * 2. The default of 1024 is enough for 511 tokens. If the "
		       "number of tokens is not in the environment, 128 is assumed, as in DeepEP's test, and a smaller queue "
		       "is a warning.",
		.check = "env | grep -E 'NVSHMEM_QP_DEPTH|DISPATCH_TOKENS'",
		.sources = "DeepEP 2.1.0: deep_ep/buffers/legacy.py, lines 113, 609 and 665; "
			   "tests/legacy/test_low_latency.py (--num-tokens)",
	},
};

RULE_TABLE(env_deepep);
