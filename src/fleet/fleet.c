/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet.c - the files of many nodes: their list, the workers, and the facts that can be compared between nodes. */
#include "fleet/fleet.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/message.h"
#include "base/span.h"

#define FILES_BYTES (1u << 30) /* address space for names */
#define FILES_PER_WORKER 4     /* fewer are not worth another process */
#define NODE_BYTES (16 << 20)  /* a large node's file and report */

/* Progress of the workers, in shared memory: a worker writes it, and the parent reads it when the worker has ended. */
struct fleet_progress {
	size_t at[WORKERS_MAX]; /* the file that is being read, from 1; 0: none */
	bool ended[];		/* files that ended a worker, or were left out */
};

/* ---- files ---- */

/* NAME without one of ENDINGS. */
static struct span without(struct span name, const char *const *endings)
{
	for (; *endings; endings++)
		if (span_ends(name, *endings) && name.n > strlen(*endings))
			return (struct span){ name.p, name.n - strlen(*endings) };
	return name;
}

static const char *name_of(struct arena *arena, const char *file)
{
	static const char *const packed[] = { ".gz", ".xz", ".zst", NULL };
	static const char *const endings[] = { ".json", ".capture", ".facts", NULL };
	const char *slash = strrchr(file, '/');
	struct span name = span_of(slash ? slash + 1 : file);

	name = without(without(name, packed), endings);
	return arena_strndup(arena, name.p, name.n);
}

/* FILE is the arena's. */
static void add_file(struct fleet *fleet, const char *file)
{
	if ((fleet->count & (fleet->count - 1)) == 0) {
		size_t room = (fleet->count ? fleet->count * 2 : 1) * sizeof(char *);
		const char **files = arena_alloc(fleet->arena, room);
		const char **names = arena_alloc(fleet->arena, room);

		if (fleet->count) {
			memcpy(files, fleet->files, fleet->count * sizeof(char *));
			memcpy(names, fleet->names, fleet->count * sizeof(char *));
		}
		fleet->files = files;
		fleet->names = names;
	}
	fleet->files[fleet->count] = file;
	fleet->names[fleet->count] = name_of(fleet->arena, file);
	fleet->count++;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static enum exit_status add(struct fleet *fleet, const char *path)
{
	struct dirent **entries;
	struct stat st;
	int n;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode)) {
		add_file(fleet, arena_strdup(fleet->arena, path));
		return EXIT_WELL;
	}
	n = scandir(path, &entries, is_visible, alphasort);
	if (n < 0) {
		complain("%s: %s", path, strerror(errno));
		return EXIT_CANNOT;
	}
	for (int i = 0; i < n; i++) {
		char *file = arena_printf(fleet->arena, "%s/%s", path, entries[i]->d_name);

		if (stat(file, &st) == 0 && S_ISREG(st.st_mode))
			add_file(fleet, file);
		free(entries[i]);
	}
	free(entries);
	return EXIT_WELL;
}

enum exit_status fleet_open(struct fleet *fleet, const char *from, char *const *more, size_t count)
{
	enum exit_status status = EXIT_WELL;

	*fleet = (struct fleet){ .arena = arena_new_shared(FILES_BYTES, "file names") };
	if (!fleet->arena) {
		complain("out of memory");
		return EXIT_CANNOT;
	}
	if (from)
		status = add(fleet, from);
	for (size_t i = 0; !status && i < count; i++)
		status = add(fleet, more[i]);
	if (!status && !fleet->count) {
		complain("%s has no capture and no facts file", from ? from : more[0]);
		return EXIT_CANNOT;
	}
	fleet->progress = arena_alloc(fleet->arena, sizeof(*fleet->progress) + fleet->count);
	return status;
}

void fleet_add_node(struct fleet *fleet, const char *name)
{
	add_file(fleet, arena_strdup(fleet->arena, name));
	fleet->names[fleet->count - 1] = fleet->files[fleet->count - 1];
	fleet->progress = arena_alloc(fleet->arena, sizeof(*fleet->progress) + fleet->count);
}

void fleet_close(struct fleet *fleet)
{
	arena_free(fleet->arena);
}

/* ---- workers ---- */

static _Noreturn void be_worker(struct workers *w, size_t begin, int fd)
{
	FILE *out;

	/* The other workers' ends are not for this one. */
	for (size_t i = 0; i < w->count; i++)
		if (w->streams[i])
			fclose(w->streams[i]);
	setlinebuf(stderr); /* no line of it is mixed with another worker's */
	/* Memory that one node has used is kept for the next one. */
	mallopt(M_TRIM_THRESHOLD, NODE_BYTES);
	mallopt(M_MMAP_THRESHOLD, NODE_BYTES);
	out = fdopen(fd, "w");
	if (out)
		w->run(w->fleet, begin, w->total, out, w->user);
	_exit(out && fclose(out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

static int start_one(struct workers *w, size_t worker, size_t begin)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	fflush(NULL);
	w->fleet->progress->at[worker] = 0;
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		be_worker(w, begin, fds[1]);
	}
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return -EAGAIN;
	}
	w->pids[worker] = pid;
	w->streams[worker] = fdopen(fds[0], "r");
	return w->streams[worker] ? 0 : -ENOMEM;
}

bool workers_begin_file(const struct fleet *fleet, size_t worker, size_t file)
{
	fleet->progress->at[worker] = file + 1;
	return !fleet->progress->ended[file];
}

void fleet_leave_out(const struct fleet *fleet, size_t file)
{
	fleet->progress->ended[file] = true;
}

int workers_again(struct workers *w, size_t worker, size_t begin)
{
	size_t file = w->fleet->progress->at[worker];
	int status = 0;

	fclose(w->streams[worker]);
	w->streams[worker] = NULL;
	waitpid(w->pids[worker], &status, 0);
	w->pids[worker] = 0;
	/* A worker that exited with status 0 has only ended too early, and a file counts as the cause only the first
	 * time. */
	if ((WIFEXITED(status) && WEXITSTATUS(status) == 0) || !file ||
	    w->fleet->progress->ended[file - 1])
		return -EIO;
	w->fleet->progress->ended[file - 1] = true;
	complain("%s: the process that read it ended early (%s)", w->fleet->files[file - 1],
		 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "see above");
	return start_one(w, worker, begin);
}

int workers_start(struct workers *w, const struct fleet *fleet, worker_run *run, void *user)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t total = processors > 1 ? (size_t)processors : 1;
	int rc = 0;

	if (total > fleet->count / FILES_PER_WORKER)
		total = fleet->count / FILES_PER_WORKER + 1;
	if (total > WORKERS_MAX)
		total = WORKERS_MAX;
	*w = (struct workers){ .fleet = fleet, .run = run, .user = user, .total = total };
	for (; rc == 0 && w->count < total; w->count += rc == 0)
		rc = start_one(w, w->count, w->count);
	if (rc)
		workers_end(w);
	return rc;
}

bool workers_end(struct workers *w)
{
	bool well = true;
	int status;

	for (size_t i = 0; i < w->count; i++)
		if (w->streams[i])
			fclose(w->streams[i]);
	for (size_t i = 0; i < w->count; i++)
		well &= w->pids[i] && waitpid(w->pids[i], &status, 0) == w->pids[i] &&
			WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return well;
}

/* ---- comparable facts ---- */

/* The first character distinguishes most. */
static bool matches(const char *const *patterns, const char *path)
{
	for (size_t i = 0; patterns[i]; i++)
		if ((*patterns[i] == '*' || *patterns[i] == *path) &&
		    fnmatch(patterns[i], path, 0) == 0)
			return true;
	return false;
}

bool fleet_is_volatile(const char *path)
{
	static const char *const patterns[] = {
		"probes*",
		"gaps*",
		"env*",
		"log*",
		"os.boot_id",
		"os.boot_time_s",
		"os.observed*",
		"rdma.devices*.counters*",
		"*.pid",
		"*mtime_s",
		"*.line",
		"*.refcnt",
		"*.runtime_status",
		"limits.self*",
		/* Values of the GPU's current activity, and counters. */
		"nvml.gpus*.memory.*used_bytes",
		"nvml.gpus*.memory.reserved_bytes",
		"nvml.gpus*.clocks.reasons",
		"nvml.gpus*.clocks.temperature_c",
		"nvml.gpus*.clocks.margin_c",
		"nvml.gpus*.pcie.generation",
		"nvml.gpus*.links*.low_power",
		NULL,
	};

	return matches(patterns, path);
}

bool fleet_is_own(const char *path)
{
	static const char *const patterns[] = {
		/* A module built by DKMS has the host and time of its build. Version, flavour and the modules'
		 * srcversion are compared. */
		"driver.banner",
		"driver.builder",
		"os.hostname",
		"gpu.devices*.uuid",
		"gpu.devices*.minor",
		"rdma.devices*.node_guid",
		"rdma.devices*.image_guid",
		"rdma.devices*.lid",
		"rdma.devices*.gids*",
		"net.interfaces*.addresses",
		"net.routes*",
		"net.hostname_addresses",
		"initramfs.images*.size_bytes",
		"iommu.devices*.group",
		"dev.nodes*",
		"dev.majors*",
		"dev.char_links",
		"limits.shm_bytes",
		"cmdline.running",
		"pci.devices*.bars*.start",
		"pci.devices*.window.start",
		"repairs*",
		"nvml.gpus*.uuid",
		"nvml.gpus*.serial",
		"nvml.gpus*.minor",
		"nvml.gpus*.fabric.cluster_uuid",
		"nvml.gpus*.fabric.clique",
		"nvml.gpus*.ecc.corrected_*",
		"nvml.gpus*.rows.correctable",
		"nvml.gpus*.rows.banks_*",
		"nvml.gpus*.links*.replays",
		"nvml.gpus*.links*.recoveries",
		"nvml.gpus*.links*.crc_errors",
		"nvml.gpus*.pcie.replays",
		NULL,
	};

	return fleet_is_volatile(path) || matches(patterns, path);
}
