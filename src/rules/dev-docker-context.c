/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-docker-context.c - users whose docker command talks to Docker Desktop (rule dev/docker-context). */
#include <string.h>

#include "evaluate/skip.h"

static const char fact[] = "containers.docker_desktop";

/* In WSL 2 Docker Desktop has the GPU. */
static bool is_wsl(const struct node *node)
{
	return is_known(node->os.kernel) && strcasestr(node->os.kernel.value, "microsoft");
}

#define NAMED 4 /* files of users */

static const char *files_of(struct rule_context *ctx, const struct containers_facts *containers)
{
	const char *text = "";
	uint32_t all = containers->docker_desktop.count;

	for (uint32_t i = 0; i < all && i < NAMED; i++)
		text = text_printf(ctx, "%s%s%s", text, i ? ", " : "",
				   containers->docker_desktop.items[i]);
	return all > NAMED ? text_printf(ctx, "%s and %u more", text, all - NAMED) : text;
}

static void check_context(struct rule_context *ctx)
{
	const struct containers_facts *containers = &ctx->node->containers;

	if (skip_without_gpu(ctx) || skip_in_container(ctx))
		return;
	if (is_absent(containers->docker_desktop) || is_wsl(ctx->node))
		NOT_APPLICABLE(ctx, .observed = "Docker is not set up for GPUs",
			       .evidence = { "containers.configs" });
	else if (!was_read(containers->configs))
		UNKNOWN(ctx, .evidence = { "containers.configs" });
	else if (containers->docker_desktop.count)
		FAIL(ctx,
		     .observed = text_printf(
			     ctx,
			     "currentContext is desktop-linux in %s, and /etc/docker/daemon.json "
			     "configures NVIDIA's runtime for the node's own engine",
			     files_of(ctx, containers)),
		     .expected = "the context default", .evidence = { fact });
	else if (!was_read(containers->docker_desktop))
		UNKNOWN(ctx, .evidence = { fact });
	else
		PASS(ctx, .evidence = { fact });
}

static const struct rule dev_docker_context_rules[] = {
	{
		.id = "dev/docker-context",
		.title = "docker run --gpus fails for a user: the command talks to Docker Desktop",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_context,
		.impact =
			"Containers of this user start in the virtual machine of Docker Desktop, which has no GPU: \"could not "
			"select device driver\".",
		.remedy = "Have each of these users run docker context use default.",
		.activation = ACTIVATION_NOW,
		.reads =
			"currentContext in .docker/config.json of root and of users below /home, if /etc/docker/daemon.json names "
			"NVIDIA's runtime.",
		.why = "On Linux, Docker Desktop makes its own context the current one. Its engine runs in a virtual machine and "
		       "does not read /etc/docker/daemon.json. Docker Desktop supports GPUs on Windows with WSL 2 only.",
		.check = "docker context ls",
		.sources = "docker/docs 06acc914: content/manuals/desktop/features/gpu.md\n"
			   "github.com/NVIDIA/nvidia-container-toolkit issue 814",
	},
};

RULE_TABLE(dev_docker_context);
