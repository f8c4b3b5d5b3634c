/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits.h - text about resource limits: /proc/PID/limits, limits.conf, sizes of a tmpfs. */
#ifndef PARSE_LIMITS_H
#define PARSE_LIMITS_H

#include "base/span.h"

#define LIMIT_UNLIMITED UINT64_MAX

/* A row of /proc/PID/limits (fs/proc/base.c, proc_pid_limits), by its name: "Max locked memory". False: no such row. */
bool limits_find(struct span text, const char *name, uint64_t *soft, uint64_t *hard);

/*
 * A line of limits.conf(5) for memlock or nofile: DOMAIN TYPE ITEM VALUE, and any words after them. "#" begins a
 * comment anywhere. Type and item are in small letters. False for a line that pam_limits skips (Linux-PAM 1.5.2:
 * pam_limits.c, parse_config_file() and process_limit()).
 */
struct limits_line {
	struct span domain, type, item, value;
};

bool limits_line_parse(struct span line, struct limits_line *out);
/* A value there: KiB of memory, or a number of files. False for one that pam_limits refuses. */
bool limits_amount(struct span word, uint64_t *value);

/* A value of LimitMEMLOCK=, in bytes: SOFT:HARD, or both in one. False for one that systemd ignores (systemd 252:
 * src/basic/rlimit-util.c, rlimit_parse()). */
bool limits_of_unit(struct span value, uint64_t *soft, uint64_t *hard);

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
	TMPFS_BAD, /* an invalid size */
};

enum tmpfs_size tmpfs_find(struct span text, const char *mount_point, uint64_t *value);

#endif
