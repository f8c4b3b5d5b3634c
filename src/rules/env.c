/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env.c - the environment of the process that was asked about. */
#include <ctype.h>
#include <string.h>

#include "evaluate/rule.h"
#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "query/job-env.h"

static const char *const nvshmem_names[] = {
#include "nvshmem-variables.inc"
	NULL,
};

/* Names that say where NVSHMEM is or how it was built; its libraries do not read them. */
static bool is_for_builds(const char *name)
{
	static const char *const endings[] = { "HOME", "PREFIX", "DIR", "_SUPPORT", "_PATH" };
	struct span s = span_of(name);

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (span_ends(s, endings[i]))
			return true;
	return false;
}

static bool is_nvshmem_name(const char *name)
{
	if (is_for_builds(name))
		return true;
	for (size_t i = 0; nvshmem_names[i]; i++)
		if (strcmp(nvshmem_names[i], name) == 0)
			return true;
	return false;
}

/* The known name that NAME ends in: IBGDA_QP_DEPTH was meant as QP_DEPTH. */
static const char *nearest(const char *name)
{
	for (size_t i = 0; nvshmem_names[i]; i++) {
		size_t n = strlen(nvshmem_names[i]), m = strlen(name);

		if (m > n && strcmp(name + m - n, nvshmem_names[i]) == 0)
			return nvshmem_names[i];
	}
	return NULL;
}

/* The first release whose names may be missing in data/nvshmem-variables.txt. */
#define NVSHMEM_UNLISTED "3.6"

/* A name that is nearly one of the list is wrong in any release; another may have come since. */
static enum severity severity_unknown(struct rule_context *ctx, const char *name)
{
	const struct software_item *nvshmem = node_software(ctx->node, "nvshmem");

	return nvshmem && !nearest(name) &&
			       version_compare(nvshmem->version.value, NVSHMEM_UNLISTED) >= 0
		       ? SEVERITY_INFO
		       : SEVERITY_WARN;
}

static void check_unknown_variable(struct rule_context *ctx)
{
	size_t right = 0, before = ctx->findings->count;

	if (!was_read(ctx->node->env.variables)) {
		UNKNOWN(ctx, .evidence = { "env.variables" });
		return;
	}
	for_each(v, &ctx->node->env.variables) {
		const char *name = v->name.value;

		if (!span_starts(span_of(name), "NVSHMEM_"))
			continue;
		if (is_nvshmem_name(name + strlen("NVSHMEM_"))) {
			right++;
			continue;
		}
		FAIL_AS(ctx, severity_unknown(ctx, name + strlen("NVSHMEM_")), .subject = name,
			.observed = "NVSHMEM has no such variable",
			.expected = nearest(name + strlen("NVSHMEM_"))
					    ? text_printf(ctx, "NVSHMEM_%s",
							  nearest(name + strlen("NVSHMEM_")))
					    : "a name that nvshmem-info -a lists",
			.evidence = { fact_path(ctx->arena, "env.variables", name, "value") });
	}
	if (ctx->findings->count > before)
		return;
	if (right)
		PASS(ctx, .evidence = { "env.variables" });
	else
		NOT_APPLICABLE(ctx, .observed = "no NVSHMEM variable is set",
			       .evidence = { "env.variables" });
}

/* ---- env/nic-handler-conflict ---- */

/* CAP_SYS_ADMIN in linux/capability.h, by which the driver lets a caller map MMIO without the
 * override (open-gpu-kernel-modules: nv-linux.h, NV_IS_SUSER). */
#define CAP_SYS_ADMIN_BIT 21

/* NVSHMEM from this on knows cpu_host_memory, and falls back where "gpu" is refused. */
#define NVSHMEM_FALLS_BACK "3.4.5"

enum handler { HANDLER_AUTO, HANDLER_GPU, HANDLER_CPU, HANDLER_CPU_HOST_MEMORY, HANDLER_NONE };

/* NVSHMEM: ibgda.cpp, ibgda_parse_nic_handler_request(): without blanks, in lower case. */
static enum handler handler_of(const char *text)
{
	static const char *const words[] = { "auto", "gpu", "cpu", "cpu_host_memory" };
	char word[32];
	size_t n = 0;

	for (; *text && n < sizeof(word) - 1; text++)
		if (!isspace((unsigned char)*text))
			word[n++] = (char)tolower((unsigned char)*text);
	word[n] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], word) == 0)
			return (enum handler)i;
	return HANDLER_NONE;
}

static bool is_privileged(const struct node *node)
{
	return is_known(node->env.capabilities) &&
	       (node->env.capabilities.value >> CAP_SYS_ADMIN_BIT & 1) &&
	       known_is(node->env.initial_user_namespace, true);
}

static bool override_is_set(const struct node *node)
{
	static const char *const names[] = { "RegistryDwords", "RegistryDwordsPerDevice" };
	struct registry_entry entry;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct driver_param *p = node_param(node, names[i]);

		if (p && registry_find(span_of(p->value.value), "PeerMappingOverride", &entry) &&
		    entry.number)
			return true;
	}
	return false;
}

static void check_gpu_handler(struct rule_context *ctx, const struct job_value *v)
{
	const struct software_item *nvshmem = node_software(ctx->node, "nvshmem");
	bool falls_back = nvshmem &&
			  version_compare(nvshmem->version.value, NVSHMEM_FALLS_BACK) >= 0;

	if (override_is_set(ctx->node))
		PASS(ctx, .subject = v->name,
		     .evidence = { v->fact, "driver.params[RegistryDwords].value" });
	else if (is_privileged(ctx->node))
		PASS(ctx, .subject = v->name, .observed = "this process has CAP_SYS_ADMIN",
		     .evidence = { v->fact, "env.capabilities" });
	else if (!is_known(ctx->node->driver.params))
		UNKNOWN(ctx, .subject = v->name, .evidence = { "driver.params" });
	else
		FAIL(ctx, .subject = v->name,
		     .observed = text_printf(ctx, "%s, without PeerMappingOverride: %s",
					     job_value_text(ctx->arena, ctx->node, v),
					     falls_back ? "NVSHMEM falls back to the CPU"
							: "NVSHMEM passes over every NIC"),
		     .expected = "PeerMappingOverride=1: see driver/peer-mapping-override",
		     .evidence = { v->fact, "driver.params[RegistryDwords].value" });
}

static void check_cpu_handler(struct rule_context *ctx, const struct job_value *v)
{
	struct job_value off = job_env(ctx->arena, ctx->node, "NVSHMEM_DISABLE_GDRCOPY");

	if (job_is_on(&off))
		FAIL(ctx, .subject = v->name,
		     .observed = text_printf(ctx, "%s together with %s",
					     job_value_text(ctx->arena, ctx->node, v),
					     job_value_text(ctx->arena, ctx->node, &off)),
		     .expected = "cpu_host_memory, or GDRCopy left on",
		     .evidence = { v->fact, off.fact });
	else if (!was_read(ctx->node->modules.loaded))
		UNKNOWN(ctx, .subject = v->name, .evidence = { "modules.loaded" });
	else if (!node_module(ctx->node, "gdrdrv"))
		FAIL(ctx, .subject = v->name,
		     .observed = text_printf(ctx, "%s, and gdrdrv is not loaded",
					     job_value_text(ctx->arena, ctx->node, v)),
		     .expected = "gdrdrv of GDRCopy", .evidence = { v->fact, "modules.loaded" });
	else
		PASS(ctx, .subject = v->name,
		     .evidence = { v->fact, "modules.loaded[gdrdrv].state" });
}

static void check_handler(struct rule_context *ctx)
{
	const struct software_item *nvshmem = node_software(ctx->node, "nvshmem");
	struct job_value v;

	if (skip_without_variables(ctx))
		return;
	v = job_env(ctx->arena, ctx->node, "NVSHMEM_IBGDA_NIC_HANDLER");
	if (!v.value) {
		NOT_APPLICABLE(ctx,
			       .observed = "NVSHMEM_IBGDA_NIC_HANDLER is not set: NVSHMEM tries",
			       .evidence = { "env.variables" });
		return;
	}
	switch (handler_of(v.value)) {
	case HANDLER_GPU:
		check_gpu_handler(ctx, &v);
		return;
	case HANDLER_CPU:
		check_cpu_handler(ctx, &v);
		return;
	case HANDLER_CPU_HOST_MEMORY:
		if (nvshmem && version_compare(nvshmem->version.value, NVSHMEM_FALLS_BACK) < 0)
			FAIL(ctx, .subject = v.name,
			     .observed = text_printf(ctx, "%s, which NVSHMEM %s does not know",
						     job_value_text(ctx->arena, ctx->node, &v),
						     nvshmem->version.value),
			     .expected = "auto, gpu or cpu, or NVSHMEM " NVSHMEM_FALLS_BACK,
			     .evidence = { v.fact, fact_path(ctx->arena, "software.items",
							     nvshmem->path.value, "version") });
		else
			PASS(ctx, .subject = v.name, .evidence = { v.fact });
		return;
	case HANDLER_AUTO:
		PASS(ctx, .subject = v.name, .evidence = { v.fact });
		return;
	case HANDLER_NONE:
		FAIL(ctx, .subject = v.name,
		     .observed = text_printf(ctx, "%s: NVSHMEM refuses to start",
					     job_value_text(ctx->arena, ctx->node, &v)),
		     .expected = "auto, gpu, cpu or cpu_host_memory", .evidence = { v.fact });
	}
}

/* ---- env/cross-nic-with-gin ---- */

/* NCCL's documentation of the device API. */
#define NCCL_GIN "2.28.7"

/* Why GPU-initiated networking is not in use, or NULL. */
static const char *without_gin(struct rule_context *ctx)
{
	const struct software_item *nccl = node_software(ctx->node, "nccl");
	struct job_value enable = job_nccl(ctx->arena, ctx->node, "NCCL_GIN_ENABLE");
	struct job_value type = job_nccl(ctx->arena, ctx->node, "NCCL_GIN_TYPE");
	struct job_value off = job_env(ctx->arena, ctx->node, "EP_DISABLE_GIN");
	long number;

	if (job_number(&enable, &number) && number == 0)
		return "NCCL_GIN_ENABLE is 0";
	if (job_is_on(&off))
		return "EP_DISABLE_GIN is set";
	if (nccl && version_compare(nccl->version.value, NCCL_GIN) < 0)
		return text_printf(ctx, "NCCL %s has no GPU-initiated networking",
				   nccl->version.value);
	if (!is_asked_for(ctx, PROFILE_DEEPEP) && !type.value)
		return "nothing here asks for GPU-initiated networking";
	return NULL;
}

static void check_cross_nic(struct rule_context *ctx)
{
	struct job_value v;
	const char *without;
	long number;

	if (skip_without_nccl_variables(ctx))
		return;
	v = job_nccl(ctx->arena, ctx->node, "NCCL_CROSS_NIC");
	without = without_gin(ctx);
	if (without)
		NOT_APPLICABLE(ctx, .observed = without, .evidence = { "env.variables" });
	else if (!node_software(ctx->node, "nccl") && skip_unless_software_whole(ctx))
		return;
	else if (job_number(&v, &number) && number == 0)
		FAIL(ctx, .subject = v.name, .observed = job_value_text(ctx->arena, ctx->node, &v),
		     .expected = "1 or 2 (the default)", .evidence = { v.fact });
	else
		PASS(ctx, .evidence = { v.value ? v.fact : "env.variables" });
}

static const struct rule env_rules[] = {
	{
		.id = "env/nvshmem-unknown-variable",
		.title = "An NVSHMEM variable is set that NVSHMEM does not have",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_unknown_variable,
		.impact = "The setting does nothing.",
		.remedy = "Correct the name: NVSHMEM_IBGDA_QP_DEPTH, for one, is NVSHMEM_QP_DEPTH.",
		.activation = ACTIVATION_NOW,
		.reads = "NVSHMEM_ variables of --pid, or of this process.",
		.why = "NVSHMEM ignores names that it does not know. The list is that of NVSHMEM 3.5 and the "
		       "releases before; a later one may have more, so that where such a one is found it is "
		       "information, but for names that end in one of the list.",
		.check = "nvshmem-info -a",
		.sources = "NVSHMEM: src/modules/transport/common/env_defs.h",
	},
	{
		.id = "env/nic-handler-conflict",
		.title = "NVSHMEM_IBGDA_NIC_HANDLER asks for what this node does not allow",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_handler,
		.impact =
			"IBGDA does not start (\"NVSHMEM_IBGDA_NIC_HANDLER is not valid\", \"requires "
			"GDRCopy\"), or works through the CPU without saying so, with which DeepEP was seen to "
			"hang.",
		.remedy =
			"Unset NVSHMEM_IBGDA_NIC_HANDLER, or bring what the value needs: PeerMappingOverride "
			"for gpu, gdrdrv for cpu.",
		.activation = ACTIVATION_NOW,
		.reads =
			"NVSHMEM_IBGDA_NIC_HANDLER and NVSHMEM_DISABLE_GDRCOPY of the process asked about, "
			"its capabilities, the driver's RegistryDwords, whether gdrdrv is loaded, NVSHMEM on "
			"disk.",
		.why = "gpu: the GPU writes to the doorbell, which the driver maps for callers with "
		       "CAP_SYS_ADMIN in the first user namespace or under PeerMappingOverride; NVSHMEM " NVSHMEM_FALLS_BACK
		       " falls back to the CPU where it is refused, earlier ones pass over "
		       "the NIC. cpu: the CPU does it through GDRCopy. cpu_host_memory came with " NVSHMEM_FALLS_BACK
		       ".",
		.check = "grep RegistryDwords /proc/driver/nvidia/params; lsmod | grep gdrdrv; "
			 "NVSHMEM_DEBUG=INFO shows \"NIC handler will be\"",
		.sources =
			"NVSHMEM: src/modules/transport/ibgda/ibgda.cpp, ibgda_parse_nic_handler_request()\n"
			"open-gpu-kernel-modules: src/nvidia/arch/nvalloc/unix/src/osmemdesc.c\n"
			"github.com/deepseek-ai/DeepEP issue 509, pull 677",
	},
	{
		.id = "env/cross-nic-with-gin",
		.title = "NCCL_CROSS_NIC=0 takes away what GPU-initiated networking needs",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_cross_nic,
		.impact =
			"NCCL offers GIN within a rail alone, or not at all: DeepEP V2 stops with \"NCCL GIN is "
			"unavailable\".",
		.remedy =
			"Unset NCCL_CROSS_NIC, or set it to 1 or 2, on every node and in nccl.conf.",
		.activation = ACTIVATION_NOW,
		.reads =
			"NCCL_CROSS_NIC, NCCL_GIN_ENABLE, NCCL_GIN_TYPE (also of nccl.conf) and EP_DISABLE_GIN "
			"of the process asked about; NCCL on disk.",
		.why = "GIN needs every NIC to reach every other. One rank with 0 is enough to take it away "
		       "from all. Judged in the deepep profile, and where NCCL_GIN_TYPE is set; NCCL before " NCCL_GIN
		       " has no GIN. Later releases can do with rails where the program asks for "
		       "it.",
		.check = "env | grep NCCL_; cat /etc/nccl.conf",
		.sources =
			"NCCL: docs/userguide/source/usage/deviceapi.rst, Requirements; src/init.cc "
			"(globalCrossNicSupport); src/graph/search.cc, ncclTopoCheckCrossNicSupport()",
	},
};

RULE_TABLE(env);
