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
/* The child calls this first. It is killed when PARENT ends, and it closes the caller's descriptors, so that a
 * reader of the caller's pipes sees their end. A sanitizer's output is lost too: set ASAN_OPTIONS=log_path=FILE to
 * see it. */
void child_begin(pid_t parent);
/* Collects a child that ENDED, or ends it. One that is stuck in the kernel cannot be waited for: it is
 * left to init. The wait status, or 0. */
int child_end(struct child *child, bool ended);
/* For a child that has closed its end because its work is done: the parent continues and collects it at the end of
 * the program, because the init of some containers collects no children. */
void child_leave(struct child *child);
void child_collect(void);

#endif
