/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passwd.h - passwd(5): NAME:PASSWORD:UID:GID:GECOS:HOME:SHELL. */
#ifndef PARSE_PASSWD_H
#define PARSE_PASSWD_H

#include "base/span.h"

/* The home of the first line for UID, as getpwuid() has it. False when there is none, or it has no home. */
bool passwd_home(struct span text, uint64_t uid, struct span *home);
/* Returns true if there is a line for NAME. */
bool passwd_has(struct span text, const char *name);

#endif
