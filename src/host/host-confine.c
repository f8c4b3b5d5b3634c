/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-confine.c - a child that looks at a host, with no more than that takes. */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/confine.h"
#include "host/host-private.h"

/* A folder of a tree where the kernel's own is mounted, with O_PATH; -1: it is another. */
static int open_kernel_folder(const struct host *host, const char *name, long kind)
{
	int fd = openat(host->root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;

	if (fd >= 0 && fstatfs(fd, &fs) == 0 && (long)fs.f_type == kind)
		return fd;
	close_fd(&fd);
	return -1;
}

/* A host that is mounted into a container has the running kernel's own files, and is asked as a live one. */
static bool is_running(const struct host *host)
{
	_cleanup_close_ int proc = -1, sys = -1;

	if (host->kind == HOST_LIVE)
		return true;
	proc = open_kernel_folder(host, "proc", PROC_SUPER_MAGIC);
	sys = open_kernel_folder(host, "sys", SYSFS_MAGIC);
	return proc >= 0 || sys >= 0;
}

void host_stand_for(struct host *host)
{
	_cleanup_close_ int proc = host->kind == HOST_LIVE
					   ? open("/proc", O_PATH | O_CLOEXEC)
					   : open_kernel_folder(host, "proc", PROC_SUPER_MAGIC);
	ssize_t n;

	n = proc < 0 ? -1 : readlinkat(proc, "self", host->self, sizeof(host->self) - 1);
	host->self[n < 0 ? 0 : n] = '\0';
}

void host_confine(struct host *host, bool connects)
{
	bool kernel = is_running(host);
	const struct confine how = {
		.tree = kernel ? -1 : host->root,
		.kernel = kernel,
		.connects = connects && host->kind == HOST_LIVE,
	};

	host->no_openat2 |= !confine(&how);
}

const char *host_own_path(const struct host *host, const char *path, char other[64])
{
	static const char self[] = "/proc/self/";
	const char *name = path + sizeof(self) - 1;

	if (!*host->self || strncmp(path, self, sizeof(self) - 1) != 0 ||
	    (strcmp(name, "status") != 0 && strcmp(name, "limits") != 0))
		return path;
	snprintf(other, 64, "/proc/%s/%s", host->self, name);
	return other;
}
