/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unified.h - two texts as a unified diff, in the format of patch(1). */
#ifndef UNIFIED_H
#define UNIFIED_H

#include "base/arena.h"
#include "base/span.h"

#define UNIFIED_CONTEXT 3 /* lines round a change */

/* PATH is in both header lines, with a/ and b/ before it. A span without p is a file that does not exist (/dev/null).
 * "" if the two are the same. In ARENA. */
const char *unified_diff(struct arena *arena, const char *path, struct span before,
			 struct span after);

#endif
