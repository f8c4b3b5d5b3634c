/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rootless.c - whether a user other than root runs a Docker of their own, which may not change control groups
 * (docs.docker.com/engine/security/rootless): by its process, and by the files of the user.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "probes/probe.h"
#include "probes/processes.h"

#define HOMES_MAX 64
#define TRACES_MAX 8

static void add_trace(struct arena *arena, struct containers_facts *answer, const char *path)
{
	if (answer->rootless.count < TRACES_MAX)
		*LIST_ADD(arena, &answer->rootless) = path;
}

/* ---- processes ---- */

struct search {
	struct host *host;
	struct arena *arena;
	struct containers_facts *answer;
};

/* A container has a PID namespace of its own; a Docker in it is the container's. */
static void dockerd_found(void *user, uint64_t pid, const char *comm)
{
	struct search *s = user;

	if (strcmp(comm, "dockerd") == 0 && !process_is_the_nodes(s->host, pid) &&
	    !process_is_contained(s->host, (pid_t)pid))
		add_trace(s->arena, s->answer,
			  arena_printf(s->arena, "/proc/%llu/status", (unsigned long long)pid));
}

/* ---- files of users: daemon.json counts with NVIDIA's runtime ---- */

static bool has_nvidia(struct host *host, const char *path)
{
	_cleanup_text_ struct text text = { 0 };

	return host_read(host, &text, HOST_FILE_MAX, "%s", path) == 0 &&
	       span_search(text_span(&text), "nvidia");
}

static void read_home(struct search *s, const char *name)
{
	const char *file = arena_printf(s->arena, "/home/%s/.config/docker/daemon.json", name);
	const char *unit = arena_printf(s->arena, "/home/%s/.config/systemd/user/docker.service",
					name);

	if (has_nvidia(s->host, file))
		add_trace(s->arena, s->answer, file);
	if (host_exists(s->host, unit))
		add_trace(s->arena, s->answer, unit);
}

static int rootless_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct search s = { host, arena, facts };
	_cleanup_names_ struct names names = { 0 };
	int rc = processes_list(host, dockerd_found, &s);
	int homes = host_list(host, &names, "/home");

	(void)user;
	host_distrust_names(host, true);
	for (size_t i = 0; i < names.count && i < HOMES_MAX; i++)
		read_home(&s, names.items[i]);
	host_distrust_names(host, false);
	if (rc == 0 &&
	    ((homes == 0 && names.count <= HOMES_MAX) || homes == -ENOENT || homes == -ENODATA))
		s.answer->rootless.state = FACT_KNOWN;
	return 0;
}

static void rootless_run(struct probe_context *ctx)
{
	struct containers_facts *containers = &ctx->node->containers, answer = { 0 };

	if (is_known(ctx->node->os.container) ||
	    host_query(ctx->host, "rootless", &containers_facts_desc, &answer, ctx->arena,
		       rootless_ask, NULL))
		return;
	containers->rootless.state = answer.rootless.state;
	for_each(trace, &answer.rootless)
		*LIST_ADD(ctx->arena, &containers->rootless) = *trace;
}

const struct probe probe_rootless = {
	.name = "rootless",
	.phase = PHASE_SECOND,
	.needs = NEEDS_PROCESSES,
	.run = rootless_run,
};
