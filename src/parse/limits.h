/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits.h - text about resource limits: /proc/PID/limits, limits.conf, sizes of a tmpfs. */
#ifndef PARSE_LIMITS_H
#define PARSE_LIMITS_H

#include "base/span.h"

#define LIMIT_UNLIMITED UINT64_MAX

/* A row of /proc/PID/limits (fs/proc/base.c, proc_pid_limits), by its name: "Max locked memory".
 * False when there is none. */
bool limits_find(struct span text, const char *name, uint64_t *soft, uint64_t *hard);

/* A line of limits.conf(5): DOMAIN TYPE ITEM VALUE. "#" begins a comment anywhere. False for what
 * is not a line of four words, which pam_limits passes over too. */
struct limits_line {
	struct span domain, type, item, value;
};

bool limits_line_parse(struct span line, struct limits_line *out);

/*
 * The size of a tmpfs by its mount options (Documentation/filesystems/tmpfs.rst): size=N, with k, m
 * or g, or % of the memory. In TEXT of the form of /proc/mounts or fstab(5), the last line for
 * MOUNT_POINT counts.
 */
enum tmpfs_size {
	TMPFS_NOT_MOUNTED,
	TMPFS_DEFAULT, /* no size is given: half of the memory */
	TMPFS_BYTES,
	TMPFS_PERCENT,
	TMPFS_BAD, /* a size that is none */
};

enum tmpfs_size tmpfs_find(struct span text, const char *mount_point, uint64_t *value);

#endif
