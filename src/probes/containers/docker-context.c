/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * docker-context.c - whether the docker command of a user talks to Docker Desktop, whose engine runs in a virtual
 * machine: config.json in the user's home has the name of the context.
 */
#include <errno.h>

#include "base/json-pick.h"
#include "probes/probe.h"

#define HOMES_MAX 64
#define DESKTOP "desktop-linux"

/* Returns false if it is not known. */
static bool read_config(struct host *host, struct arena *arena, struct containers_facts *answer,
			const char *path)
{
	static const char *const names[] = { "currentContext" };
	_cleanup_text_ struct text text = { 0 };
	struct json_error error;
	struct span value, context;
	int rc = host_read(host, &text, HOST_FILE_MAX, "%s", path);

	if (rc)
		return rc == -ENOENT || rc == -ENOTDIR;
	if (!json_pick(text_span(&text), names, 1, &value, &error))
		return false;
	if (json_picked_plain(value, &context) && span_is(context, DESKTOP))
		*LIST_ADD(arena, &answer->docker_desktop) = path;
	return true;
}

static int ask_contexts(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct containers_facts *answer = facts;
	_cleanup_names_ struct names names = { 0 };
	int homes = host_list(host, &names, "/home");
	bool known = (homes == 0 && names.count <= HOMES_MAX) || homes == -ENOENT ||
		     homes == -ENODATA;

	(void)user;
	host_distrust_names(host, true);
	known &= read_config(host, arena, answer, "/root/.docker/config.json");
	for (size_t i = 0; i < names.count && i < HOMES_MAX; i++)
		known &= read_config(
			host, arena, answer,
			arena_printf(arena, "/home/%s/.docker/config.json", names.items[i]));
	host_distrust_names(host, false);
	if (known)
		answer->docker_desktop.state = FACT_KNOWN;
	return 0;
}

/* Only on a node whose own Docker is set up for GPUs does the answer matter. */
static bool is_docker_set_up(const struct node *node)
{
	for_each(c, &node->containers.configs)
		if (str_is(c->path, "/etc/docker/daemon.json"))
			return !known_is(c->nvidia, false);
	return !was_read(node->containers.configs);
}

static void docker_context_run(struct probe_context *ctx)
{
	struct containers_facts *containers = &ctx->node->containers, answer = { 0 };

	if (is_known(ctx->node->os.container) || !is_docker_set_up(ctx->node)) {
		containers->docker_desktop.state = FACT_ABSENT;
		return;
	}
	if (host_query(ctx->host, "docker contexts", &containers_facts_desc, &answer, ctx->arena,
		       ask_contexts, NULL))
		return;
	containers->docker_desktop.state = answer.docker_desktop.state;
	for_each(path, &answer.docker_desktop)
		*LIST_ADD(ctx->arena, &containers->docker_desktop) = *path;
}

const struct probe probe_docker_context = {
	.name = "docker-context",
	.phase = PHASE_SECOND,
	.run = docker_context_run,
};
