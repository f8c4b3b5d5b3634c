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
	struct span section, key, value; /* of a value that continues, the text on its first line */
	struct span more;		 /* the continuation lines: unit_value_part() */
	size_t line;			 /* from 1 */
};

bool unit_next(struct unit_reader *reader, struct unit_assignment *out);
/* Cuts the next part off a value that continues, without comments between the lines. systemd joins two parts with a
 * blank. */
bool unit_value_part(struct span *more, struct span *part);

/* The unit of a process, from /proc/PID/cgroup: the first part of the path that is not a slice. Both hierarchies are
 * understood: "0::/..." and "1:name=systemd:/...". */
bool unit_from_cgroup(struct span text, struct span *unit);
/* The user of its slice: 1000 of /user.slice/user-1000.slice/session-3.scope. */
bool unit_user_of_cgroup(struct span text, uint64_t *uid);
/* The control group of a controller, and its folder: "5:rdma:/a" is /a of /sys/fs/cgroup/rdma, and "0::/a" is /a of
 * /sys/fs/cgroup. False if it is in neither. */
bool cgroup_of_controller(struct span text, const char *controller, struct span *path,
			  bool *unified);
/* slurmd.service and slurmd.scope, but not user.slice. */
bool unit_is_name(struct span name);
/* Returns true if an rc?.d link starts SCRIPT: S20nv_peer_mem. */
bool unit_is_start_link(struct span link, const char *script);

#endif
