/* SPDX-License-Identifier: GPL-2.0-or-later */
/* child.h - processes for work that may hang or crash. The parent continues without them. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid; /* 0: this process is it */
	int fd;	   /* becomes readable when the child has ended */
};

/* Makes a child. Returns 0 in both processes, or negative errno. */
int child_fork(struct child *child);
/* Records the descriptors that the caller of the program left open; child_begin() closes them in the child. Must be
 * called before any file is opened. */
void child_note_inherited(void);
/* Adds FD to them. It must stay open as long as children are made. */
void child_note(int fd);
/* The child calls this first. It is killed when PARENT ends, and it closes the caller's descriptors, so that a
 * reader of the caller's pipes sees their end. A sanitizer's output is lost too: set ASAN_OPTIONS=log_path=FILE to
 * see it. */
void child_begin(pid_t parent);
/* Collects a child that ENDED, or kills and collects it. A child that is stuck in the kernel is not waited for: init
 * collects it. Returns the wait status; 0: no status. */
int child_end(struct child *child, bool ended);
/* For a child that has finished its work and closed its end. The parent continues, and collects the child at the end of
 * the program, because the init of some containers collects no children. */
void child_leave(struct child *child);
void child_collect(void);

#endif
