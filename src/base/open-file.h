/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open-file.h - opens files that another user may have created. The type is checked before the
 * open, so that a pipe cannot block this process and a device cannot act. */
#ifndef OPEN_FILE_H
#define OPEN_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Returns true for a file of procfs, sysfs or another file system without storage, where a read can have an effect:
 * /proc/kmsg returns each line once. */
bool open_is_made_up(int fd);

/* Returns 0, or the negative errno for which such a file is not opened. */
typedef int open_check(int fd, const struct stat *st);

/* Opens FILE with FLAGS, O_CLOEXEC and O_NOCTTY after CHECK has accepted this same file. A link is followed unless
 * NOFOLLOW. Returns a descriptor or a negative errno. */
int open_checked(const char *file, int flags, bool nofollow, open_check *check);

/* Returns true if another file is mounted onto NAME in FOLDER, or onto FOLDER if NAME is "". Known since Linux 5.8. */
bool open_is_mounted(int folder, const char *name);

/* Opens NAME in FOLDER if it is a regular file with only that name (-EBADF: it is not, -ENOENT). The owner of the
 * folder may have put a device there, a FIFO, a link, a mount, or a second name of a file elsewhere: none is opened. */
int open_own_file(int folder, const char *name, int flags);

/* Opens FILE for reading. Only a regular file with storage is accepted, or a pipe of the caller or root; anything
 * else is -EBADF. */
int open_for_reading(const char *file);

#endif
