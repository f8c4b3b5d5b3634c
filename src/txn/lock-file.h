/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lock-file.h - files in /run/nvnodecheck that are locked. Their mode is 0600, so no other user can lock them. */
#ifndef LOCK_FILE_H
#define LOCK_FILE_H

#include "txn/write.h"

#define LOCK_FOLDER "/run/nvnodecheck"

/* Opens PATH, a file in LOCK_FOLDER, and makes both where they are missing. Returns the descriptor, or negative errno
 * with a sentence in w->why. */
int lock_file_open(struct writer *w, const char *path);

/* Locks the file, and waits that many tenths of a second for another process that has the lock. The lock lasts until
 * the last process that has FD open ends. Returns 0, -EWOULDBLOCK, or another negative errno. */
int lock_file_take(int fd, unsigned int tenths);

/* Releases the lock, also for processes that have inherited FD, and closes FD unless it is -1. */
void lock_file_release(int *fd);

#endif
