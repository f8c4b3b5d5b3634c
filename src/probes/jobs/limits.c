/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limits.c - how much memory may be locked and how many files may be open: by the process that was
 * asked about and by what starts jobs; and the size of /dev/shm. What sets the limits is
 * limit-settings.c's.
 */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/array.h"
#include "parse/field.h"
#include "parse/limits.h"
#include "parse/unit.h"
#include "probes/jobs/limit-launchers.h"
#include "probes/probe.h"
#include "probes/processes.h"
#include "probes/services/unit-fragments.h"

#define LAUNCHERS_MAX 4096 /* processes that have such a name */
#define SHM_FOLDER "/dev/shm"

/* ---- processes ---- */

static struct fact_u64 limit(bool found, uint64_t value)
{
	return found ? fact_u64(value == LIMIT_UNLIMITED ? FACT_UNLIMITED : value)
		     : (struct fact_u64){ 0 };
}

static int read_limits(struct host *host, const char *folder, struct process_limits *p)
{
	_cleanup_text_ struct text text = { 0 };
	uint64_t soft, hard;
	bool found;
	int rc = host_read(host, &text, HOST_FILE_MAX, "%s/limits", folder);

	if (rc)
		return rc;
	found = limits_find(text_span(&text), "Max locked memory", &soft, &hard);
	p->memlock_soft_bytes = limit(found, soft);
	p->memlock_hard_bytes = limit(found, hard);
	found = limits_find(text_span(&text), "Max open files", &soft, &hard);
	p->nofile_soft = limit(found, soft);
	p->nofile_hard = limit(found, hard);
	found = limits_find(text_span(&text), "Max processes", &soft, &hard);
	p->processes_soft = limit(found, soft);
	found = limits_find(text_span(&text), "Max stack size", &soft, &hard);
	p->stack_soft_bytes = limit(found, soft);
	return is_known(p->memlock_soft_bytes) && is_known(p->nofile_soft) ? 0 : -EBADMSG;
}

static void read_unit(struct host *host, struct arena *arena, const char *folder,
		      struct fact_str *unit)
{
	_cleanup_text_ struct text text = { 0 };
	struct span name;
	int rc = host_read(host, &text, HOST_FILE_MAX, "%s/cgroup", folder);

	if (rc)
		unit->state = probe_state(rc);
	else if (unit_from_cgroup(text_span(&text), &name))
		*unit = fact_strn(arena, name.p, name.n);
	else
		unit->state = FACT_ABSENT;
}

/* The process named by --pid; without it, this process. */
static void read_self(struct probe_context *ctx)
{
	struct process_limits *self = &ctx->node->limits.self;
	char folder[32] = "/proc/self";
	int rc;

	self->pid.state = FACT_ABSENT;
	if (ctx->pid) {
		snprintf(folder, sizeof(folder), "/proc/%d", ctx->pid);
		self->pid = fact_u64((uint64_t)ctx->pid);
	}
	rc = read_limits(ctx->host, folder, self);
	if (rc == -ENOENT)
		host_gap_note(ctx->host, folder, -ENODATA,
			      ctx->pid ? "there is no such process"
				       : "no process of the node's own was recorded");
	else if (rc == -EBADMSG)
		host_gap_note(ctx->host, arena_printf(ctx->arena, "%s/limits", folder), rc,
			      "no line for locked memory or open files");
	if (rc && rc != -EBADMSG)
		return;
	probe_str(ctx, &self->name, "%s/comm", folder);
	read_unit(ctx->host, ctx->arena, folder, &self->unit);
}

#define COMM_MAX 16 /* with its NUL: TASK_COMM_LEN of the kernel */
#define SITES_MAX 64

struct launchers_found {
	struct host *host;
	struct arena *arena;
	struct limits_facts *answer;
	size_t count;
	char sites[SITES_MAX][COMM_MAX]; /* programs of the site's own services */
	size_t site_count;
};

static bool is_tighter(const struct process_limits *a, const struct process_limits *b)
{
	return is_known(a->memlock_soft_bytes) &&
	       (!is_known(b->memlock_soft_bytes) ||
		a->memlock_soft_bytes.value < b->memlock_soft_bytes.value);
}

static const char *site_of(const struct launchers_found *f, const char *comm)
{
	for (size_t i = 0; i < f->site_count; i++)
		if (strcmp(f->sites[i], comm) == 0)
			return f->sites[i];
	return NULL;
}

static struct process_limits *find_known(struct launchers_found *f, const char *name, bool launches)
{
	for_each_mut(p, &f->answer->launchers)
		if (launches && str_is(p->name, name))
			return p;
	for_each_mut(p, &f->answer->daemons)
		if (!launches && str_is(p->name, name))
			return p;
	return NULL;
}

/* Keeps one entry for each name, with the lowest limit, because that is where a job fails. */
static void add_process(struct launchers_found *f, uint64_t pid, const char *name, bool launches)
{
	struct process_limits p = { 0 }, *known;
	char folder[32];

	snprintf(folder, sizeof(folder), "/proc/%llu", (unsigned long long)pid);
	if (read_limits(f->host, folder, &p) == -ENOENT)
		return;
	p.pid = fact_u64(pid);
	known = find_known(f, name, launches);
	if (known) {
		if (is_tighter(&p, known)) {
			p.name = known->name;
			read_unit(f->host, f->arena, folder, &p.unit);
			*known = p;
		}
		return;
	}
	p.name = fact_str(f->arena, name);
	read_unit(f->host, f->arena, folder, &p.unit);
	if (launches)
		*LIST_ADD(f->arena, &f->answer->launchers) = p;
	else
		*LIST_ADD(f->arena, &f->answer->daemons) = p;
}

static void add_launcher(void *user, uint64_t pid, const char *comm)
{
	struct launchers_found *f = user;
	const struct launcher *launcher = launcher_of(comm);
	const char *site = launcher ? NULL : site_of(f, comm);

	if ((launcher || site) && f->count++ < LAUNCHERS_MAX)
		add_process(f, pid, launcher ? launcher->comm : site, launcher);
}

/* A user's process of that name, or a container's, with limits of its own, does not count: it must neither look like
 * the node's nor hide it. */
static void add_own_launcher(void *user, uint64_t pid, const char *comm)
{
	struct launchers_found *f = user;

	if ((launcher_of(comm) || site_of(f, comm)) && process_is_the_nodes(f->host, pid) &&
	    !process_is_contained(f->host, (pid_t)pid))
		add_launcher(user, pid, comm);
}

/* ---- the site's own services ---- */

static void take_program(void *user, const char *path, const struct unit_assignment *a)
{
	static const char *const folders[] = { "/usr/local/", "/opt/", "/srv/" };
	struct launchers_found *f = user;
	struct span program;
	const char *name;
	bool optional;

	(void)path;
	if (f->site_count == SITES_MAX || !span_is(a->section, "Service") ||
	    !span_is(a->key, "ExecStart") || !unit_program(a->value, &program, &optional))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		if (!span_starts(program, folders[i]))
			continue;
		name = program.p + program.n;
		while (name > program.p && name[-1] != '/')
			name--;
		snprintf(f->sites[f->site_count++], COMM_MAX, "%.*s",
			 (int)(program.p + program.n - name), name);
	}
}

/* Finds units of the site that are enabled by a link in a .wants folder. */
static void find_sites(struct launchers_found *f)
{
	_cleanup_fragments_ struct unit_fragments fragments = { 0 };
	_cleanup_names_ struct names names = { 0 };

	if (host_list(f->host, &names, "/etc/systemd/system/multi-user.target.wants"))
		return;
	unit_fragments_open(&fragments, f->host, f->arena);
	for (size_t i = 0; i < names.count; i++)
		if (span_ends(span_of(names.items[i]), ".service"))
			unit_fragments_read(&fragments, names.items[i], take_program, f);
}

static int compare_processes(const void *a, const void *b)
{
	const struct process_limits *x = a, *y = b;

	return strcmp(x->name.value, y->name.value);
}

static int ask_launchers(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct limits_facts *answer = facts;
	struct launchers_found found = { .host = host, .arena = arena, .answer = answer };
	int rc;

	(void)user;
	find_sites(&found);
	rc = processes_list(host, add_own_launcher, &found);
	/* Of those that were not looked at any may have the lowest limit. */
	if (rc == 0 && found.count > LAUNCHERS_MAX)
		rc = -E2BIG;
	if (rc == -ESRCH) {
		memset(answer, 0, sizeof(*answer));
		return 0;
	}
	if (rc)
		return rc;
	answer->launchers.state = answer->daemons.state = FACT_KNOWN;
	fact_list_sort(&answer->daemons, sizeof(answer->daemons.items[0]), compare_processes);
	fact_list_sort(&answer->launchers, sizeof(answer->launchers.items[0]), compare_processes);
	return 0;
}

static void find_launchers(struct probe_context *ctx)
{
	struct limits_facts *limits = &ctx->node->limits, answer = { 0 };
	int rc = host_query(ctx->host, "/proc", &limits_facts_desc, &answer, ctx->arena,
			    ask_launchers, NULL);

	if (rc == 0 && is_unknown(answer.launchers))
		host_gap_note(ctx->host, "/proc/1", -ENODATA, PROCESSES_HIDDEN);
	limits->launchers.state = answer.launchers.state;
	limits->launchers.items = answer.launchers.items;
	limits->launchers.count = answer.launchers.count;
	limits->daemons.state = answer.daemons.state;
	limits->daemons.items = answer.daemons.items;
	limits->daemons.count = answer.daemons.count;
}

/* ---- shared memory ---- */

static int ask_shm(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct limits_facts *answer = facts;
	char native[PATH_MAX];
	struct statvfs vfs;

	(void)arena;
	(void)user;
	/* A tree has the folder without what was mounted there. */
	if (host_kind(host) != HOST_LIVE || host_folder(host, SHM_FOLDER, NULL, native))
		return 0;
	if (statvfs(native, &vfs) < 0)
		return -errno;
	answer->shm_bytes = fact_u64((uint64_t)vfs.f_blocks * vfs.f_frsize);
	return 0;
}

static bool size_from_mounts(struct probe_context *ctx, const char *path)
{
	struct fact_u64 *bytes = &ctx->node->limits.shm_bytes;
	const struct fact_u64 *memory = &ctx->node->os.memory_bytes;
	_cleanup_text_ struct text text = { 0 };
	uint64_t value = 0;

	if (host_read(ctx->host, &text, HOST_FILE_MAX, "%s", path))
		return false;
	switch (tmpfs_find(text_span(&text), SHM_FOLDER, &value)) {
	case TMPFS_NOT_MOUNTED:
		return false;
	case TMPFS_BYTES:
		*bytes = fact_u64(value);
		return true;
	case TMPFS_DEFAULT: /* half of the memory; mm/shmem.c: shmem_default_max_blocks() */
		value = 50;
		/* fall through */
	case TMPFS_PERCENT:
		if (is_known(*memory))
			*bytes = fact_u64(memory->value * value / 100);
		else
			host_gap_note(ctx->host, path, -ENODATA,
				      "a share of the memory, whose size is not known");
		return true;
	case TMPFS_BAD:
		host_gap_note(ctx->host, path, -EBADMSG, "not a size");
		return true;
	}
	return false;
}

static void read_shm(struct probe_context *ctx)
{
	struct limits_facts *limits = &ctx->node->limits, answer = { 0 };
	int rc = host_query(ctx->host, SHM_FOLDER, &limits_facts_desc, &answer, ctx->arena, ask_shm,
			    NULL);

	limits->shm_bytes = answer.shm_bytes;
	if (rc == -ENOENT)
		limits->shm_bytes.state = FACT_ABSENT;
	if (rc || is_known(limits->shm_bytes))
		return;
	if (!size_from_mounts(ctx, "/proc/self/mounts") && !size_from_mounts(ctx, "/proc/mounts") &&
	    !size_from_mounts(ctx, "/proc/1/mounts") && !size_from_mounts(ctx, "/etc/fstab"))
		host_gap_note(ctx->host, SHM_FOLDER, -ENODATA, "no table of mounts says its size");
}

static void limits_run(struct probe_context *ctx)
{
	read_self(ctx);
	find_launchers(ctx);
	read_shm(ctx);
}

/* ---- in preflight ---- */

#define ANCESTORS_MAX 32

static uint64_t parent_of(struct host *host, uint64_t pid)
{
	_cleanup_text_ struct text text = { 0 };
	struct span value;
	uint64_t parent = 0;

	if (host_read(host, &text, HOST_FILE_MAX, "/proc/%llu/status", (unsigned long long)pid) ||
	    !field_find(text_span(&text), ':', "PPid", &value) || span_u64(value, 10, &parent))
		return 0;
	return parent;
}

/* Reads the limits of the process that started this one, because it starts jobs as well: in a prolog it is slurmd.
 * Searching for other launchers would read every process. If no ancestor is a launcher (an interactive shell), the
 * limits stay unknown. */
static void limits_run_preflight(struct probe_context *ctx)
{
	struct limits_facts *limits = &ctx->node->limits;
	struct launchers_found found = { .host = ctx->host, .arena = ctx->arena, .answer = limits };
	uint64_t pid = (uint64_t)getppid();

	read_shm(ctx);
	if (host_kind(ctx->host) != HOST_LIVE)
		return;
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		struct fact_str comm = { 0 };

		probe_str(ctx, &comm, "/proc/%llu/comm", (unsigned long long)pid);
		if (!is_known(comm))
			return;
		/* A login is not what starts the jobs of a batch system. */
		if (!str_starts(comm, "sshd"))
			add_launcher(&found, pid, comm.value);
		pid = parent_of(ctx->host, pid);
	}
}

const struct probe probe_limits = {
	.name = "limits",
	.phase = PHASE_ALONE,
	.needs = NEEDS_PROCESSES,
	PROBE_SECTION(limits),
	.run = limits_run,
	.preflight = { .run = limits_run_preflight },
};
