/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unit-fragments.h - a unit's file and its drop-ins, in the order in which systemd reads them. */
#ifndef UNIT_FRAGMENTS_H
#define UNIT_FRAGMENTS_H

#include "host/host.h"
#include "parse/unit.h"

#define UNIT_FOLDERS_MAX 8
#define UNIT_DROP_INS_MAX 64

struct unit_fragments {
	struct host *host;
	struct arena *arena;
	const char *const *folders;
	struct names names[UNIT_FOLDERS_MAX];
	int error; /* the first that leaves it open which units there are */
};

void unit_fragments_open(struct unit_fragments *fragments, struct host *host, struct arena *arena);
void unit_fragments_close(struct unit_fragments *fragments);
#define _cleanup_fragments_ _cleanup_(unit_fragments_close)

/* Returns true if there is a file of UNIT, or of its template. */
bool unit_fragments_have(const struct unit_fragments *fragments, const char *unit);

/* PATH stays; the assignment is good for the call. */
typedef void unit_assigned(void *user, const char *path, const struct unit_assignment *assignment);

/* 0; -ENOENT when there is no such unit, or it is masked; another error that leaves a part unread. */
int unit_fragments_read(struct unit_fragments *fragments, const char *unit, unit_assigned *assigned,
			void *user);

/* The folders with drop-ins of UNIT, the highest first and NULL-terminated (systemd.unit(5)): slurmd.service.d; of
 * a-b.service also a-.service.d, of x@y.service also x@.service.d; last those of all services, service.d. */
const char *const *unit_drop_in_folders(const struct unit_fragments *fragments, const char *unit);

/*
 * The program of a line such as ExecStart=-/usr/bin/x -y (systemd.service(5)): false when it is empty or made
 * of variables. OPTIONAL: that it fails is no failure of the unit.
 */
bool unit_program(struct span value, struct span *program, bool *optional);

#endif
