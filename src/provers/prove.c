/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prove.c - trials on the hardware. */
#include "provers/prove.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/child.h"
#include "base/clock.h"
#include "provers/capabilities.h"

#define PROVER(name) extern const struct prover prover_##name;
#include "provers.inc"
#undef PROVER

static const struct prover *provers[] = {
#define PROVER(name) &prover_##name,
#include "provers.inc"
#undef PROVER
};
#define PROVERS (ARRAY_SIZE(provers))

#define TIMEOUT_MS 300000
#define TIMEOUT_QUICK_MS 60000
#define LOOK_MS 250   /* between checks of a child: its deadline changes with its step */
#define EXIT_BROKEN 3 /* of a child whose CUDA contexts are unusable; its step is recorded */
#define FAILED_STEPS_MAX \
	3 /* steps of one prover that may fail before its other steps are skipped */

/* State that both processes share; it lies in the window. */
struct watch {
	_Atomic size_t prover; /* PROVERS: CUDA is being started */
	_Atomic size_t step;
	_Atomic uint64_t started_us;
	_Atomic bool done; /* the child came to its end, and did not only end */
	struct proof_facts proof;
	LIST(struct gpu_user) users;
	bool users_known;
};

/* The child's progress. PROVER is PROVERS while CUDA is being started. */
struct place {
	size_t prover, step;
};

struct run {
	struct proving *p;
	struct window window; /* of the child that runs */
	struct watch *watch;
	pid_t parent;
	uint64_t end_us;
	unsigned int failed_steps; /* of the prover that runs */
};

static int compare_provers(const void *a, const void *b)
{
	return (*(const struct prover *const *)a)->order -
	       (*(const struct prover *const *)b)->order;
}

static bool is_in(const struct run *run, size_t prover)
{
	return (provers[prover]->groups >> run->p->group) & 1;
}

static size_t steps_of(const struct run *run, size_t prover)
{
	const struct prover *pr = provers[prover];

	return pr->steps ? pr->steps(run->p) : 1;
}

/* The first reason is kept. */
static void prove_stop(struct run *run, const char *why)
{
	if (!is_known(run->p->proof->stopped))
		run->p->proof->stopped = fact_str(run->p->arena, why);
}

/* ---- the child ---- */

/* A scheduler gives a job its GPUs by this variable; one is enough, and quicker. */
static void keep_first_gpu(void)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	char first[80];

	snprintf(first, sizeof(first), "%.*s", visible ? (int)strcspn(visible, ",") : 1,
		 visible ? visible : "0");
	setenv("CUDA_VISIBLE_DEVICES", first, 1);
}

static void stand_at(struct run *run, size_t prover, size_t step)
{
	run->watch->step = step;
	run->watch->started_us = clock_us();
	run->watch->prover = prover;
}

/* The child starts from the results so far, and its parent reads them from the same place. */
static void work_in_window(struct run *run)
{
	struct proving *p = run->p;

	fact_copy(&proof_facts_desc, &run->watch->proof, run->window.arena, p->proof, NULL);
	p->proof = &run->watch->proof;
	p->arena = run->window.arena;
	memset(&p->child, 0, sizeof(p->child));
}

/* Gives the next child the users that the first one found. */
static void give_users(struct run *run)
{
	memcpy(&run->watch->users, &run->p->users, sizeof(run->watch->users));
	run->watch->users_known = run->p->users_known;
}

static _Noreturn void child(struct run *run, size_t prover, size_t step)
{
	struct proving *p = run->p;

	child_begin(run->parent);
	work_in_window(run);
	if (p->group == PROVE_JOB) {
		if (!capabilities_drop()) {
			prove_stop(run, "this process could not drop its capabilities");
			_exit(EXIT_FAILURE);
		}
		keep_first_gpu();
	}
	if (p->group != PROVE_LOOK) {
		stand_at(run, PROVERS, 0);
		if (!prove_begin_cuda(p))
			_exit(EXIT_FAILURE);
	}
	for (; prover < PROVERS; prover++, step = 0) {
		size_t steps = is_in(run, prover) ? steps_of(run, prover) : 0;

		for (; step < steps; step++) {
			stand_at(run, prover, step);
			provers[prover]->run(p, step);
			if (prove_is_broken(p))
				_exit(EXIT_BROKEN);
		}
	}
	if (p->group == PROVE_LOOK)
		give_users(run);
	run->watch->done = true;
	_exit(EXIT_SUCCESS);
}

/* ---- the parent ---- */

/* Returns the child's progress, which is not trusted: the values may be out of range. */
static struct place place_of(const struct run *run)
{
	struct place place = { run->watch->prover, run->watch->step };
	size_t steps;

	if (place.prover >= PROVERS)
		return (struct place){ PROVERS, 0 };
	steps = steps_of(run, place.prover);
	if (place.step >= steps)
		place.step = steps ? steps - 1 : 0;
	return place;
}

#define USERS_MAX 4096

static void take_users(struct run *run)
{
	struct proving *p = run->p;
	uint32_t count = WINDOW_READ(run->watch->users.count);
	const struct gpu_user *users = WINDOW_READ(run->watch->users.items);

	p->users_known = *(const volatile char *)&run->watch->users_known != 0;
	if (count > USERS_MAX || !window_holds(&run->window, users, count, sizeof(*users)))
		count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const char *name = window_copy(&run->window, WINDOW_READ(users[i].name.value),
					       p->arena);

		*LIST_ADD(p->arena, &p->users) = (struct gpu_user){
			.pid = fact_u64(WINDOW_READ(users[i].pid.value)),
			.gpu = fact_u64(WINDOW_READ(users[i].gpu.value)),
			.name = name ? fact_str(p->arena, name) : FACT_NONE(fact_str),
		};
	}
}

/* Copies the results of the child. They include all earlier results, because it began with them. */
static void take_found(struct run *run)
{
	fact_copy(&proof_facts_desc, run->p->proof, run->p->arena, &run->watch->proof,
		  &run->window);
	if (run->p->group == PROVE_LOOK)
		take_users(run);
}

static unsigned int deadline_of(const struct run *run)
{
	size_t prover = place_of(run).prover;

	if (prover == PROVERS)
		return PROVE_INIT_MS;
	if (provers[prover]->deadline_ms)
		return provers[prover]->deadline_ms;
	return run->p->quick ? PROVE_STEP_QUICK_MS : PROVE_STEP_MS;
}

/* Returns true if the child has ended; false when its step, or all, took too long. */
static bool wait_for(const struct run *run, const struct child *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	for (;;) {
		uint64_t now = clock_us(), started = run->watch->started_us;
		uint64_t until = (started < now ? started : now) +
				 (uint64_t)deadline_of(run) * 1000;

		if (until > run->end_us)
			until = run->end_us;
		if (now >= until)
			return false;
		until = (until - now) / 1000 + 1;
		if (poll(&p, 1, until < LOOK_MS ? (int)until : LOOK_MS) > 0)
			return true;
	}
}

/* Records the end of a child that crashed or hung. Returns true if the next child may continue after its step. */
static bool lose(struct run *run, const struct place *at, bool ended, int status)
{
	size_t prover = at->prover;
	char why[96];

	if (ended && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BROKEN) {
		run->failed_steps++;
		return true;
	}
	if (!ended && clock_us() >= run->end_us) {
		prove_stop(run, "the time limit of the run was reached");
		return false;
	}
	if (!ended)
		snprintf(why, sizeof(why), "no answer within %u s", deadline_of(run) / 1000);
	else if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "the process was killed (%s)",
			 strsignal(WTERMSIG(status)));
	else
		snprintf(why, sizeof(why), "the library ended the process");
	if (prover == PROVERS) {
		prove_stop(run, arena_printf(run->p->arena, "CUDA could not be started: %s", why));
		return false;
	}
	if (provers[prover]->fail_step)
		provers[prover]->fail_step(run->p, at->step, why);
	run->failed_steps++;
	return true;
}

/* Before there is a child, all contents of the window are this process's. */
static int open_window(struct run *run, const struct place *place)
{
	int rc = window_open(&run->window, "facts");

	if (rc)
		return rc;
	run->watch = arena_alloc(run->window.arena, sizeof(*run->watch));
	stand_at(run, place->prover, place->step);
	return 0;
}

enum outcome { OVER, GOES_ON };

/* Follows one child from PLACE on, and sets PLACE to the start of the next child. */
static enum outcome follow_child(struct run *run, struct child *c, struct place *place)
{
	bool ended = wait_for(run, c);
	struct place before = place_of(run), at;
	int status = child_end(c, ended);

	take_found(run);
	if (run->watch->done || is_known(run->p->proof->stopped))
		return OVER;
	at = place_of(run);
	if (at.prover < place->prover || (at.prover == place->prover && at.step < place->step))
		at = *place;
	/* The child had gone on before it was ended: the next one repeats the step that it had begun. */
	if (!ended && clock_us() < run->end_us && before.prover != PROVERS &&
	    (before.prover != at.prover || before.step != at.step)) {
		*place = at;
		return GOES_ON;
	}
	if (!lose(run, &at, ended, status))
		return OVER;
	if (at.prover != place->prover)
		run->failed_steps = 1;
	*place = (struct place){ at.prover, at.step + 1 };
	if (run->failed_steps >= FAILED_STEPS_MAX) {
		*place = (struct place){ at.prover + 1, 0 };
		run->failed_steps = 0;
	}
	return GOES_ON;
}

static int try_group(struct run *run, enum prove_group group)
{
	struct place place = { 0 };
	enum outcome outcome = GOES_ON;

	run->p->group = group;
	run->failed_steps = 0;
	while (outcome == GOES_ON && place.prover < PROVERS) {
		struct child c;
		int rc = open_window(run, &place);

		if (rc == 0 && child_fork(&c))
			rc = -EAGAIN;
		if (rc) {
			window_close(&run->window);
			return rc;
		}
		if (c.pid == 0)
			child(run, place.prover, place.step);
		outcome = follow_child(run, &c, &place);
		window_close(&run->window);
	}
	return 0;
}

static void put_head(struct node *node, const struct prove_options *options, uint64_t begun_us)
{
	struct proof_facts *proof = &node->proof;

	proof->state = FACT_KNOWN;
	proof->boot_id = node->os.boot_id;
	proof->driver = node->driver.version;
	proof->time_s = fact_u64((uint64_t)time(NULL));
	proof->duration_ms = fact_u64((clock_us() - begun_us) / 1000);
	proof->quick = fact_bool(options->quick);
	proof->uid = fact_u64(geteuid());
	proof->sys_admin = fact_bool(capabilities_has_sys_admin());
	if (!is_known(proof->stopped))
		proof->stopped = FACT_NONE(fact_str);
	if (is_unknown(proof->tries))
		proof->tries.state = FACT_KNOWN;
	if (is_unknown(proof->copies))
		proof->copies.state = FACT_KNOWN;
}

int prove_run(struct node *node, struct arena *arena, const struct prove_options *options,
	      struct proving **proving)
{
	struct run run = { .p = arena_alloc(arena, sizeof(*run.p)), .parent = getpid() };
	unsigned int timeout = options->timeout_ms ? options->timeout_ms
			       : options->quick	   ? TIMEOUT_QUICK_MS
						   : TIMEOUT_MS;
	uint64_t begun_us = clock_us();
	int rc;

	*proving = run.p;
	*run.p = (struct proving){
		.node = node, .arena = arena, .proof = &node->proof, .quick = options->quick
	};
	run.end_us = begun_us + (uint64_t)timeout * 1000;
	if (!is_known(node->driver.version))
		return -ENODEV;
	qsort(provers, PROVERS, sizeof(provers[0]), compare_provers);
	rc = try_group(&run, PROVE_LOOK);
	if (!rc && !options->in_use && (!run.p->users_known || run.p->users.count))
		return -EBUSY;
	/* A search for users that failed does not prevent the trials. */
	run.p->proof->stopped = (struct fact_str){ 0 };
	if (!rc)
		rc = try_group(&run, PROVE_CALLER);
	if (!rc && !is_known(run.p->proof->stopped))
		rc = try_group(&run, PROVE_JOB);
	put_head(node, options, begun_us);
	return rc;
}

/* ---- for provers ---- */

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

struct proof_try *prove_try(struct proving *p, const char *kind, const char *gpu,
			    const char *device, const char *what)
{
	const char *id = arena_printf(p->arena, "%s%s%s%s%s%s%s", kind, gpu ? " " : "",
				      or_empty(gpu), device ? " " : "", or_empty(device),
				      what ? " " : "", or_empty(what));
	struct proof_try *try;

	for_each_mut(t, &p->proof->tries)
		if (str_is(t->id, id))
			return t;
	try = LIST_ADD(p->arena, &p->proof->tries);
	try->id = fact_str(p->arena, id);
	try->kind = fact_str(p->arena, kind);
	try->gpu = gpu ? fact_str(p->arena, gpu) : FACT_NONE(fact_str);
	try->device = device ? fact_str(p->arena, device) : FACT_NONE(fact_str);
	try->what = what ? fact_str(p->arena, what) : FACT_NONE(fact_str);
	try->seen = fact_str(p->arena, "not tried");
	return try;
}

__attribute__((format(printf, 5, 0))) static void put_outcome(struct proving *p,
							      struct proof_try *try,
							      struct fact_bool works,
							      const char *error, const char *format,
							      va_list ap)
{
	char seen[256];

	vsnprintf(seen, sizeof(seen), format, ap);
	try->seen = fact_str(p->arena, seen);
	try->error = error && *error ? fact_str(p->arena, error) : FACT_NONE(fact_str);
	try->works = works;
}

void prove_works(struct proving *p, struct proof_try *try, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_outcome(p, try, fact_bool(true), NULL, format, ap);
	va_end(ap);
}

void prove_fails(struct proving *p, struct proof_try *try, const char *error, const char *format,
		 ...)
{
	va_list ap;

	va_start(ap, format);
	put_outcome(p, try, fact_bool(false), error, format, ap);
	va_end(ap);
}

void prove_unknown(struct proving *p, struct proof_try *try, const char *error, const char *format,
		   ...)
{
	va_list ap;

	va_start(ap, format);
	put_outcome(p, try, (struct fact_bool){ 0 }, error, format, ap);
	va_end(ap);
}

/* ---- GPUs and the RDMA devices near them ---- */

static enum path_class class_between(const struct node *node, const char *gpu, struct fact_str nic)
{
	for_each(g, &node->topology.gpus) {
		if (!str_is(g->bdf, gpu))
			continue;
		for_each(path, &g->nics)
			if (is_known(nic) && str_is(path->bdf, nic.value) && is_known(path->class))
				return (enum path_class)path->class.value;
	}
	return PATH_UNKNOWN;
}

/* Returns true for the nearest devices; if distances are unknown (virtual functions, soft RDMA), for all. */
static bool is_near(const struct proving *p, size_t gpu, const struct rdma_device *device)
{
	enum path_class mine = class_between(p->node, prove_bdf(p, gpu), device->bdf);

	for_each(other, &p->node->rdma.devices)
		if (class_between(p->node, prove_bdf(p, gpu), other->bdf) < mine)
			return false;
	return true;
}

bool prove_pair(const struct proving *p, size_t pair, size_t *gpu,
		const struct rdma_device **device)
{
	for (*gpu = 0; *gpu < p->proof->gpus.count; ++*gpu)
		for_each(d, &p->node->rdma.devices)
			if (is_near(p, *gpu, d) && pair-- == 0) {
				*device = d;
				return true;
			}
	return false;
}

size_t prove_pairs(const struct proving *p)
{
	const struct rdma_device *device;
	size_t n = 0, gpu;

	while (prove_pair(p, n, &gpu, &device))
		n++;
	return n;
}
