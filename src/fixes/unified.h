/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unified.h - two texts as a unified diff, as patch(1) takes it. */
#ifndef UNIFIED_H
#define UNIFIED_H

#include "base/arena.h"
#include "base/span.h"

#define UNIFIED_CONTEXT 3 /* lines round a change */

/* PATH is in both header lines, with a/ and b/ before it; a span without p is a file that is not
 * there (/dev/null). "" when the two are the same. In ARENA. */
const char *unified_diff(struct arena *arena, const char *path, struct span before,
			 struct span after);

#endif
