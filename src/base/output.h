/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output.h - standard output: all of it written, or said why not. A file is written whole under another name and
 * then renamed: its readers see the old or the new one, never a part. A device that has that name is written to,
 * and a pipe that is the caller's own; a link and a pipe of another user are refused. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <limits.h>
#include <sys/types.h>

#include "base/exit-status.h"

/* Why a file could not be opened with O_NOFOLLOW. */
const char *output_why(int error);

struct output {
	const char *file;
	char temporary[PATH_MAX]; /* empty: FILE itself is written to */
	int fd;
};

#define OUTPUT_MODE 0666 /* what others may read, as far as the caller's mask lets them */
#define OUTPUT_OWN_MODE 0600

/* FILE NULL or "-": standard output stays what it is. 0, or negative errno after saying why. */
int output_begin(struct output *output, const char *file, mode_t mode);
/* Renames it, or (when GOOD is false) takes it away. */
int output_end(struct output *output, int good);

/* Flushes standard output: EXIT_CANNOT when it could not all be written, else STATUS. */
enum exit_status finish_output(enum exit_status status);

#endif
