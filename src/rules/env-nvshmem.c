/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-nvshmem.c - the files that stand over NVSHMEM's variables (rule env/nvshmem-conf). */
#include <inttypes.h>
#include <string.h>

#include "evaluate/skip.h"
#include "query/job-env.h"

/* "export NVSHMEM_DEBUG": the name is compared whole. */
static bool is_name(const char *name)
{
	return !strpbrk(name, " \t");
}

static const char *place_of(struct rule_context *ctx, const struct env_setting *s)
{
	return text_printf(ctx, "%s:%" PRIu64, s->file.value, s->line.value);
}

static void fail_unread(struct rule_context *ctx, const struct env_setting *s, const char *fact)
{
	const struct software_item *nvshmem = node_software(ctx->node, "nvshmem");

	FAIL(ctx, .subject = place_of(ctx, s),
	     .observed = text_printf(ctx, "NVSHMEM %s does not read the file",
				     nvshmem->version.value),
	     .expected = "NVSHMEM " NVSHMEM_READS_CONF " or later",
	     .remedy = text_printf(ctx, "Set %s in the job's environment.", s->name.value),
	     .evidence = { fact, software_version_fact(ctx->arena, nvshmem) });
}

static void check_setting(struct rule_context *ctx, const struct env_setting *s, const char *fact)
{
	const char *name = s->name.value, *told = node_env(ctx->node, name);
	struct job_value used = job_nvshmem(ctx->arena, ctx->node, name);

	if (!job_nvshmem_reads_conf(ctx->node))
		fail_unread(ctx, s, fact);
	else if (!is_name(name))
		FAIL(ctx, .subject = place_of(ctx, s),
		     .observed = text_printf(ctx, "NVSHMEM reads \"%s\" as the name", name),
		     .expected = "NAME=VALUE", .evidence = { fact });
	else if (told && used.value && strcmp(told, used.value) != 0)
		FAIL(ctx, .subject = place_of(ctx, s),
		     .observed = text_printf(ctx, "%s is used, and %s=%s of the environment is not",
					     job_value_text(ctx->arena, ctx->node, &used), name,
					     told),
		     .expected = "one value",
		     .evidence = { used.fact,
				   fact_path(ctx->arena, "env.variables", name, "value") });
}

static void check_conf(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_nvshmem_variables(ctx))
		return;
	if (!was_read(ctx->node->env.nvshmem_conf)) {
		UNKNOWN(ctx, .evidence = { "env.nvshmem_conf" });
		return;
	}
	if (!ctx->node->env.nvshmem_conf.count) {
		NOT_APPLICABLE(ctx, .observed = "no nvshmem.conf sets a variable",
			       .evidence = { "env.nvshmem_conf" });
		return;
	}
	before = ctx->findings->count;
	for_each(s, &ctx->node->env.nvshmem_conf)
		check_setting(ctx, s, ITEM_FACT(ctx->arena, ctx->node, env.nvshmem_conf, s, value));
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "env.nvshmem_conf" });
}

static const struct rule env_nvshmem_rules[] = {
	{
		.id = "env/nvshmem-conf",
		.title =
			"NVSHMEM does not use the value that the job sets: nvshmem.conf has another",
		.profiles = PROFILE_GPUDIRECT,
		.used_variables = "NVSHMEM_*",
		.severity = SEVERITY_WARN,
		.evaluate = check_conf,
		.impact =
			"NVSHMEM uses the file's value, silently. With a release that reads no file it uses "
			"its default.",
		.remedy =
			"Remove the line from the file, or the variable from the job's environment.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"/etc/nvshmem.conf, ~/.nvshmem.conf of the job's user and $NVSHMEM_CONF_FILE; NVSHMEM_ "
			"variables of the job; NVSHMEM on disk.",
		.why = "From NVSHMEM " NVSHMEM_READS_CONF
		       " on a value of these files overrides the environment. With NCCL it is the other way "
		       "round. A later file overrides an earlier one, in the order above. Earlier releases read none "
		       "of them. Two equal values are no finding.",
		.check =
			"grep NVSHMEM_ /etc/nvshmem.conf ~/.nvshmem.conf \"$NVSHMEM_CONF_FILE\"; env | grep NVSHMEM_",
		.sources =
			"NVSHMEM 3.6.5: src/include/bootstrap_host_transport/env_defs_internal.h, nvshmemi_conf_get(); "
			"README.md, Configuration file; release notes, Key Features and Enhancements",
	},
};

RULE_TABLE(env_nvshmem);
