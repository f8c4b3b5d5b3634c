/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passwd.h - passwd(5): NAME:PASSWORD:UID:GID:GECOS:HOME:SHELL. */
#ifndef PARSE_PASSWD_H
#define PARSE_PASSWD_H

#include "base/span.h"

/* Gets the home of the first line for UID, as getpwuid() does. False: no such line, or it has no home. */
bool passwd_home(struct span text, uint64_t uid, struct span *home);
/* Returns true if a line has NAME. */
bool passwd_has(struct span text, const char *name);

#endif
