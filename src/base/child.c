/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child.c - processes for work that may hang or crash. */
#include "base/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdalign.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 2000000 /* between two checks of a child that is to end */
#define KILLED_LOOKS 50
#define ENDING_MS \
	1000 /* from closing its pipe to its end: zero, unless a library closes a descriptor that it does not own */

int child_fork(struct child *c)
{
	int fds[2], error;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	*c = (struct child){ .fd = fds[0], .pid = fork() };
	error = errno;
	if (c->pid == 0) {
		close(fds[0]);
		c->fd = fds[1];
		return 0;
	}
	close(fds[1]);
	if (c->pid > 0)
		return 0;
	close(fds[0]);
	return -error;
}

#define BLIND_MAX 1024 /* descriptors that are tried where /proc is not mounted */

static int *inherited;
static size_t inherited_count;

void child_note(int fd)
{
	int *more;

	if (fd <= STDERR_FILENO)
		return;
	more = reallocarray(inherited, inherited_count + 1, sizeof(*inherited));
	if (!more)
		return;
	inherited = more;
	inherited[inherited_count++] = fd;
}

static void note_listed(int listing)
{
	alignas(struct dirent64) char entries[1024];
	ssize_t n;

	while ((n = getdents64(listing, entries, sizeof(entries))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
			int fd = atoi(entry->d_name); /* of "." and "..": 0 */

			if (fd != listing)
				child_note(fd);
			at += entry->d_reclen;
		}
}

void child_note_inherited(void)
{
	int listing = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (listing >= 0) {
		note_listed(listing);
		close(listing);
		return;
	}
	for (int fd = 0; fd < BLIND_MAX; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			child_note(fd);
}

static void leave_inherited(void)
{
	for (size_t i = 0; i < inherited_count; i++)
		close(inherited[i]);
}

static void leave_output(void)
{
	int fd = open("/dev/null", O_RDWR);

	for (int i = STDIN_FILENO; fd >= 0 && i <= STDERR_FILENO; i++)
		dup2(fd, i);
	if (fd > STDERR_FILENO)
		close(fd);
}

void child_begin(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	leave_output();
	leave_inherited();
}

/* Waits for the end without polling; before Linux 5.3, by polling. False: the child still runs. */
static bool has_ended(pid_t pid, int *status)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd >= 0) {
		poll(&p, 1, ENDING_MS);
		close(fd);
		return waitpid(pid, status, WNOHANG) != 0;
	}
	for (int i = 0; i < ENDING_MS * 1000000L / LOOK_NS; i++) {
		if (waitpid(pid, status, WNOHANG) != 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* The child that is freeing its memory while its parent continues. */
static pid_t leaving;

void child_leave(struct child *c)
{
	child_collect();
	close(c->fd);
	leaving = c->pid;
}

void child_collect(void)
{
	int status;

	if (leaving && waitpid(leaving, &status, WNOHANG) == 0)
		has_ended(leaving, &status);
	leaving = 0;
}

int child_end(struct child *c, bool ended)
{
	const struct timespec pause = { .tv_nsec = LOOK_NS };
	int status = 0;

	close(c->fd);
	if (ended && has_ended(c->pid, &status))
		return status;
	kill(c->pid, SIGKILL);
	for (int i = 0; i < KILLED_LOOKS; i++) {
		if (waitpid(c->pid, &status, WNOHANG) != 0)
			break;
		nanosleep(&pause, NULL);
	}
	return status;
}
