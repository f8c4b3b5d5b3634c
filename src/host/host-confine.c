/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-confine.c - a child that looks at a host, with no more than that takes. */
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/confine.h"
#include "host/host-private.h"

static bool is_of_kernel(int root, const char *name, long kind)
{
	_cleanup_close_ int fd = openat(root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs fs;

	return fd >= 0 && fstatfs(fd, &fs) == 0 && (long)fs.f_type == kind;
}

/* A host that is mounted into a container has the running kernel's own files, and is asked as a live one. */
static bool is_running(const struct host *host)
{
	return host->kind == HOST_LIVE || is_of_kernel(host->root, "proc", PROC_SUPER_MAGIC) ||
	       is_of_kernel(host->root, "sys", SYSFS_MAGIC);
}

void host_confine(struct host *host, pid_t asker, bool connects)
{
	bool kernel = is_running(host);
	const struct confine how = {
		.tree = kernel ? -1 : host->root,
		.kernel = kernel,
		.connects = connects && host->kind == HOST_LIVE,
	};

	host->asker = asker;
	host->no_openat2 |= !confine(&how);
}

const char *asker_path(const struct host *host, const char *path, char other[64])
{
	static const char self[] = "/proc/self/";
	const char *name = path + sizeof(self) - 1;

	if (!host->asker || strncmp(path, self, sizeof(self) - 1) != 0 ||
	    (strcmp(name, "status") != 0 && strcmp(name, "limits") != 0))
		return path;
	snprintf(other, 64, "/proc/%d/%s", (int)host->asker, name);
	return other;
}
