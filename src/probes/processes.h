/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processes.h - the processes of a node by their names, from /proc. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "host/host.h"

#define COMM_MAX 16 /* include/linux/sched.h: TASK_COMM_LEN, with its NUL */
#define PROCESSES_MAX 65536

/*
 * Calls FOUND for every process but the kernel's own threads. 0; -ESRCH when not all can be seen:
 * process 1 is not there, since none was copied into the tree or /proc is mounted so that each user sees
 * only their own (hidepid), or a name was not copied. Meant for ask functions: what a recorder should keep
 * is what was found.
 */
#define PROCESSES_HIDDEN "the node's processes are hidden, or were not recorded"
typedef void process_found(void *user, uint64_t pid, const char *comm);
int processes_list(struct host *host, process_found *found, void *user);

/* Returns whether process PID is the node's own, and not a user's or a job's. Any user can give a process any name,
 * so only the names of the node's processes are believed. In a copy without /proc/PID/status each process is the
 * node's. */
bool process_is_the_nodes(struct host *host, uint64_t pid);

/* Returns true if process PID is in another mount namespace or root, as in a container. Then a path of it can lead
 * to another file than here. False also if that is not known. */
#define PROCESS_IS_ELSEWHERE \
	"the process is in another mount namespace or root: its paths can mean other files"
bool process_is_elsewhere(struct host *host, pid_t pid);

/* Returns true if it is in a container: if it has another PID namespace than this program. A service of systemd has
 * none of its own, but often a mount namespace. */
bool process_is_contained(struct host *host, pid_t pid);

/* Reads FOLDER/environ, where FOLDER is that of a process in /proc. -EBADMSG: the program has written over it (as
 * setproctitle() does); -ESRCH: there is none to read. An empty text means that the process has no variables. */
int process_read_environ(struct host *host, struct text *text, const char *folder);
/* What a gap says of such a failure; NULL: the errno says it. */
const char *process_environ_error(int rc);

#endif
