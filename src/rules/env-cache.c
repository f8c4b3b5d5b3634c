/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-cache.c - the folder where DeepEP 2 keeps the kernels that it compiles (rule env/deepep-cache). */
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/job-env.h"

#define VARIABLE "EP_JIT_CACHE_DIR"
/* From this release on DeepEP compiles its kernels at run time (csrc/jit). */
#define DEEPEP_COMPILES "2.0.0"

static const char *const access_texts[] = {
	[FOLDER_WRITABLE] = "can be written",
	[FOLDER_FULL] = "is on a full file system",
	[FOLDER_REFUSED] = "cannot be written by the job's user",
	[FOLDER_READ_ONLY] = "is on a read-only file system",
	[FOLDER_NO_FOLDER] = "is no folder, or below a file",
};

static bool skip_without_deepep(struct rule_context *ctx, bool named)
{
	const struct software_item *deepep = node_software(ctx->node, "deepep");
	const char *observed = deepep ? "DeepEP before 2 compiles nothing at run time"
				      : "EP_JIT_CACHE_DIR is not set, and no DeepEP was found";

	if (deepep ? !is_known(deepep->version) ||
			     version_compare(deepep->version.value, DEEPEP_COMPILES) >= 0
		   : named)
		return false;
	NOT_APPLICABLE(ctx, .observed = observed,
		       .evidence = { "env.variables", "software.items" });
	return true;
}

static void check_cache(struct rule_context *ctx)
{
	const struct fact_enum access = ctx->node->env.deepep_cache;
	static const char fact[] = "env.deepep_cache";
	struct job_value named;
	const char *observed;

	if (skip_without_variables(ctx))
		return;
	named = job_env(ctx->arena, ctx->node, VARIABLE);
	if (skip_without_deepep(ctx, named.value))
		return;
	if (!is_known(access)) {
		UNKNOWN(ctx, .evidence = { fact });
		return;
	}
	observed = text_printf(ctx, "%s %s", named.value ? named.value : "~/.deep_ep",
			       access_texts[access.value]);
	if (access.value == FOLDER_WRITABLE && named.value)
		PASS(ctx, .evidence = { fact, named.fact });
	else if (access.value == FOLDER_WRITABLE)
		NOT_APPLICABLE(ctx, .observed = observed, .evidence = { fact });
	else if (named.value)
		FAIL(ctx, .subject = VARIABLE, .observed = observed,
		     .expected = "a folder that the job can write",
		     .evidence = { fact, named.fact });
	else
		NOTE(ctx, .subject = VARIABLE,
		     .observed = text_printf(
			     ctx, "%s; DeepEP uses it unless its build chose another", observed),
		     .expected = VARIABLE " set to a folder that the job can write",
		     .evidence = { fact, "env.variables" });
}

static const struct rule env_cache_rules[] = {
	{
		.id = "env/deepep-cache",
		.title = "DeepEP 2 cannot keep its kernels: their folder cannot be written",
		.profiles = PROFILE_DEEPEP,
		.used_variables = "EP_JIT_CACHE_DIR",
		.severity = SEVERITY_WARN,
		.evaluate = check_cache,
		.impact =
			"DeepEP 2 stops when it compiles its first kernel: \"Failed to make directory\", or a failed "
			"write.",
		.remedy =
			"Set EP_JIT_CACHE_DIR to a folder that the job's user can write, and that has free space.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"EP_JIT_CACHE_DIR, else HOME, of a process of the same user; the folder, or the nearest one above "
			"that exists: permissions, read-only mounts, free space. DeepEP on disk.",
		.why = "DeepEP 2 compiles kernels in EP_JIT_CACHE_DIR or ~/.deep_ep, and creates the folder. What "
		       "another user's process can write is not known. A build can fix another default: so "
		       "~/.deep_ep alone is a note. noexec and network file systems do no harm: DeepEP loads the files, "
		       "and synchronizes and renames them. Quotas are not seen.",
		.check =
			"d=${EP_JIT_CACHE_DIR:-~/.deep_ep}; mkdir -p $d && touch $d/test && df -h $d",
		.sources =
			"DeepEP 2.1.0 (commit dd758ca): csrc/jit/compiler.hpp (Compiler, build), csrc/utils/system.hpp "
			"(make_dirs), setup.py (persistent_env_names)",
	},
};

RULE_TABLE(env_cache);
