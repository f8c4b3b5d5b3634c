/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unit.h - text about systemd units: unit files, drop-ins, system.conf, cgroup paths. */
#ifndef PARSE_UNIT_H
#define PARSE_UNIT_H

#include "base/span.h"

/*
 * The next assignment of a file in systemd's INI syntax (systemd.syntax(7)): [Section], KEY=VALUE,
 * comments begin with # or ;, a backslash at the end of a line continues it.
 */
struct unit_reader {
	struct span rest;
	struct span section;
	size_t line;
};

struct unit_assignment {
	struct span section, key, value; /* of a value that goes on, what its first line has */
	struct span more;		 /* the lines in which it goes on: unit_value_part() */
	size_t line;			 /* from 1 */
};

bool unit_next(struct unit_reader *reader, struct unit_assignment *out);
/* The next part of a value that goes on, without comments between the lines. systemd puts a blank between two parts. */
bool unit_value_part(struct span *more, struct span *part);

/* The unit that a process belongs to, from /proc/PID/cgroup: the first part of the path that is no
 * slice. Both hierarchies are understood: "0::/..." and "1:name=systemd:/...". */
bool unit_from_cgroup(struct span text, struct span *unit);
/* The user whose slice it is in: 1000 of /user.slice/user-1000.slice/session-3.scope. */
bool unit_user_of_cgroup(struct span text, uint64_t *uid);
/* The control group of a controller, and the folder that it lies in: "5:rdma:/a" is /a of /sys/fs/cgroup/rdma, and
 * "0::/a" is /a of /sys/fs/cgroup. False where it is of neither. */
bool cgroup_of_controller(struct span text, const char *controller, struct span *path,
			  bool *unified);
/* slurmd.service and slurmd.scope, but not user.slice. */
bool unit_is_name(struct span name);
/* S20nv_peer_mem: does an rc?.d link start SCRIPT? */
bool unit_is_start_link(struct span link, const char *script);

#endif
