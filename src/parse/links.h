/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * links.h - follows the links of a path inside one root: of a host, or of an archive that is not unpacked.
 */
#ifndef PARSE_LINKS_H
#define PARSE_LINKS_H

#include <limits.h>

#define LINKS_MAX 40 /* as the kernel's MAXSYMLINKS */

/* Returns 0 with TARGET filled if PATH (absolute, without links before its last part) is a link; anything else if it is
 * not, or does not exist. */
typedef int link_target(void *user, const char *path, char target[PATH_MAX]);

/* Fills OUT with the absolute path without links, "." and "..". Parts that do not exist stay as they are, so a link to
 * /dev/null is visible in a tree without devices. Returns 0, -ELOOP, -ENAMETOOLONG. */
int links_resolve(const char *path, char out[PATH_MAX], link_target *target, void *user);

#endif
