/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mountinfo.h - a line of /proc/PID/mountinfo (proc_pid_mountinfo(5)). */
#ifndef PARSE_MOUNTINFO_H
#define PARSE_MOUNTINFO_H

#include "base/span.h"

/* Bytes of the file that are read: a node can have thousands of mounts. */
#define MOUNTINFO_MAX (8u << 20)

struct mountinfo {
	struct span point, type,
		source; /* as the kernel writes them: see mountinfo_unescape(). SOURCE may be empty */
	struct span mount_options, super_options;
	bool is_whole; /* false: of the line, only the mount point can be read */
};

/* Reads the next line. False at the end. Lines without a mount point are skipped and counted in BAD. */
bool mountinfo_next(struct span *rest, struct mountinfo *out, size_t *bad);

/* Blanks, tabs, newlines, backslashes and "#" are written \040 and so on (fs/proc_namespace.c, mangle). Writes at most
 * SIZE bytes and a NUL. False: it is longer. */
bool mountinfo_unescape(struct span text, char *out, size_t size);

/* Options of the mount and of its file system in one list. It is read-only if either is. */
bool mountinfo_options(const struct mountinfo *line, char *out, size_t size);

/* Returns true if OPTION is one of the comma-separated OPTIONS. */
bool mount_has_option(struct span options, struct span option);

#endif
