/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes.c - the processes of a node by their names, from /proc. */
#include "probes/processes.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/span.h"
#include "parse/process.h"

/* Lists the kernel's threads: each is a child of the second process, kthreadd (kernel/kthread.c). A GPU node has
 * thousands, and the list saves opening each. The file needs CONFIG_PROC_CHILDREN; without it threads are opened
 * like processes. */
#define KERNEL_THREADS_FILE "/proc/2/task/2/children"

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The thread numbers as strings, sorted like the names of a folder. */
struct threads {
	struct text text;
	const char **items;
	size_t count;
};

static void threads_free(struct threads *t)
{
	text_free(&t->text);
	free(t->items);
}

static void read_threads(struct host *host, struct threads *t)
{
	char *p, *save = NULL;

	if (host_read(host, &t->text, HOST_FILE_MAX, KERNEL_THREADS_FILE))
		return;
	t->items = calloc(t->text.size / 2 + 1, sizeof(*t->items));
	for (p = t->items ? strtok_r(t->text.data, " \n", &save) : NULL; p;
	     p = strtok_r(NULL, " \n", &save))
		t->items[t->count++] = p;
	if (t->count)
		qsort(t->items, t->count, sizeof(*t->items), compare_names);
}

static bool is_thread(const struct threads *t, const char *name)
{
	return t->count && bsearch(&name, t->items, t->count, sizeof(*t->items), compare_names);
}

int processes_list(struct host *host, process_found *found, void *user)
{
	_cleanup_names_ struct names names = { 0 };
	_cleanup_(threads_free) struct threads threads = { 0 };
	int rc = host_list(host, &names, "/proc");
	uint64_t pid;
	int error = 0;

	if (rc)
		return rc == -ENOENT ? -ENODATA : rc;
	/* Process 1 is there for everybody to see, or the list is not the node's. */
	if (!names_have(&names, "1"))
		return -ESRCH;
	read_threads(host, &threads);
	for (size_t i = 0; i < names.count; i++) {
		_cleanup_text_ struct text comm = { 0 };
		struct span name;

		if (span_u64(span_of(names.items[i]), 10, &pid) ||
		    is_thread(&threads, names.items[i]))
			continue;
		rc = host_read(host, &comm, COMM_MAX, "/proc/%s/comm", names.items[i]);
		/* A process that has ended is skipped; one that cannot be read is an error. The kernel gives no
		 * longer name, and in a copy no process ends. */
		if (rc == -ENOENT && host_kind(host) == HOST_TREE)
			error = -ESRCH;
		else if (rc && rc != -ENOENT && rc != -ESRCH && rc != -EFBIG)
			error = rc;
		if (rc)
			continue;
		name = span_trim(text_span(&comm));
		comm.data[name.p - comm.data + name.n] = '\0';
		found(user, pid, name.p);
	}
	return error;
}

/* login.defs(5): SYS_UID_MAX; systemd's UIDS-GIDS.md: dynamic users of services */
#define SYSTEM_UID_MAX 999
#define DYNAMIC_UID_MIN 61184
#define DYNAMIC_UID_MAX 65519

static bool is_system_uid(uint64_t uid)
{
	return uid <= SYSTEM_UID_MAX || (uid >= DYNAMIC_UID_MIN && uid <= DYNAMIC_UID_MAX);
}

/* A user can start a set-uid program by a link of any name, and some of these programs become root altogether. No daemon
 * of the node is one. False if that is not known: only a reader with CAP_SYS_PTRACE sees the program. */
static bool is_set_uid(struct host *host, uint64_t pid)
{
	char program[PATH_MAX];
	struct host_stat stat;

	return host_link(host, program, "/proc/%llu/exe", (unsigned long long)pid) == 0 &&
	       host_stat(host, &stat, "%s", program) == 0 && (stat.mode & S_ISUID);
}

bool process_is_the_nodes(struct host *host, uint64_t pid)
{
	_cleanup_text_ struct text status = { 0 };
	uint64_t real, effective;
	int rc = host_read(host, &status, HOST_FILE_MAX, "/proc/%llu/status",
			   (unsigned long long)pid);

	if (rc)
		return rc == -ENOENT && host_kind(host) == HOST_TREE &&
		       !host_exists(host, "/proc/1/status");
	/* A program that root may be through its mode keeps its user's real one. */
	return process_uids(text_span(&status), &real, &effective) && is_system_uid(real) &&
	       is_system_uid(effective) && !is_set_uid(host, pid);
}

static bool links_differ(struct host *host, pid_t pid, const char *name)
{
	char its[PATH_MAX], ours[PATH_MAX];

	return host_link(host, its, "/proc/%d/%s", (int)pid, name) == 0 &&
	       host_link(host, ours, "/proc/self/%s", name) == 0 && strcmp(its, ours) != 0;
}

/* The root of a process in another mount namespace is shown as "/" as well. */
bool process_is_elsewhere(struct host *host, pid_t pid)
{
	return links_differ(host, pid, "ns/mnt") || links_differ(host, pid, "root");
}

bool process_is_contained(struct host *host, pid_t pid)
{
	return links_differ(host, pid, "ns/pid");
}
