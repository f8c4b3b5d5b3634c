/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containerd.c - the configuration file that the running containerd was started with (cmd/containerd/command/main.go:
 * --config, -c). Only the path leaves this probe: command lines can hold passwords.
 */
#include <errno.h>
#include <string.h>

#include "probes/containers/containers.h"
#include "probes/probe.h"
#include "probes/processes.h"

#define CMDLINE_MAX (128u << 10)

struct search {
	struct host *host;
	struct arena *arena;
	char *path;
};

static void take_path(struct search *s, struct span path)
{
	if (path.n > 1 && path.p[0] == '/')
		s->path = arena_strndup(s->arena, path.p, path.n);
}

/* The last one counts, as the flag package takes it. */
static void take_arguments(struct search *s, struct span text)
{
	struct span word;
	bool next = false;

	while (span_cut(&text, '\0', &word)) {
		struct span name = { word.p, span_find(word, '=') };
		bool is_config = span_is(name, "--config") || span_is(name, "-config") ||
				 span_is(name, "-c") || span_is(name, "--c");

		if (next)
			take_path(s, word);
		else if (is_config && name.n < word.n)
			take_path(s, (struct span){ word.p + name.n + 1, word.n - name.n - 1 });
		next = !next && is_config && name.n == word.n;
	}
}

static void containerd_found(void *user, uint64_t pid, const char *comm)
{
	struct search *s = user;
	_cleanup_text_ struct text text = { 0 };

	if (strcmp(comm, "containerd") != 0 || s->path || !process_is_the_nodes(s->host, pid) ||
	    process_is_elsewhere(s->host, (pid_t)pid))
		return;
	if (host_read(s->host, &text, CMDLINE_MAX, "/proc/%llu/cmdline", (unsigned long long)pid) ==
	    0)
		take_arguments(s, text_span(&text));
}

static int containerd_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct containers_facts *answer = facts;
	struct search s = { .host = host, .arena = arena };
	int rc = processes_list(host, containerd_found, &s);

	(void)user;
	if (rc)
		return rc == -ESRCH ? -ENODATA : rc;
	if (s.path)
		LIST_ADD(arena, &answer->configs)->path = fact_str(arena, s.path);
	return 0;
}

static bool is_read(const struct containers_facts *containers, const char *path)
{
	for_each(config, &containers->configs)
		if (str_is(config->path, path))
			return true;
	return false;
}

static void containerd_run(struct probe_context *ctx)
{
	struct containers_facts answer = { 0 };

	if (is_known(ctx->node->os.container) ||
	    host_query(ctx->host, "containerd", &containers_facts_desc, &answer, ctx->arena,
		       containerd_ask, NULL))
		return;
	for_each(config, &answer.configs)
		if (!is_read(&ctx->node->containers, config->path.value))
			containers_add_config(ctx, arena_strdup(ctx->arena, config->path.value));
}

const struct probe probe_containerd = {
	.name = "containerd",
	.phase = PHASE_SECOND,
	.needs = NEEDS_PROCESSES,
	.run = containerd_run,
};
