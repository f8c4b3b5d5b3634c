/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output.h - standard output, written completely or with a message why not. A file is written under another name and
 * then renamed: its readers see the old or the new file, never a part. A device is written to, and so is a pipe of the
 * caller. A link and a pipe of another user are refused. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <limits.h>
#include <sys/types.h>

#include "base/exit-status.h"

struct output {
	const char *file;
	char temporary[PATH_MAX]; /* empty: FILE itself is written to */
	int fd;
};

#define OUTPUT_MODE 0666 /* permissions for others, within the caller's umask */
#define OUTPUT_OWN_MODE 0600

/* With FILE NULL or "-", standard output is unchanged. Returns 0, or a negative errno after a message. */
int output_begin(struct output *output, const char *file, mode_t mode);
/* Renames the file, or removes it if GOOD is false. */
int output_end(struct output *output, int good);

/* Flushes standard output. Returns EXIT_CANNOT if not all could be written, else STATUS. */
enum exit_status finish_output(enum exit_status status);

#endif
