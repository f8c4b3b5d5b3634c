/* SPDX-License-Identifier: GPL-2.0-or-later */
/* open-file.h - opens files that another user may have created. The type is checked before the
 * open, so that a pipe cannot block this process and a device cannot act. */
#ifndef OPEN_FILE_H
#define OPEN_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* What the kernel makes up (procfs and its like), where reading can do more: /proc/kmsg gives a line once. */
bool open_is_made_up(int fd);

/* 0, or the negative errno that says why such a file is not opened. */
typedef int open_check(int fd, const struct stat *st);

/* Opens FILE for FLAGS, O_CLOEXEC and O_NOCTTY added, after CHECK has agreed to that very file; a link is followed
 * unless NOFOLLOW. A descriptor or negative errno. */
int open_checked(const char *file, int flags, bool nofollow, open_check *check);

/* NAME in FOLDER, if it is a regular file with that name alone (-EBADF: it is not, -ENOENT). The owner of the folder may
 * have put a device there, a FIFO, a link, or a second name of a file elsewhere: none is opened. */
int open_own_file(int folder, const char *name, int flags);

/* For reading: a regular file that is not made up, or a pipe of the caller's own or root's (-EBADF: neither). */
int open_for_reading(const char *file);

#endif
