/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-lines.h - a file a block or a line at a time, for those that are too long to be held. */
#ifndef LOG_LINES_H
#define LOG_LINES_H

#include "base/span.h"

#define LINES_BLOCK (64u << 10) /* longer lines are given in parts */
#define LINES_BYTES_MAX \
	(512u << 20) /* no such file is larger: a hole of terabytes would take minutes */

/* Both functions read from the current position of FD to its end, or until the callback returns false. They return 0
 * or a negative errno: -EFBIG after LINES_BYTES_MAX. */
typedef bool lines_found(void *user, struct span piece);
int lines_read(int fd, lines_found *line, void *user);
int lines_read_blocks(int fd, lines_found *block, void *user);

#endif
