/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lock-file.c - files in /run/nvnodecheck that are locked. */
#include "txn/lock-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/open-file.h"

static int make_folder(struct writer *w)
{
	int rc = write_folder_exists(w, "/run") ? 0 : write_make_folder(w, "/run", 0755);

	if (rc == 0 && !write_folder_exists(w, LOCK_FOLDER))
		rc = write_make_folder(w, LOCK_FOLDER, 0755);
	return rc == -EEXIST ? 0 : rc;
}

static int open_or_make(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST)
		return open_own_file(folder, name, O_RDWR);
	return fd < 0 ? -errno : fd;
}

int lock_file_open(struct writer *w, const char *path)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = -1;
	int rc = make_folder(w), fd;

	if (rc)
		return rc;
	folder = write_open_folder(w, path, name);
	if (folder < 0)
		return folder;
	fd = open_or_make(folder, name);
	if (fd < 0)
		snprintf(w->why, sizeof(w->why), "%s: %s", path,
			 fd == -EBADF
				 ? "not a regular file with one name, or a file is mounted there"
				 : strerror(-fd));
	return fd;
}

int lock_file_take(int fd, unsigned int tenths)
{
	const struct timespec pause = { 0, 100000000 };

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (!tenths--)
			return -EWOULDBLOCK;
		nanosleep(&pause, NULL);
	}
	return 0;
}

void lock_file_release(int *fd)
{
	if (*fd >= 0)
		flock(*fd, LOCK_UN);
	close_fd(fd);
}
