/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-files.c - whether the files that a job's variables name are there (rules env/...). */
#include "evaluate/references.h"

/* NCCL gives up without the graph; without the others it goes on and says so in its own log alone. */
static enum severity grade(const struct rule_context *ctx, const struct reference *r,
			   enum reference_state state)
{
	(void)ctx;
	(void)state;
	return str_is(r->role, "NCCL_GRAPH_FILE") ? SEVERITY_ERR : SEVERITY_WARN;
}

static const char *what_breaks(struct rule_context *ctx, const struct reference *r)
{
	if (str_is(r->role, "NCCL_GRAPH_FILE"))
		return "NCCL does not start: \"Could not open XML graph file\".";
	if (str_is(r->role, "NCCL_TOPO_FILE"))
		return "NCCL goes on with the topology that it sees, which is slow where the provider gave a file: "
		       "NCCL_DEBUG=INFO alone shows \"Could not open XML topology file\".";
	return text_printf(ctx, "NCCL goes on without what %s has, and says nothing.",
			   r->role.value);
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	return text_printf(
		ctx,
		"Bring the file to %s, also into the image or by a mount into the container, or "
		"unset %s.",
		r->name.value, r->role.value);
}

static void check_files(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_ENVIRONMENT,
		.none = "no variable names a file for NCCL",
		.expected = "files that are there",
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
		.title = "NCCL does not find a file that it is told to read",
		.profiles = PROFILE_RDMA_ANY | PROFILE_P2P,
		.severity = SEVERITY_WARN,
		.gravest = SEVERITY_ERR,
		.evaluate = check_files,
		.impact = "NCCL goes on without it, or does not start.",
		.remedy = "Bring the file to that path, or unset the variable.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"NCCL_TOPO_FILE, NCCL_GRAPH_FILE, NCCL_CONF_FILE and NCCL_TUNER_CONFIG_FILE of the process "
			"that is asked about and in NCCL's configuration files, and whether the files are there.",
		.why = "These files come with a provider's image; jobs and containers elsewhere have the variable "
		       "without the file. A process in another mount namespace has files of its own, which "
		       "are not looked at.",
		.check = "env | grep NCCL_; ls -l \"$NCCL_TOPO_FILE\"",
		.sources =
			"NCCL 2.30: src/graph/topo.cc, src/graph/xml.cc, src/graph/search.cc, src/misc/param.cc",
	},
};

RULE_TABLE(env_files);
