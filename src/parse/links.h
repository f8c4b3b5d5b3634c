/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * links.h - follows the links of a path inside one root, be that a host's or that of an archive that is not
 * unpacked.
 */
#ifndef PARSE_LINKS_H
#define PARSE_LINKS_H

#include <limits.h>

#define LINKS_MAX 40 /* as the kernel's MAXSYMLINKS */

/* 0 with TARGET filled when PATH (absolute, without links before its last part) is a link;
 * anything else when it is not, or is not there. */
typedef int link_target(void *user, const char *path, char target[PATH_MAX]);

/* Fills OUT with the absolute path without links, "." and "..". Parts that are not there stay as
 * they are, so a link to /dev/null shows itself in a tree without devices. 0, -ELOOP,
 * -ENAMETOOLONG. */
int links_resolve(const char *path, char out[PATH_MAX], link_target *target, void *user);

#endif
