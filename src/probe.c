/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probe.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define PROBE(name) extern const struct probe probe_##name;
#include "probes.inc"
#undef PROBE

static const struct probe *probes[] = {
#define PROBE(name) &probe_##name,
#include "probes.inc"
#undef PROBE
};
static const size_t probes_count = sizeof(probes) / sizeof(probes[0]);

#define SLICES 20	/* how often in its deadline a probe is looked after */
#define BUSY 10		/* deadlines that a probe has in all */

/* What both processes see; it lies in the shared arena. */
struct watch {
	char trace[PATH_MAX];
	const char *probe;
};

struct message {
	enum { MESSAGE_BEGIN, MESSAGE_END } kind;
	uint32_t index;
};

struct run {
	struct probe_context ctx;
	pid_t parent;
	struct watch *watch;
};

static int compare_probes(const void *a, const void *b)
{
	const struct probe *x = *(const struct probe *const *)a;
	const struct probe *y = *(const struct probe *const *)b;

	return x->phase != y->phase ? x->phase - y->phase : strcmp(x->name, y->name);
}

const struct probe *const *probe_table(size_t *count)
{
	qsort(probes, probes_count, sizeof(probes[0]), compare_probes);
	*count = probes_count;
	return probes;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* ---- gaps and results ---- */

static void add_gap(void *user, const char *path, int error, const char *why)
{
	struct run *run = user;
	struct node *node = run->ctx.node;
	struct arena *arena = run->ctx.arena;
	struct gap *gap;

	for_each(g, &node->gaps)
		if (str_is(g->path, path) && str_is(g->probe, run->watch->probe))
			return;
	if (node->gaps.count == GAPS_MAX)
		return;
	gap = LIST_ADD(arena, &node->gaps);
	gap->path = fact_str(arena, path);
	gap->error = fact_str(arena, host_error_word(error));
	gap->why = fact_str(arena, node->gaps.count == GAPS_MAX ? "and more, not listed" : why);
	gap->probe = fact_str(arena, run->watch->probe);
}

static bool has_gap(const struct node *node, const char *probe)
{
	for_each(g, &node->gaps)
		if (str_is(g->probe, probe))
			return true;
	return false;
}

static void add_result(struct run *run, const struct probe *probe, enum probe_state state,
		       uint64_t duration_us)
{
	struct node *node = run->ctx.node;
	struct probe_result *result = LIST_ADD(run->ctx.arena, &node->probes);

	if (state == PROBE_OK && has_gap(node, probe->name))
		state = PROBE_PARTIAL;
	result->name = fact_str(run->ctx.arena, probe->name);
	result->state = fact_enum(state);
	result->duration_us = fact_u64(duration_us);
	result->stuck_at = (struct fact_str){ .state = FACT_ABSENT };
	if (state == PROBE_TIMED_OUT)
		result->stuck_at = fact_str(run->ctx.arena, run->watch->trace);
}

/* What a probe did not finish is unknown, whatever it had written until then. */
static void give_up(struct run *run, const struct probe *probe, enum probe_state state, int error,
		    const char *why, uint64_t duration_us)
{
	memset((char *)run->ctx.node + probe->section, 0, probe->section_size);
	run->watch->probe = probe->name;
	add_gap(run, *run->watch->trace ? run->watch->trace : probe->name, error, why);
	add_result(run, probe, state, duration_us);
}

/* ---- the child ---- */

/* Its section is empty then, whatever a child that was ended had begun to write there. */
static void run_probe(struct run *run, const struct probe *probe)
{
	memset((char *)run->ctx.node + probe->section, 0, probe->section_size);
	run->watch->probe = probe->name;
	run->watch->trace[0] = '\0';
	probe->run(&run->ctx);
}

static void send_message(int fd, int kind, size_t index)
{
	struct message m = { .kind = kind, .index = (uint32_t)index };

	if (write(fd, &m, sizeof(m)) != sizeof(m))
		_exit(EXIT_FAILURE);
}

/* While the child lives, the node and its arena are the child's alone: it goes on with the next
 * probe while the parent still hears of the last one. */
static _Noreturn void child(struct run *run, size_t first, int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != run->parent)
		_exit(EXIT_FAILURE);
	for (size_t i = first; i < probes_count; i++) {
		uint64_t start = now_us();

		send_message(fd, MESSAGE_BEGIN, i);
		run_probe(run, probes[i]);
		add_result(run, probes[i], PROBE_OK, now_us() - start);
		send_message(fd, MESSAGE_END, i);
	}
	_exit(EXIT_SUCCESS);
}

/* ---- the parent ---- */

struct watched {
	pid_t pid;
	int fd;
	size_t current;
	uint64_t started_us;
};

static int start_child(struct run *run, size_t first, struct watched *w)
{
	int fds[2];

	if (pipe(fds) < 0)
		return -errno;
	*w = (struct watched){ .fd = fds[0], .current = first, .started_us = now_us() };
	w->pid = fork();
	if (w->pid == 0) {
		close(fds[0]);
		child(run, first, fds[1]);
	}
	close(fds[1]);
	if (w->pid < 0) {
		close(fds[0]);
		return -EAGAIN;
	}
	return 0;
}

/* 1: a message, 0: the child is gone, -ETIMEDOUT: it did not get from one file to the next within its
 * deadline, or is not done after so many of them. On a busy host a probe that gets on is not stuck. */
static int next_message(struct watched *w, const struct watch *watch, unsigned int deadline_ms,
			struct message *m)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	uint64_t deadline_us = (uint64_t)deadline_ms * 1000, moved_us = w->started_us;
	char trace[PATH_MAX] = "";

	for (;;) {
		int rc = poll(&p, 1, (int)(deadline_ms / SLICES));
		uint64_t now = now_us();

		if (rc > 0)
			break;
		if (strcmp(trace, watch->trace) != 0)
			moved_us = now;
		snprintf(trace, sizeof(trace), "%s", watch->trace);
		if (now - moved_us >= deadline_us || now - w->started_us >= BUSY * deadline_us)
			return -ETIMEDOUT;
	}
	return read(w->fd, m, sizeof(*m)) == sizeof(*m);
}

/* Ends the child. One that is stuck in the kernel cannot be waited for: it is left to init. */
static int end_child(struct watched *w)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	int status = 0;

	kill(w->pid, SIGKILL);
	for (int i = 0; i < 50; i++) {
		if (waitpid(w->pid, &status, WNOHANG) != 0)
			break;
		nanosleep(&pause, NULL);
	}
	close(w->fd);
	return status;
}

static void crashed(struct run *run, const struct probe *probe, int status, uint64_t duration_us)
{
	char why[96];

	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		snprintf(why, sizeof(why), "the probe crashed (%s)", strsignal(WTERMSIG(status)));
	else
		snprintf(why, sizeof(why), "a library ended the probe");
	give_up(run, probe, PROBE_FAILED, -EIO, why, duration_us);
}

static bool has_result(const struct node *node, const char *probe)
{
	for_each(r, &node->probes)
		if (str_is(r->name, probe))
			return true;
	return false;
}

/* Ends the child, which may have gone on until then. True when its current probe was still not done. */
static bool end_unfinished(struct run *run, struct watched *w, int *status)
{
	size_t current = w->current;

	*status = end_child(w);
	while (w->current < probes_count &&
	       has_result(run->ctx.node, probes[w->current]->name))
		w->current++;
	return w->current == current;
}

/* Follows one child until it is done or gone; returns the first probe that is still to be run. */
static size_t follow_child(struct run *run, struct watched *w)
{
	struct message m;

	while (w->current < probes_count) {
		const struct probe *probe = probes[w->current];
		unsigned int deadline = probe->deadline_ms ? probe->deadline_ms : PROBE_DEADLINE_MS;
		int rc = next_message(w, run->watch, deadline, &m);

		if (rc == 1 && m.kind == MESSAGE_BEGIN) {
			w->started_us = now_us();
		} else if (rc == 1) {
			w->current++;
		} else {
			uint64_t spent = now_us() - w->started_us;
			char why[64];
			int status;

			if (!end_unfinished(run, w, &status))
				return w->current;
			snprintf(why, sizeof(why), "no answer within %u ms", deadline);
			if (rc == 0)
				crashed(run, probe, status, spent);
			else
				give_up(run, probe, PROBE_TIMED_OUT, -ETIMEDOUT, why, spent);
			return w->current + 1;
		}
	}
	waitpid(w->pid, NULL, 0);
	close(w->fd);
	return probes_count;
}

static int observe_in_children(struct run *run)
{
	struct watched w = { 0 };

	for (size_t next = 0; next < probes_count;) {
		int rc = start_child(run, next, &w);

		if (rc)
			return rc;
		next = follow_child(run, &w);
	}
	return 0;
}

int node_observe(struct host *host, struct arena *arena, struct node *node, pid_t pid)
{
	struct run run = {
		.ctx = { .host = host, .arena = arena, .node = node, .pid = pid },
		.parent = getpid(),
		.watch = arena_alloc(arena, sizeof(struct watch)),
	};
	size_t count;
	int rc = 0;

	probe_table(&count);
	node->gaps.state = FACT_KNOWN;
	host_on_gap(host, add_gap, &run);
	host_leave_trace(host, run.watch->trace);
	/* A capture is one file that has been read: nothing in it can hang. */
	if (host_kind(host) != HOST_CAPTURE) {
		rc = observe_in_children(&run);
	} else {
		for (size_t i = 0; i < count; i++) {
			uint64_t start = now_us();

			run_probe(&run, probes[i]);
			add_result(&run, probes[i], PROBE_OK, now_us() - start);
		}
	}
	host_on_gap(host, NULL, NULL);
	host_leave_trace(host, NULL);
	return rc;
}

/* ---- readers ---- */

void probe_str(struct probe_context *ctx, struct fact_str *fact, const char *format, ...)
{
	_cleanup_text_ struct text text = { 0 };
	char path[PATH_MAX];
	int rc;

	if (!HOST_FORMAT_PATH(path, format))
		return;
	rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s", path);
	if (rc == 0)
		*fact = probe_span(ctx, span_trim(text_span(&text)));
	else
		fact->state = probe_state(rc);
}

void probe_u64(struct probe_context *ctx, struct fact_u64 *fact, const char *format, ...)
{
	_cleanup_text_ struct text text = { 0 };
	char path[PATH_MAX];
	int rc;

	if (!HOST_FORMAT_PATH(path, format))
		return;
	rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s", path);
	if (rc == 0 && span_u64(span_trim(text_span(&text)), 0, &fact->value)) {
		host_gap_note(ctx->host, path, -EBADMSG, "not a number");
		rc = -EBADMSG;
	}
	fact->state = probe_state(rc);
}

void probe_link(struct probe_context *ctx, struct fact_str *fact, const char *format, ...)
{
	char path[PATH_MAX], name[NAME_MAX + 1];
	int rc;

	if (!HOST_FORMAT_PATH(path, format))
		return;
	rc = host_link_name(ctx->host, name, "%s", path);
	if (rc == 0)
		*fact = fact_str(ctx->arena, name);
	else
		fact->state = probe_state(rc);
}

bool probe_hides_host(struct probe_context *ctx, const char *path)
{
	const struct os_facts *os = &ctx->node->os;
	struct host_stat stat;

	/* A container that shares its host's files has that kernel's modules too. */
	if (!is_known(os->container) || !is_known(os->kernel) ||
	    host_stat(ctx->host, &stat, "/lib/modules/%s", os->kernel.value) != -ENOENT)
		return false;
	host_gap_note(ctx->host, path, -ENODATA, "a container does not see its host's");
	return true;
}
