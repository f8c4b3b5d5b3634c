/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-files.c - the files that a job's variables name (rule env/file-missing). */
#include <strings.h>

#include "evaluate/references.h"

/* NVSHMEM loads this plugin if NVSHMEM_BOOTSTRAP=plugin. */
static bool is_bootstrap(const struct node *node, const struct reference *r)
{
	const char *how = node_env(node, "NVSHMEM_BOOTSTRAP");

	return str_is(r->role, "NVSHMEM_BOOTSTRAP_PLUGIN") && how && strcasecmp(how, "plugin") == 0;
}

/* NCCL ends without the graph. Without the other files it continues, and only its own log says so. */
static enum severity grade(const struct rule_context *ctx, const struct reference *r,
			   enum reference_state state)
{
	(void)state;
	return str_is(r->role, "NCCL_GRAPH_FILE") || is_bootstrap(ctx->node, r) ? SEVERITY_ERR
										: SEVERITY_WARN;
}

static const char *what_breaks(struct rule_context *ctx, const struct reference *r)
{
	if (str_is(r->role, "NCCL_GRAPH_FILE"))
		return "NCCL does not start: \"Could not open XML graph file\".";
	if (str_is(r->role, "NCCL_TOPO_FILE"))
		return "NCCL uses the topology that it detects, which is slow if the provider supplies a file. Only "
		       "NCCL_DEBUG=INFO shows \"Could not open XML topology file\".";
	if (is_bootstrap(ctx->node, r))
		return "NVSHMEM does not start: \"Bootstrap unable to load\".";
	if (str_starts(r->role, "NVSHMEM_"))
		return "NVSHMEM would fail with NVSHMEM_BOOTSTRAP=plugin. Without that the variable has no effect.";
	return text_printf(ctx, "NCCL continues without the file of %s, silently.", r->role.value);
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	return text_printf(
		ctx, "Install the file as %s, in a container by its image or a mount. Or unset %s.",
		r->name.value, r->role.value);
}

static void check_files(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_ENVIRONMENT,
		.none = "no variable names a file",
		.expected = "a file that exists",
		.grade = grade,
		.remedy = remedy,
		.impact = what_breaks,
	};

	if (!was_read(ctx->node->env.variables))
		UNKNOWN(ctx, .evidence = { "env.variables" });
	else
		references_check(ctx, &check);
}

static const struct rule env_files_rules[] = {
	{
		.id = "env/file-missing",
		.title = "NCCL or NVSHMEM does not find a file that the job's environment names",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_files,
		.impact = "NCCL continues without the file, or does not start.",
		.remedy = "Install the file there, or unset the variable.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"NCCL_TOPO_FILE, NCCL_GRAPH_FILE, NCCL_CONF_FILE, NCCL_TUNER_CONFIG_FILE and "
			"NVSHMEM_BOOTSTRAP_PLUGIN of the job and in NCCL's configuration files; whether the files exist.",
		.why = "These files come with a provider's image. Jobs and containers elsewhere have the variable without "
		       "the file. A process in another mount namespace has its own files, which are not read.",
		.check = "env | grep NCCL_; ls -l \"$NCCL_TOPO_FILE\"",
		.sources =
			"NCCL 2.30.7: src/graph/topo.cc, src/graph/xml.cc, src/graph/search.cc, src/misc/param.cc\n"
			"NVSHMEM 3.5.1: src/host/bootstrap/bootstrap_loader.cpp",
	},
};

RULE_TABLE(env_files);
