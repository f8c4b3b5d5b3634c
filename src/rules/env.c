/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env.c - what a job's environment sets for NVSHMEM (rules env/...). */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/rule.h"
#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "parse/version.h"
#include "query/job-env.h"

struct nvshmem_variable {
	const char *name, *since; /* "": in all releases */
};

static const struct nvshmem_variable nvshmem_names[] = {
#include "nvshmem-variables.inc"
	{ NULL, NULL },
};

/* Names that say where NVSHMEM is or how it was built; its libraries do not read them. */
static bool is_for_builds(const char *name)
{
	static const char *const endings[] = { "HOME", "PREFIX", "DIR", "_SUPPORT", "_PATH" };
	struct span s = span_of(name);

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (span_ends(s, endings[i]))
			return true;
	return false;
}

static const struct nvshmem_variable *find_variable(const char *name)
{
	for (const struct nvshmem_variable *v = nvshmem_names; v->name; v++)
		if (strcmp(v->name, name) == 0)
			return v;
	return NULL;
}

/* The known name that NAME ends in: IBGDA_QP_DEPTH was meant as QP_DEPTH. */
static const char *nearest(const char *name)
{
	for (const struct nvshmem_variable *v = nvshmem_names; v->name; v++) {
		size_t n = strlen(v->name), m = strlen(name);

		if (m > n && strcmp(name + m - n, v->name) == 0)
			return v->name;
	}
	return NULL;
}

/* The first release whose names may be missing in data/nvshmem-variables.txt. */
#define NVSHMEM_UNLISTED "3.8"

/* A name that nearly is one of the list is wrong in any release. Another may be newer than the list. */
static enum severity severity_unknown(const struct software_item *nvshmem, const char *name)
{
	return nvshmem && !nearest(name) &&
			       version_compare(nvshmem->version.value, NVSHMEM_UNLISTED) >= 0
		       ? SEVERITY_INFO
		       : SEVERITY_WARN;
}

static void fail_variable(struct rule_context *ctx, const char *variable, const char *fact,
			  const struct nvshmem_variable *known, const struct software_item *nvshmem)
{
	const char *name = variable + strlen("NVSHMEM_");

	if (known)
		FAIL(ctx, .subject = variable,
		     .observed = text_printf(ctx, "NVSHMEM %s does not read it; NVSHMEM %s does",
					     nvshmem->version.value, known->since),
		     .expected = text_printf(ctx, "NVSHMEM %s or later", known->since),
		     .remedy = text_printf(ctx, "Upgrade NVSHMEM to %s or later, or unset %s.",
					   known->since, variable),
		     .evidence = { fact, software_version_fact(ctx->arena, nvshmem) });
	else
		FAIL_AS(ctx, severity_unknown(nvshmem, name), .subject = variable,
			.observed = "NVSHMEM has no such variable",
			.expected = nearest(name) ? text_printf(ctx, "NVSHMEM_%s", nearest(name))
						  : "a name that nvshmem-info -a lists",
			.remedy = nearest(name) ? text_printf(ctx, "Rename %s to NVSHMEM_%s.",
							      variable, nearest(name))
						: NULL,
			.evidence = { fact });
}

/* Returns true if it does what it seems to. */
static bool check_variable(struct rule_context *ctx, const char *variable, const char *fact)
{
	const struct software_item *nvshmem = node_software(ctx->node, "nvshmem");
	const char *name = variable + strlen("NVSHMEM_");
	const struct nvshmem_variable *known = find_variable(name);

	if (is_for_builds(name) ||
	    (known && (!*known->since || !nvshmem ||
		       version_compare(nvshmem->version.value, known->since) >= 0)))
		return true;
	fail_variable(ctx, variable, fact, known, nvshmem);
	return false;
}

static void check_unknown_variable(struct rule_context *ctx)
{
	size_t right = 0, before = ctx->findings->count;

	if (skip_without_nvshmem_variables(ctx))
		return;
	for_each(v, &ctx->node->env.variables)
		if (span_starts(span_of(v->name.value), "NVSHMEM_"))
			right += check_variable(
				ctx, v->name.value,
				fact_path(ctx->arena, "env.variables", v->name.value, "value"));
	for_each(s, &ctx->node->env.nvshmem_conf) {
		const char *fact = ITEM_FACT(ctx->arena, ctx->node, env.nvshmem_conf, s, name);

		if (job_nvshmem_reads_conf(ctx->node) &&
		    span_starts(span_of(s->name.value), "NVSHMEM_"))
			right += check_variable(ctx, s->name.value, fact);
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
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
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

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
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
							: "NVSHMEM skips every NIC"),
		     .expected = "PeerMappingOverride=1 (driver/peer-mapping-override)",
		     .remedy = "Set PeerMappingOverride=1 in NVreg_RegistryDwords.",
		     .follows = "driver/peer-mapping-override",
		     .evidence = { v->fact, "driver.params[RegistryDwords].value" });
}

/* GDRCopy: CHANGELOG.md, 2.6. */
#define GDRCOPY_WITHOUT_MODULE "2.6"

static void check_cpu_handler(struct rule_context *ctx, const struct job_value *v)
{
	struct job_value off = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_DISABLE_GDRCOPY");
	const struct software_item *gdrcopy = node_software(ctx->node, "gdrcopy");

	if (job_is_on(&off))
		FAIL(ctx, .subject = v->name,
		     .observed = text_printf(ctx, "%s together with %s",
					     job_value_text(ctx->arena, ctx->node, v),
					     job_value_text(ctx->arena, ctx->node, &off)),
		     .expected = "cpu_host_memory, or NVSHMEM_DISABLE_GDRCOPY unset",
		     .remedy = "Unset NVSHMEM_DISABLE_GDRCOPY or NVSHMEM_IBGDA_NIC_HANDLER.",
		     .evidence = { v->fact, off.fact });
	else if (!was_read(ctx->node->modules.loaded))
		UNKNOWN(ctx, .subject = v->name, .evidence = { "modules.loaded" });
	else if (!node_module(ctx->node, "gdrdrv") && gdrcopy &&
		 version_compare(gdrcopy->version.value, GDRCOPY_WITHOUT_MODULE) >= 0)
		NOTE(ctx, .subject = v->name,
		     .observed = text_printf(
			     ctx,
			     "gdrdrv is not loaded; GDRCopy %s works without it on CUDA driver 13.3 "
			     "or later",
			     gdrcopy->version.value),
		     .evidence = { v->fact, "modules.loaded" });
	else if (!node_module(ctx->node, "gdrdrv"))
		FAIL(ctx, .subject = v->name, .needs_module = "gdrdrv",
		     .observed = text_printf(ctx, "%s, and gdrdrv is not loaded",
					     job_value_text(ctx->arena, ctx->node, v)),
		     .expected = "gdrdrv of GDRCopy", .follows = "modules/gdrdrv-not-loaded",
		     .evidence = { v->fact, "modules.loaded" });
	else
		PASS(ctx, .subject = v->name,
		     .evidence = { v->fact, "modules.loaded[gdrdrv].state" });
}

static void check_handler(struct rule_context *ctx)
{
	const struct software_item *nvshmem = node_software(ctx->node, "nvshmem");
	struct job_value v;

	if (skip_without_nvshmem_variables(ctx))
		return;
	v = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_IBGDA_NIC_HANDLER");
	if (!v.value) {
		NOT_APPLICABLE(
			ctx,
			.observed =
				"NVSHMEM_IBGDA_NIC_HANDLER is not set: NVSHMEM uses the GPU if it can",
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
			     .observed = text_printf(ctx, "%s: NVSHMEM %s has no such value",
						     job_value_text(ctx->arena, ctx->node, &v),
						     nvshmem->version.value),
			     .expected = "auto, gpu or cpu, or NVSHMEM " NVSHMEM_FALLS_BACK,
			     .evidence = { v.fact, software_version_fact(ctx->arena, nvshmem) });
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

static const struct rule env_rules[] = {
	{
		.id = "env/nvshmem-unknown-variable",
		.title = "An NVSHMEM setting has no effect: NVSHMEM has no such variable",
		.profiles = PROFILE_DEEPEP,
		.used_variables = "NVSHMEM_*",
		.severity = SEVERITY_WARN,
		.evaluate = check_unknown_variable,
		.impact = "NVSHMEM uses its default instead.",
		.remedy = "Correct the name, or unset the variable.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads = "NVSHMEM_ variables of the job (also in nvshmem.conf); NVSHMEM on disk.",
		.why = "NVSHMEM ignores names that it does not know. The list has all names up to NVSHMEM 3.7, with "
		       "the release that brought the newer ones. With a later NVSHMEM an unknown name is a note, "
		       "unless it ends in a name of the list.",
		.check = "nvshmem-info -a",
		.sources = "NVSHMEM 3.5.1 and 3.6.8: src/include/host/env/env_defs.h, "
			   "src/modules/transport/common/env_defs.h\n"
			   "NVSHMEM 3.7 documentation: Environment Variables\n"
			   "github.com/NVIDIA/nvshmem issue 63",
	},
	{
		.id = "env/nic-handler-conflict",
		.title =
			"NVSHMEM IBGDA fails or is slow: its NIC handler does not work on this node",
		.is_short_effect = true,
		.profiles = PROFILE_DEEPEP,
		.used_variables = "NVSHMEM_IBGDA_NIC_HANDLER",
		.severity = SEVERITY_WARN,
		.evaluate = check_handler,
		.impact =
			"IBGDA does not start (\"NVSHMEM_IBGDA_NIC_HANDLER is not valid\", \"requires GDRCopy\"). Or it "
			"uses the CPU with a warning, and DeepEP 1 hangs in its first dispatch.",
		.remedy = "Unset NVSHMEM_IBGDA_NIC_HANDLER: NVSHMEM then chooses by itself.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"NVSHMEM_IBGDA_NIC_HANDLER and NVSHMEM_DISABLE_GDRCOPY of the job, its capabilities, the "
			"driver's RegistryDwords, the loaded modules, NVSHMEM and GDRCopy on disk.",
		.why = "gpu: the GPU writes to the doorbell. The driver maps it for callers with CAP_SYS_ADMIN in the "
		       "initial user namespace, or with PeerMappingOverride. If that fails, NVSHMEM " NVSHMEM_FALLS_BACK
		       " uses the CPU, as without the variable, and earlier releases (from 2.10.1) skip the NIC. cpu: the CPU does it through GDRCopy. "
		       "cpu_host_memory came with " NVSHMEM_FALLS_BACK
		       ". DeepEP's kernels do not publish their work to the CPU's thread, so that its first dispatch "
		       "waits for ever. That was read in its code, and seen by users.",
		.check = "grep RegistryDwords /proc/driver/nvidia/params; lsmod | grep gdrdrv; "
			 "NVSHMEM_DEBUG=INFO shows \"NIC handler will be\"",
		.sources =
			"NVSHMEM 2.10.1, 3.3.20, 3.4.5, 3.5.1: src/modules/transport/ibgda/ibgda.cpp, "
			"ibgda_parse_nic_handler_request(), ibgda_check_gpu_mapping_nic_uar(), nvshmemt_init()\n"
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osmemdesc.c\n"
			"GDRCopy 2.6: CHANGELOG.md\n"
			"github.com/deepseek-ai/DeepEP issue 509, pull 677 (2026-07-08)",
	},
};

RULE_TABLE(env);
