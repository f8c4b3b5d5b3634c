/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.h - runs the few programs that a transaction needs: generators of images and menus, systemctl, depmod. Never
 * through a shell, and only those of one table, by their absolute path.
 *
 * They do not get the caller's environment: LC_ALL=C, a fixed PATH, no DPKG_MAINTSCRIPT_PACKAGE (under which
 * update-initramfs does nothing and reports success), umask 022, no standard input, a process group of their own.
 */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>

#include "base/arena.h"
#include "host/host.h"

/* A generic dracut image takes a minute on two slow cores, and several minutes on a large server. */
#define RUN_INITRAMFS_TIMEOUT_S 1800
#define RUN_TIMEOUT_S 300
#define RUN_OUTPUT_MAX 8192 /* the end of it is kept */

struct run {
	const char *const *argv; /* argv[0] absolute, NULL-terminated */
	int root;		 /* a folder to enter with chroot(2) first; -1: this host's root */
	unsigned int timeout_s;
	int lock;      /* stays open in the program, so that the lock is held as long; -1: none */
	bool stubborn; /* continues after a signal to end, because it reverts a change */
	struct arena *arena;

	int status;	    /* exit status; -1: it did not exit by itself */
	const char *output; /* the end of standard output and standard error */
	const char *why;    /* one line if run_program() does not return 0 */
};

/* Returns 0 if the program exited with status 0; -EIO for any other status; -ENOENT if it does not exist; -EPERM if it
 * is not in the table; -ETIME; -EINTR after a signal to end; or the errno of fork or exec. Its process group has then
 * ended. */
int run_program(struct run *run);

/* The path of a program of the table on HOST, "mkinitramfs", or NULL. */
const char *run_find(struct host *host, const char *name);

/* Returns true if a blocked signal is pending that would end the process. */
bool run_interrupted(void);
/* Blocks every signal that would end this process by default, except those of its own faults. The signals of a
 * closed pipe, a file size limit or a lease are ignored: the call that meets them fails. */
void run_hold_signals(bool hold);

#endif
