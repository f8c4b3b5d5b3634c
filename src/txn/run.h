/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.h - runs the few programs that a transaction needs: generators of images and menus,
 * systemctl, depmod. Never through a shell, and only those of one table, by their absolute path.
 *
 * What the caller's environment holds does not reach them: LC_ALL=C, a fixed PATH, no
 * DPKG_MAINTSCRIPT_PACKAGE (under which update-initramfs does nothing and reports success), umask
 * 022, nothing on standard input, a process group of their own.
 */
#ifndef RUN_H
#define RUN_H

#include <stdbool.h>

#include "base/arena.h"
#include "host/host.h"

/* A generic dracut image takes a minute on two slow cores, on a large server several. */
#define RUN_INITRAMFS_TIMEOUT_S 1800
#define RUN_TIMEOUT_S 300
#define RUN_OUTPUT_MAX 8192 /* the end of it is kept */

struct run {
	const char *const *argv; /* argv[0] absolute, NULL-terminated */
	int root;		 /* a folder to enter with chroot(2) first; -1: this host's root */
	unsigned int timeout_s;
	int lock;      /* stays open in the program, so that the lock lasts as long; -1: none */
	bool stubborn; /* goes on when a signal to end has come: something is being taken back */
	struct arena *arena;

	int status;	    /* exit status; -1: it did not exit by itself */
	const char *output; /* the end of standard output and standard error */
	const char *why;    /* one line when run_program() is not 0 */
};

/* 0 when the program exited with status 0; -EIO with any other status; -ENOENT when it is not
 * there, -EPERM when it is not in the table, -ETIME, -EINTR when a signal to end came, or what fork
 * and exec said. Its process group is then no more. */
int run_program(struct run *run);

/* The path of a program of the table on HOST, "mkinitramfs", or NULL. */
const char *run_find(struct host *host, const char *name);
bool run_may(const char *path);

/* Returns true if a signal is held back that would end the process. */
bool run_interrupted(void);
/* Blocks every signal that would end this process by default, except those of its own faults. The signals of a
 * closed pipe, a file size limit or a lease are ignored: the call that meets them fails. */
void run_hold_signals(bool hold);

#endif
