/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host-resolve.c - paths inside a tree. An absolute link, a ".." or a chain of links in an
 * untrusted tree must never reach this machine's own files: the kernel's RESOLVE_IN_ROOT ensures
 * this, and a walk of one component at a time where there is no openat2 (before 5.6, or under a
 * seccomp filter that does not know it).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/host-private.h"
#include "host/root.h"

#define LINKS_MAX 40 /* as the kernel's MAXSYMLINKS */
#define DEPTH_MAX 64

struct walk {
	int fds[DEPTH_MAX]; /* fds[0] is the root, borrowed */
	size_t depth;
	unsigned int links;
	bool distrust; /* links of other users in the last place */
	char rest[PATH_MAX];
	char *exposed; /* of root_walk(); NULL: not needed */
	bool magic;    /* links of procfs may lead out of the root: /proc/1/root */
};

static void walk_up(struct walk *w)
{
	if (w->depth > 0)
		close(w->fds[w->depth--]);
}

static void walk_to_root(struct walk *w)
{
	while (w->depth > 0)
		walk_up(w);
}

/* Puts the link's target before the rest of the path. */
static int follow(struct walk *w, int link)
{
	char target[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t n = readlinkat(link, "", target, sizeof(target) - 1);

	close(link);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (snprintf(joined, sizeof(joined), "%s/%s", target, w->rest) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (target[0] == '/')
		walk_to_root(w);
	memcpy(w->rest, joined, strlen(joined) + 1);
	return 0;
}

/* Cuts the next component off w->rest into NAME: 1, 0 at the end, or negative errno. */
static int next_component(struct walk *w, char name[NAME_MAX + 1])
{
	char *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/");

	if (n == 0)
		return 0;
	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, p, n);
	name[n] = '\0';
	memmove(w->rest, p + n, strlen(p + n) + 1);
	return 1;
}

/* /proc/PID/root reads as "/" for a different root of another process: only the kernel can follow it. */
static bool is_magic(const struct walk *w)
{
	struct statfs fs;

	return w->magic && fstatfs(w->fds[w->depth], &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Only O_PATH does not trigger an automount: open(2). */
static void mount_it(const struct walk *w, const char *name, int *fd)
{
	int again = openat(w->fds[w->depth], name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (again < 0)
		return;
	close(*fd);
	*fd = again;
}

static int step(struct walk *w, const char *name, bool last, int flags)
{
	struct stat st;
	int fd;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		if (fstat(w->fds[w->depth], &st) == 0 && !S_ISDIR(st.st_mode))
			return -ENOTDIR;
		if (name[1])
			walk_up(w);
		return 0;
	}
	fd = openat(w->fds[w->depth], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		int rc = -errno;

		close_fd(&fd);
		return rc;
	}
	if (w->exposed && !*w->exposed)
		entry_exposed(w->fds[w->depth], &st, w->exposed);
	if (S_ISLNK(st.st_mode) && !(last && (flags & O_NOFOLLOW))) {
		bool others = st.st_uid != 0 && st.st_uid != geteuid();

		if (!is_magic(w) && !(w->distrust && last && others))
			return follow(w, fd);
		close(fd);
		if (!is_magic(w))
			return -ELOOP;
		fd = openat(w->fds[w->depth], name, O_PATH | O_CLOEXEC);
		if (fd < 0)
			return -errno;
	}
	if (w->magic && S_ISDIR(st.st_mode))
		mount_it(w, name, &fd);
	if (w->depth + 1 >= DEPTH_MAX) {
		close(fd);
		return -ENAMETOOLONG;
	}
	w->fds[++w->depth] = fd;
	return 0;
}

/* Opens the folder at which the walk is. */
static int open_folder(const struct walk *w, int flags)
{
	int fd = openat(w->fds[w->depth], ".", flags);

	return fd < 0 ? -errno : fd;
}

/* Opens the file at the end of the walk with the caller's flags. */
static int reopen(struct walk *w, const char *name, int flags)
{
	int fd;

	if (flags & O_PATH) {
		fd = fcntl(w->fds[w->depth], F_DUPFD_CLOEXEC, 0);
	} else if (w->depth == 0) {
		return open_folder(w, flags);
	} else {
		/* Opens one component below an open folder with O_NOFOLLOW, so that no link can redirect it. */
		fd = openat(w->fds[w->depth - 1], name, flags | O_NOFOLLOW);
	}
	return fd < 0 ? -errno : fd;
}

static int walk(struct walk *w, const char *path, int flags)
{
	char name[NAME_MAX + 1] = ".";
	int rc = 0;

	if ((size_t)snprintf(w->rest, sizeof(w->rest), "%s", path) >= sizeof(w->rest))
		return -ENAMETOOLONG;
	while (rc == 0 && (rc = next_component(w, name)) > 0) {
		bool last = w->rest[strspn(w->rest, "/")] == '\0';

		rc = step(w, name, last, flags);
	}
	/* After "..", the name no longer is the position of the walk. */
	if (rc == 0 && (strcmp(name, "..") == 0 || strcmp(name, ".") == 0) && w->depth > 0 &&
	    !(flags & O_PATH))
		rc = open_folder(w, flags);
	else if (rc == 0)
		rc = reopen(w, name, flags);
	walk_to_root(w);
	return rc;
}

static int walk_in_root(int root, const char *path, int flags, bool distrust)
{
	struct walk w = { .fds = { root }, .distrust = distrust };

	return walk(&w, path, flags);
}

int root_walk(int root, const char *path, char exposed[ROOT_WHY])
{
	struct walk w = { .fds = { root }, .exposed = exposed };

	exposed[0] = '\0';
	return walk(&w, path, O_PATH | O_CLOEXEC);
}

int resolve_name(int root, const char *path, char exposed[ROOT_WHY])
{
	struct walk w = { .fds = { root }, .exposed = exposed, .magic = true };

	return walk(&w, path, O_PATH | O_CLOEXEC);
}

int resolve_in_root(struct host *host, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags & O_PATH ? flags & ~(O_NONBLOCK | O_NOCTTY) : flags),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	if (!host->no_openat2) {
		fd = (int)syscall(SYS_openat2, host->root, path, &how, sizeof(how));
		if (fd >= 0)
			return fd;
		/* EAGAIN: something was renamed or mounted anywhere on this machine meanwhile, so that
		 * the kernel cannot be sure of a "..". The walk can. */
		if (errno != ENOSYS && errno != EPERM && errno != EAGAIN)
			return -errno;
		host->no_openat2 = errno != EAGAIN;
	}
	return walk_in_root(host->root, path, flags & ~(flags & O_PATH ? O_NONBLOCK | O_NOCTTY : 0),
			    false);
}

int resolve_distrusted(struct host *host, const char *path)
{
	_cleanup_close_ int top = host->root < 0 ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	if (host->root < 0 && top < 0)
		return -errno;
	return walk_in_root(host->root < 0 ? top : host->root, path, O_PATH | O_CLOEXEC, true);
}
