/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open-file.c - opens files that another user may have created. */
#include "base/open-file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

bool open_is_made_up(int fd)
{
	static const long kinds[] = {
		PROC_SUPER_MAGIC,   SYSFS_MAGIC,	  DEBUGFS_MAGIC,       TRACEFS_MAGIC,
		SECURITYFS_MAGIC,   CGROUP_SUPER_MAGIC,	  CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
		EFIVARFS_MAGIC,	    PSTOREFS_MAGIC,	  SELINUX_MAGIC,       SMACK_MAGIC,
		BINFMTFS_MAGIC,	    RDTGROUP_SUPER_MAGIC, NSFS_MAGIC,	       AUTOFS_SUPER_MAGIC,
		DEVPTS_SUPER_MAGIC, HUGETLBFS_MAGIC,
	};
	struct statfs fs;

	/* fstatfs() succeeds on every kind of file system in this list. A file that it fails on is on none of them. */
	if (fstatfs(fd, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if ((long)fs.f_type == kinds[i])
			return true;
	return false;
}

/* Opens FILE again by its name if /proc is not mounted, without waiting, and checks that it is the same file. */
static int open_same(int folder, const char *file, int flags, const struct stat *st)
{
	int fd = openat(folder, file, flags | O_NONBLOCK);
	struct stat now;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &now) == 0 && now.st_dev == st->st_dev && now.st_ino == st->st_ino &&
	    ((flags & O_NONBLOCK) || fcntl(fd, F_SETFL, 0) == 0))
		return fd;
	close(fd);
	return -ESTALE;
}

static int open_checked_in(int folder, const char *file, int flags, bool nofollow,
			   open_check *check)
{
	int link = nofollow ? O_NOFOLLOW : 0, fd;
	_cleanup_close_ int there = openat(folder, file, O_PATH | O_CLOEXEC | link);
	char name[32];
	struct stat st;
	int rc = there < 0 || fstat(there, &st) < 0 ? -errno : check(there, &st);

	if (rc)
		return rc;
	flags |= O_CLOEXEC | O_NOCTTY;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", there);
	fd = open(name, flags);
	if (fd < 0 && errno == ENOENT)
		return open_same(folder, file, flags | link, &st);
	return fd < 0 ? -errno : fd;
}

int open_checked(const char *file, int flags, bool nofollow, open_check *check)
{
	return open_checked_in(AT_FDCWD, file, flags, nofollow, check);
}

bool open_is_mounted(int folder, const char *name)
{
	struct statx stx;

	return statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_TYPE, &stx) == 0 &&
	       (stx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
	       (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static int check_own(int fd, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_nlink == 1 && !open_is_mounted(fd, "") ? 0 : -EBADF;
}

int open_own_file(int folder, const char *name, int flags)
{
	return open_checked_in(folder, name, flags, true, check_own);
}

static int check_readable(int fd, const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	if (S_ISREG(st->st_mode))
		return open_is_made_up(fd) ? -EBADF : 0;
	return S_ISFIFO(st->st_mode) && (st->st_uid == geteuid() || st->st_uid == 0) ? 0 : -EBADF;
}

int open_for_reading(const char *file)
{
	return open_checked(file, O_RDONLY, false, check_readable);
}
