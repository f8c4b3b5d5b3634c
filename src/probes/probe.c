/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe.c - observes a node: runs the probes in watched children, and takes over what they found.
 */
#include "probes/probe.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/memory.h"
#include "probes/gap.h"
#include "probes/probe-thread.h"

#define PROBE(name) extern const struct probe probe_##name;
#include "probes.inc"
#undef PROBE

static const struct probe *probes[] = {
#define PROBE(name) &probe_##name,
#include "probes.inc"
#undef PROBE
};
static const size_t probes_count = ARRAY_SIZE(probes);

#define SLICES 40 /* how often in its deadline a probe is looked after */
#define BUSY 10	  /* deadlines that a probe has in all */
#define PROBES_MAX 64
/* Memory that preflight's child writes on a node with 8 GPUs, and that its parent copies, with the findings. */
#define WINDOW_BYTES (144 << 10)
#define FOUND_BYTES (176 << 10)
#define MOUNTED_IMAGE_ORDER_MAX 5 /* the highest mounted_image_order */
_Static_assert(ARRAY_SIZE(probes) < PROBES_MAX, "more probes than steps");

/* State that both processes see; it lies in the window. The child writes it, and the parent reads it only when a
 * deadline may be over, so that a normal run needs no switch between the two. */
struct watch {
	char trace[PATH_MAX];
	_Atomic size_t current;	     /* the step that runs; the number of steps: done */
	_Atomic uint64_t started_us; /* that step */
	bool is_mounted_image;	     /* host_is_mounted_image() */
	const void *answer;	     /* of struct observation's FIRST */
	struct node node;	     /* what is known of it, in the child */
};

/* Two steps are no probes of the table: they run in the child because they read the host, but they fill no section and
 * have no result. This one calls the function first of struct observation. */
static const struct probe configuration = { .name = "configuration" };

/* Finds out whether the tree is an image, which decides the other steps. It is a step because reading a tree can
 * hang. */
static const struct probe kind_of_tree = { .name = "image" };

/*
 * A run is a list of steps. Each child has a window, a mapping that its parent shares, and works through as many steps
 * as need the same rights. When it ends, the parent copies the node out of the window, closes the window and opens a
 * new one for the next child. The last step can have its own child and window (beside) from the beginning on. While
 * that child is followed, run->window and run->watch are those of beside.
 */
struct run {
	struct probe_context ctx;
	pid_t parent;
	struct window window; /* of the child that runs */
	struct watch *watch;
	const char *probe;    /* that gaps are of */
	char trace[PATH_MAX]; /* the last file of the child that ended */
	bool is_mounted_image;
	struct probe_thread *threads[PROBES_MAX]; /* the child's, of these steps; NULL: none */
	bool alone;  /* a child has crashed: the next ones make no thread */
	size_t kept; /* of the arena, before what children found; 0: none has ended */
	const struct probe *steps[PROBES_MAX]; /* those that are to run */
	size_t count;
	size_t last;	   /* where the child that runs is to end: another continues from there */
	uint64_t begun_us; /* before the first child */
	uint64_t end_us;   /* of all; 0: no such limit */
	struct beside {
		struct child child; /* pid 0: none runs */
		struct window window;
		struct watch *watch;
	} beside; /* for the last step, which waits for a device while the others read */
};

static int compare_probes(const void *a, const void *b)
{
	const struct probe *x = *(const struct probe *const *)a;
	const struct probe *y = *(const struct probe *const *)b;

	return x->phase != y->phase ? (int)x->phase - (int)y->phase : strcmp(x->name, y->name);
}

const struct probe *const *probe_table(size_t *count)
{
	qsort(probes, probes_count, sizeof(probes[0]), compare_probes);
	*count = probes_count;
	return probes;
}

/* ---- gaps and results ---- */

static void add_gap(void *user, const char *path, int error, const char *why)
{
	struct run *run = user;

	gap_add(run->ctx.node, run->ctx.arena, run->probe, path, error, why);
}

static void add_result(struct run *run, const struct probe *probe, enum probe_state state,
		       uint64_t duration_us)
{
	struct node *node = run->ctx.node;
	struct probe_result *result = LIST_ADD(run->ctx.arena, &node->probes);

	if (state == PROBE_OK && gap_has_any(node, probe->name))
		state = PROBE_PARTIAL;
	result->name = fact_str(run->ctx.arena, probe->name);
	result->state = fact_enum(state);
	result->duration_us = fact_u64(duration_us);
	result->stuck_at = (struct fact_str){ .state = FACT_ABSENT };
	if (state == PROBE_TIMED_OUT)
		result->stuck_at = fact_str(run->ctx.arena, run->trace);
}

/* Records a probe that did not finish. Its section becomes unknown, whatever was written there. */
static void give_up(struct run *run, const struct probe *probe, enum probe_state state, int error,
		    const char *why, uint64_t duration_us)
{
	memset((char *)run->ctx.node + probe->section, 0, probe->section_size);
	run->probe = probe->name;
	add_gap(run, *run->trace ? run->trace : probe->name, error, why);
	add_result(run, probe, state, duration_us);
}

/* ---- the child ---- */

static void probe_run_briefly(struct run *run, size_t step)
{
	const struct probe *probe = run->steps[step];

	if (run->threads[step])
		probe_thread_take(run->threads[step], &run->ctx, run->watch->trace);
	else if (probe->preflight.ahead)
		probe->preflight.ahead(&run->ctx);
	probe->preflight.run(&run->ctx);
}

/* Runs a probe. Its section is cleared first, because an earlier child that was ended may have written there. */
static void run_probe(struct run *run, size_t step)
{
	const struct probe *probe = run->steps[step];

	memset((char *)run->ctx.node + probe->section, 0, probe->section_size);
	run->probe = probe->name;
	if (probe == &configuration)
		run->watch->answer = run->ctx.how->first(run->ctx.how->user, run->ctx.arena);
	else if (probe == &kind_of_tree)
		run->watch->is_mounted_image = host_is_mounted_image(run->ctx.host);
	else if (run->ctx.preflight)
		probe_run_briefly(run, step);
	else
		probe->run(&run->ctx);
}

/* A preflight asks only the driver. */
static enum confine_asks asks_of(const struct run *run, size_t step)
{
	const struct probe *probe = run->steps[step];

	if (run->ctx.preflight && probe->asks != ASKS_GPUS)
		return ASKS_NOBODY;
	return host_kind(run->ctx.host) == HOST_LIVE ? probe->asks : ASKS_NOBODY;
}

static bool is_wanted(const struct run *run, size_t step)
{
	const struct probe *probe = run->steps[step];

	return !probe->is_wanted || probe->is_wanted(&run->ctx);
}

/* The steps from FIRST that need the same rights. One that may not be needed begins a new series. */
static size_t end_of_steps(const struct run *run, size_t first)
{
	size_t i = first + 1;

	while (i < run->count && !run->steps[i]->is_wanted &&
	       asks_of(run, i) == asks_of(run, first))
		i++;
	return i;
}

/* Returns the capabilities (enum confine_needs) that the steps from FIRST on need. */
static unsigned int needs_of(const struct run *run, size_t first)
{
	unsigned int needs = 0;

	for (size_t i = first; i < run->last; i++)
		needs |= run->steps[i]->needs;
	return needs;
}

/* Begins the threads of a preflight's steps after FIRST. */
static void begin_ahead(struct run *run, size_t first)
{
	for (size_t i = first + 1; run->ctx.preflight && !run->alone && i < run->last; i++)
		if (run->steps[i]->preflight.ahead)
			run->threads[i] = probe_thread_begin(run->steps[i], &run->ctx);
}

/* The child works on a copy of the node, where its parent takes it from. */
static _Noreturn void child(struct run *run, const struct child *c, size_t first)
{
	struct watch *watch = run->watch;
	unsigned int needs = needs_of(run, first);

	child_begin(run->parent);
	fact_copy(&node_desc, &watch->node, run->window.arena, run->ctx.node, NULL);
	run->ctx.node = &watch->node;
	run->ctx.arena = run->window.arena;
	host_begin_child(run->ctx.host, watch->trace);
	host_confine(run->ctx.host, asks_of(run, first),
		     run->ctx.preflight && run->steps[first]->asks != ASKS_GPUS, needs);
	for (size_t i = first; i < run->last; i++) {
		uint64_t start = clock_us();

		watch->started_us = start;
		watch->current = i;
		watch->trace[0] = '\0';
		if (i == first + (run->steps[first] == &configuration))
			begin_ahead(run, i);
		if (needs != needs_of(run, i)) {
			needs = needs_of(run, i);
			host_keep(run->ctx.host, needs);
		}
		run_probe(run, i);
		if (run->steps[i] != &configuration && run->steps[i] != &kind_of_tree)
			add_result(run, run->steps[i], PROBE_OK, clock_us() - start);
		watch->current = i + 1;
	}
	close(c->fd);
	_exit(EXIT_SUCCESS);
}

/* ---- the parent ---- */

/* A probe's own deadline, or the rest of the time for all when it began. */
static unsigned int deadline_of(const struct run *run, size_t step, uint64_t started_us)
{
	const struct probe *probe = run->steps[step];
	unsigned int own = run->ctx.preflight && probe->preflight.deadline_ms
				   ? probe->preflight.deadline_ms
				   : probe->deadline_ms;
	unsigned int deadline = own ? own : PROBE_DEADLINE_MS;
	uint64_t left_ms = run->end_us > started_us ? (run->end_us - started_us) / 1000 : 0;

	return run->end_us && left_ms < deadline ? (unsigned int)left_ms : deadline;
}

/* The step that the child says it is at: STEP or a later one. */
static size_t current_of(const struct run *run, size_t step)
{
	size_t current = run->watch->current;

	return current < step ? step : current < run->last ? current : run->last;
}

/* When the child says that its step began; OTHERWISE where its word cannot be true, because it was written over. */
static uint64_t started_of(const struct run *run, uint64_t otherwise)
{
	uint64_t started = run->watch->started_us;

	return started >= run->begun_us && started <= clock_us() ? started : otherwise;
}

/* The last file that the child says it read. */
static void take_trace(const struct run *run, char trace[PATH_MAX])
{
	size_t n;

	trace[0] = '\0';
	if (!window_text(&run->window, run->watch->trace, &n))
		return;
	n = n < PATH_MAX - 1 ? n : PATH_MAX - 1;
	memcpy(trace, run->watch->trace, n);
	trace[n] = '\0';
}

/* Returns true if the child has ended. False when its current step STEP, the first one to begin with, did not get from one
 * file to the next within its deadline. False too when it is not done after so many deadlines, or when the time for
 * all is over. On a busy host a probe that gets on is not stuck. What the child says of the time extends none of it. */
static bool wait_for_child(struct run *run, struct child *c, size_t *step)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	char trace[PATH_MAX] = "", last[PATH_MAX];
	uint64_t moved_us = 0, begun_us = clock_us();

	for (;;) {
		uint64_t claimed = run->watch->started_us, started, deadline_us, now;
		size_t current = current_of(run, *step);

		current -= current == run->last;
		if (current != *step)
			begun_us = clock_us();
		*step = current;
		started = started_of(run, begun_us);
		deadline_us = (uint64_t)deadline_of(run, *step, started) * 1000;
		if (poll(&p, 1, (int)(deadline_us / 1000 / SLICES) + 1) > 0)
			return true;
		now = clock_us();
		if (claimed != run->watch->started_us && now - begun_us < BUSY * deadline_us)
			continue;
		if (moved_us < started)
			moved_us = started;
		take_trace(run, last);
		if (strcmp(trace, last) != 0 && *trace)
			moved_us = now;
		memcpy(trace, last, sizeof(trace));
		if (now - moved_us >= deadline_us || now - started >= BUSY * deadline_us ||
		    now - begun_us >= BUSY * deadline_us || (run->end_us && now >= run->end_us))
			return false;
	}
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

/* Copies only the section, gaps and result of PROBE from a child that began before the others had ended: its node
 * lacks their facts. */
static void take_section(struct run *run, const struct probe *probe)
{
	struct arena *arena = run->ctx.arena;
	struct node *node = run->ctx.node, *found = arena_alloc(arena, sizeof(*found));

	fact_copy(&node_desc, found, arena, &run->watch->node, &run->window);
	memcpy((char *)node + probe->section, (char *)found + probe->section, probe->section_size);
	run->probe = probe->name;
	for_each(g, &found->gaps)
		if (str_is(g->probe, probe->name) && node->gaps.count < GAPS_MAX)
			*LIST_ADD(arena, &node->gaps) = *g;
	for_each(r, &found->probes)
		if (str_is(r->name, probe->name) && !has_result(node, probe->name))
			*LIST_ADD(arena, &node->probes) = *r;
	take_trace(run, run->trace);
}

/* Replaces the node by the child's, which began as a copy and has all earlier facts. The window is not trusted: the
 * child may have written anything there, and may still write. FIRST is the child's first step. */
static void take_found(struct run *run, const struct probe *first)
{
	const struct watch *watch = run->watch;
	const void *answer = WINDOW_READ(watch->answer);
	struct arena *arena = run->ctx.arena;

	if (first->beside) {
		take_section(run, first);
		return;
	}
	run->is_mounted_image |= *(const volatile char *)&watch->is_mounted_image != 0;
	if (run->kept)
		arena_rewind(arena, run->kept);
	if (first == &configuration && answer)
		run->ctx.how->take(run->ctx.how->user, answer, &run->window);
	run->kept = arena_used(arena);
	fact_copy(&node_desc, run->ctx.node, arena, &watch->node, &run->window);
	take_trace(run, run->trace);
}

/* A child that says it is past steps whose results it does not have: what it had of them was written over. */
static void give_up_lost(struct run *run, const struct probe *first, size_t end)
{
	for (size_t i = first->beside ? run->count - 1 : 0; i < end; i++) {
		const struct probe *probe = run->steps[i];

		if (probe == &configuration || probe == &kind_of_tree || !is_wanted(run, i) ||
		    has_result(run->ctx.node, probe->name))
			continue;
		run->trace[0] = '\0';
		give_up(run, probe, PROBE_FAILED, -EIO, "its memory was written over", 0);
	}
}

/* Returns true if a thread may have crashed the child that was at that step: the thread's own is still to come. */
static bool has_thread(const struct run *run, size_t at)
{
	for (size_t i = at + 1; run->ctx.preflight && i < run->last; i++)
		if (run->steps[i]->preflight.ahead)
			return true;
	return false;
}

/* Follows one child, whose first step is STEP, until it is done or gone; returns the first step that is still to be
 * run. */
static size_t follow_child(struct run *run, struct child *c, size_t step)
{
	const struct probe *first = run->steps[step];
	bool ended = wait_for_child(run, c, &step);
	uint64_t started, spent;
	char why[64];
	size_t at;
	int status;

	if (ended && run->watch->current == run->last) {
		child_leave(c);
		take_found(run, first);
		give_up_lost(run, first, run->last);
		return run->last;
	}
	status = child_end(c, ended);
	take_found(run, first);
	at = current_of(run, step);
	started = started_of(run, clock_us());
	spent = clock_us() - started;

	/* The child may have finished further steps before it was ended. */
	while (at < run->last && has_result(run->ctx.node, run->steps[at]->name))
		at++;
	give_up_lost(run, first, at);
	if (at >= run->last || (!ended && at != step))
		return at;
	if (ended && !run->alone && has_thread(run, at)) {
		run->alone = true;
		return at;
	}
	if (ended) {
		crashed(run, run->steps[at], status, spent);
	} else {
		snprintf(why, sizeof(why), "no answer within %u ms", deadline_of(run, at, started));
		give_up(run, run->steps[at], PROBE_TIMED_OUT, -ETIMEDOUT, why, spent);
	}
	return at + 1;
}

/* The first step that has a child already: the last one, or none. */
static size_t end_of_rest(const struct run *run)
{
	return run->beside.child.pid ? run->count - 1 : run->count;
}

/* Records the remaining steps as not begun, because the time for the whole run is over. */
static void leave_rest(struct run *run, size_t next)
{
	for (size_t i = next; i < end_of_rest(run); i++) {
		if (!is_wanted(run, i))
			continue;
		run->trace[0] = '\0';
		give_up(run, run->steps[i], PROBE_TIMED_OUT, -ETIMEDOUT,
			"not begun: the time for the whole run was over", 0);
	}
}

/* Before there is a child, all in the window is this process's. */
static int open_window(struct run *run, size_t first)
{
	int rc = window_open(&run->window, "facts");

	if (rc)
		return rc;
	run->watch = arena_alloc(run->window.arena, sizeof(*run->watch));
	run->watch->current = first;
	run->watch->started_us = clock_us();
	return 0;
}

/* Until the first child is done, its parent has nothing else to do. */
static void make_ready(struct run *run)
{
	if (run->kept)
		return;
	window_make_ready(&run->window, WINDOW_BYTES);
	arena_make_ready(run->ctx.arena, FOUND_BYTES);
	if (run->ctx.how->meanwhile)
		run->ctx.how->meanwhile();
}

/* The steps from FIRST to LAST, in a child. 0, or negative errno. */
static int begin_steps(struct run *run, size_t first, size_t last, struct child *c)
{
	int rc = open_window(run, first);

	run->last = last;
	if (rc == 0)
		rc = child_fork(c);
	if (rc)
		window_close(&run->window);
	else if (c->pid == 0)
		child(run, c, first);
	return rc;
}

/* Starts the last step in its own child, beside the others. Not when recording, because records keep the order of
 * the steps; and if no child can be made, the step runs in its turn. */
static void begin_beside(struct run *run)
{
	size_t last = run->count - 1;
	struct beside *beside = &run->beside;

	if (beside->child.pid || !run->count || !run->steps[last]->beside ||
	    host_kind(run->ctx.host) != HOST_LIVE || host_is_recorded(run->ctx.host) ||
	    !is_wanted(run, last))
		return;
	if (begin_steps(run, last, run->count, &beside->child)) {
		beside->child.pid = 0;
		return;
	}
	beside->window = run->window;
	beside->watch = run->watch;
}

static void end_beside(struct run *run)
{
	struct beside *beside = &run->beside;
	struct child c = beside->child;

	run->window = beside->window;
	run->watch = beside->watch;
	run->last = run->count;
	follow_child(run, &c, run->count - 1);
	window_close(&run->window);
	beside->child.pid = 0;
}

static int observe_steps(struct run *run)
{
	for (size_t next = 0; next < end_of_rest(run);) {
		struct child c;
		int rc;

		begin_beside(run);
		if (next >= end_of_rest(run) || !is_wanted(run, next)) {
			next++;
			continue;
		}
		if (run->end_us && clock_us() >= run->end_us) {
			leave_rest(run, next);
			return 0;
		}
		rc = begin_steps(run, next, end_of_steps(run, next), &c);
		if (rc)
			return rc;
		make_ready(run);
		next = follow_child(run, &c, next);
		window_close(&run->window);
	}
	return 0;
}

static int observe_in_children(struct run *run)
{
	int rc;

	host_set_process(run->ctx.host);
	rc = observe_steps(run);
	if (run->beside.child.pid)
		end_beside(run);
	return rc;
}

static void observe_here(struct run *run)
{
	for (size_t i = 0; i < run->count; i++) {
		uint64_t start = clock_us();

		if (!is_wanted(run, i))
			continue;
		run_probe(run, i);
		add_result(run, run->steps[i], PROBE_OK, clock_us() - start);
	}
}

/* -1: not to run. */
static int phase_of(const struct run *run, const struct probe *probe)
{
	if (!run->ctx.how->preflight)
		return (int)probe->phase;
	if (!probe->preflight.run)
		return -1;
	return (int)(probe->preflight.phase ? probe->preflight.phase : probe->phase);
}

/* Puts first the steps of an image that determine the next boot. */
static void choose_mounted_image_probes(struct run *run)
{
	for (unsigned int order = 1; order <= MOUNTED_IMAGE_ORDER_MAX; order++)
		for (size_t i = 0; i < probes_count; i++)
			if (probes[i]->mounted_image_order == order)
				run->steps[run->count++] = probes[i];
}

static bool is_left_out(const struct run *run, const struct probe *probe)
{
	if (!run->is_mounted_image)
		return probe->mounted_image_only;
	return probe->mounted_image_order || probe->is_hardware || probe->is_running;
}

static void choose_steps(struct run *run)
{
	size_t count;

	probe_table(&count);
	if (run->ctx.how->first)
		run->steps[run->count++] = &configuration;
	if (run->is_mounted_image)
		choose_mounted_image_probes(run);
	for (int phase = PHASE_OS; phase < PHASES; phase++)
		for (size_t i = 0; i < count; i++)
			if (phase_of(run, probes[i]) == phase && !is_left_out(run, probes[i]))
				run->steps[run->count++] = probes[i];
}

static int find_kind(struct run *run)
{
	int rc = 0;

	if (host_kind(run->ctx.host) == HOST_CAPTURE)
		run->is_mounted_image = host_is_mounted_image(run->ctx.host);
	if (host_kind(run->ctx.host) != HOST_TREE)
		return 0;
	run->steps[run->count++] = &kind_of_tree;
	rc = observe_in_children(run);
	run->count = 0;
	return rc;
}

int node_observe(struct host *host, struct arena *arena, struct node *node,
		 const struct observation *how)
{
	struct run run = {
		.ctx = { .host = host,
			 .arena = arena,
			 .node = node,
			 .pid = how->pid,
			 /* A capture answers the questions that were asked when it was made. */
			 .preflight = how->preflight && host_kind(host) != HOST_CAPTURE,
			 .how = how },
		.parent = getpid(),
		.begun_us = clock_us(),
		.end_us = how->timeout_ms ? clock_us() + (uint64_t)how->timeout_ms * 1000 : 0,
	};
	int rc = 0;

	node->gaps.state = FACT_KNOWN;
	host_on_gap(host, add_gap, &run);
	if (!how->preflight)
		rc = find_kind(&run);
	choose_steps(&run);
	/* A capture is one file that has been read: nothing in it can hang. */
	if (host_kind(host) == HOST_CAPTURE)
		observe_here(&run);
	else if (rc == 0)
		rc = observe_in_children(&run);
	host_on_gap(host, NULL, NULL);
	return rc;
}

/* ---- readers ---- */

bool probe_is_wanted(const struct probe_context *ctx, const char *fact)
{
	const struct observation *how = ctx->how;

	return !ctx->preflight || (how->expects && how->expects(how->user, fact));
}

enum probe_nvml probe_asks_nvml(const struct probe_context *ctx)
{
	return ctx->how->nvml ? ctx->how->nvml(ctx->how->user) : PROBE_NVML_NO;
}

enum fact_state probe_state_always(struct probe_context *ctx, int rc, const char *path)
{
	if (rc != -ENOENT)
		return probe_state(rc);
	host_gap_note(ctx->host, path, -ENODATA, "not copied into this tree");
	return FACT_UNKNOWN;
}

/* Removes NULs at the end, which some copies and some files of the kernel have. */
static struct span value_of(const struct text *text)
{
	struct span s = text_span(text);

	while (s.n && !s.p[s.n - 1])
		s.n--;
	return span_trim(s);
}

void probe_str(struct probe_context *ctx, struct fact_str *fact, const char *format, ...)
{
	_cleanup_text_ struct text text = { 0 };
	char path[PATH_MAX];
	int rc;

	if (!HOST_FORMAT_PATH(path, format))
		return;
	rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s", path);
	if (rc == 0)
		*fact = probe_span(ctx, value_of(&text));
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
	if (rc == 0 && span_u64(value_of(&text), 0, &fact->value)) {
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
	host_gap_note(ctx->host, path, -EREMOTE, NULL);
	return true;
}
