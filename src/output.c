/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static int failed(struct output *output, int error)
{
	complain("%s: %s", output->file, strerror(error));
	if (output->fd >= 0)
		unlink(output->temporary);
	output->file = NULL;
	return -error;
}

/* node exporter reads *.prom and nothing else of its folder: ".NAME.XXXXXX" is none. */
int output_begin(struct output *output, const char *file)
{
	const char *slash = file ? strrchr(file, '/') : NULL;
	int folder = slash ? (int)(slash + 1 - file) : 0;
	mode_t mask;

	*output = (struct output){ .fd = -1 };
	if (!file || strcmp(file, "-") == 0)
		return 0;
	output->file = file;
	if (snprintf(output->temporary, sizeof(output->temporary), "%.*s.%s.XXXXXX", folder, file,
		     file + folder) >= (int)sizeof(output->temporary))
		return failed(output, ENAMETOOLONG);
	output->fd = mkstemp(output->temporary);
	if (output->fd < 0)
		return failed(output, errno);
	/* Others are to read it, as far as the caller's mask lets them. */
	mask = umask(0);
	umask(mask);
	if (fchmod(output->fd, 0666 & ~mask) < 0 || fflush(stdout) ||
	    dup2(output->fd, STDOUT_FILENO) < 0)
		return failed(output, errno);
	return 0;
}

int output_end(struct output *output, int good)
{
	if (!output->file)
		return 0;
	if (!good) {
		unlink(output->temporary);
		return 0;
	}
	if (fflush(stdout) || fsync(output->fd) < 0 || rename(output->temporary, output->file) < 0)
		return failed(output, errno);
	return 0;
}

enum exit_status finish_output(enum exit_status status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	/* Whoever pipes into head has seen enough. */
	if (errno != EPIPE)
		complain("cannot write the result: %s", strerror(errno));
	return EXIT_CANNOT;
}
