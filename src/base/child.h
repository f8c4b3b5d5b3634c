/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child.h - processes that do what may hang or crash, for a parent that goes on without them. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid; /* 0: this process is it */
	int fd;	   /* becomes readable when the child has ended */
};

/* 0 in both processes, or negative errno. */
int child_fork(struct child *child);
/* Before anything is opened: what is open now is the caller's, and children do not hold it. */
void child_note_inherited(void);
/* FD too, which stays open for as long as children are begun. */
void child_note(int fd);
/* In the child: it ends with PARENT and holds none of the caller's descriptors, so no pipe that the caller reads to
 * its end. (A sanitizer's words about a child: ASAN_OPTIONS=log_path=FILE.) */
void child_begin(pid_t parent);
/* Collects a child that ENDED, or ends it. One that is stuck in the kernel cannot be waited for: it is
 * left to init. The wait status, or 0. */
int child_end(struct child *child, bool ended);
/* For one that closed its end itself when its work was done: its parent goes on at once, and collects it at
 * the end of the program, where an init that collects nothing would keep it. */
void child_leave(struct child *child);
void child_collect(void);

#endif
