/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process.h - text about one process: /proc/PID/status, uid_map, environ. */
#ifndef PARSE_PROCESS_H
#define PARSE_PROCESS_H

#include "base/span.h"

/* An environment and the arguments share a quarter of the stack at most: 2 MiB by default. */
#define PROCESS_ENVIRON_MAX (4u << 20)

/* These read /proc/PID/status: the users, a set of capabilities by its name ("CapEff:", "CapBnd:"), a number
 * ("Seccomp:"). */
bool process_uids(struct span status, uint64_t *real, uint64_t *effective);
bool process_capabilities(struct span status, const char *name, uint64_t *capabilities);
bool process_number(struct span status, const char *name, uint64_t *number);

/* Returns true if the process of /proc/PID/status has the group: as its effective one, or beside it. */
bool process_has_group(struct span status, uint64_t gid);

/* /proc/PID/uid_map of the first user namespace, which maps every id to itself: kernel/user.c. */
bool process_is_initial_namespace(struct span uid_map);

/* Gets the start time of a process in milliseconds since the boot: field 22 of /proc/PID/stat (proc(5)), in
 * hundredths of a second on every machine (include/asm-generic/param.h, USER_HZ). */
bool process_started(struct span stat, uint64_t *ms);

/* Returns true if /proc/PID/stat (proc(5)) shows that the process was started without variables: fields 50 and 51, the
 * start and end of the environment, are the same address. Both are 0 if the reader lacks permission, or the process has
 * no memory. */
bool process_has_no_variables(struct span stat);

/* Returns false for an environment block that the program has overwritten: it has a title, or zeros. */
bool process_environ_is_whole(struct span block);
/* Cuts the next NAME=VALUE off an environment block. */
bool process_environ_next(struct span *rest, struct span *name, struct span *value);
/* Finds the first variable of that name in one. */
bool process_environ_find(struct span block, const char *name, struct span *value);

/* Returns true for a variable that affects GPU communication. Names with a word for a secret (NVIDIA_API_KEY) are
 * excluded, whatever their beginning. */
bool process_variable_matters(struct span name);

#endif
