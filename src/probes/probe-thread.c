/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe-thread.c - a probe's preflight.ahead(), in a thread of its own while its child runs the steps before it. */
#include "probes/probe-thread.h"

#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "probes/gap.h"

/* Address space for what the thread finds: pages that it does not touch cost nothing. */
#define PART_BYTES (ARENA_BYTES / 4)
#define STACK_BYTES (512 << 10)

struct probe_thread {
	const struct probe *probe;
	struct probe_context ctx;
	pthread_t thread;
	char trace[PATH_MAX];
};

static void add_gap(void *user, const char *path, int error, const char *why)
{
	struct probe_thread *t = user;

	gap_add(t->ctx.node, t->ctx.arena, t->probe->name, path, error, why);
}

static void *probe_thread_run(void *user)
{
	struct probe_thread *t = user;

	t->probe->preflight.ahead(&t->ctx);
	return NULL;
}

static bool begin(struct probe_thread *t)
{
	pthread_attr_t attributes;
	int rc = pthread_attr_init(&attributes);

	if (rc)
		return false;
	rc = pthread_attr_setstacksize(&attributes, STACK_BYTES);
	rc = rc ? rc : pthread_create(&t->thread, &attributes, probe_thread_run, t);
	pthread_attr_destroy(&attributes);
	return rc == 0;
}

struct probe_thread *probe_thread_begin(const struct probe *probe, const struct probe_context *ctx)
{
	struct probe_thread *t;

	/* A heap of its own would take the thread longer to make than what it takes from it. */
	mallopt(M_ARENA_MAX, 1);
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->probe = probe;
	t->ctx = *ctx;
	t->ctx.host = host_for_thread(ctx->host, t->trace);
	if (t->ctx.host) {
		host_on_gap(t->ctx.host, add_gap, t);
		t->ctx.arena = arena_part(ctx->arena, PART_BYTES);
		t->ctx.node = arena_alloc(t->ctx.arena, sizeof(*t->ctx.node));
		t->ctx.node->gaps.state = FACT_KNOWN;
		if (begin(t))
			return t;
		free(t->ctx.host);
	}
	free(t);
	return NULL;
}

void probe_thread_take(struct probe_thread *t, struct probe_context *ctx, char *trace)
{
	const struct probe *probe = t->probe;

	host_trace_in(t->ctx.host, trace);
	pthread_join(t->thread, NULL);
	memcpy((char *)ctx->node + probe->section, (char *)t->ctx.node + probe->section,
	       probe->section_size);
	for_each(g, &t->ctx.node->gaps)
		if (ctx->node->gaps.count < GAPS_MAX)
			*LIST_ADD(ctx->arena, &ctx->node->gaps) = *g;
	free(t->ctx.host);
	free(t);
}
