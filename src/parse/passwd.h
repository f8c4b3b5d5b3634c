/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passwd.h - passwd(5): NAME:PASSWORD:UID:GID:GECOS:HOME:SHELL, and group(5). */
#ifndef PARSE_PASSWD_H
#define PARSE_PASSWD_H

#include "base/span.h"

/* Gets the home of the first line for UID, as getpwuid() does. False: no such line, or it has no home. */
bool passwd_home(struct span text, uint64_t uid, struct span *home);
/* Returns true if a line has NAME. */
bool passwd_has(struct span text, const char *name);
/* Returns true if a user other than root has GID as group. */
bool passwd_has_group(struct span text, uint64_t gid);
/* Returns true if group(5), NAME:PASSWORD:GID:MEMBERS, has GID. HAS_MEMBERS: with a member other than root. */
bool group_find(struct span text, uint64_t gid, bool *has_members);

#endif
