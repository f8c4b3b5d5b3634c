/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output.c - standard output, written completely or with a message why not. */
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/message.h"
#include "base/open-file.h"

#define FOREIGN_PIPE EIDRM /* no file operation returns it */

/* Why a file could not be opened with O_NOFOLLOW. */
static const char *describe_open_error(int error)
{
	return error == ELOOP
		       ? "a symbolic link, which is not followed; name a file, or - for standard "
			 "output"
	       : error == FOREIGN_PIPE
		       ? "a pipe of another user; name a file, or - for standard output"
		       : strerror(error);
}

static int failed(struct output *output, int error)
{
	complain("%s: %s", output->file, describe_open_error(error));
	if (*output->temporary)
		unlink(output->temporary);
	output->file = NULL;
	return -error;
}

/* node exporter reads only *.prom of its folder, so not ".NAME.XXXXXX". */
static int make_temporary(struct output *output, mode_t mode)
{
	const char *slash = strrchr(output->file, '/');
	int folder = slash ? (int)(slash + 1 - output->file) : 0;
	mode_t mask;

	if (snprintf(output->temporary, sizeof(output->temporary), "%.*s.%s.XXXXXX", folder,
		     output->file, output->file + folder) >= (int)sizeof(output->temporary)) {
		output->temporary[0] = '\0';
		return -ENAMETOOLONG;
	}
	output->fd = mkstemp(output->temporary);
	if (output->fd < 0) {
		output->temporary[0] = '\0';
		return -errno;
	}
	mask = umask(0);
	umask(mask);
	return fchmod(output->fd, mode & ~mask) < 0 ? -errno : 0;
}

/* A device stays a device: only root can make one. A pipe of another user, in /tmp for example, could make this process
 * wait for that user, or give that user a file that only its owner may read. A link may lead to either. */
static int check_special(int fd, const struct stat *st)
{
	(void)fd;
	if (S_ISLNK(st->st_mode))
		return -ELOOP;
	if (S_ISFIFO(st->st_mode))
		return st->st_uid == geteuid() || st->st_uid == 0 ? 0 : -FOREIGN_PIPE;
	return S_ISCHR(st->st_mode) ? 0 : S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
}

static int open_special(struct output *output)
{
	output->fd = open_checked(output->file, O_WRONLY, true, check_special);
	return output->fd < 0 ? output->fd : 0;
}

int output_begin(struct output *output, const char *file, mode_t mode)
{
	struct stat st;
	int rc;

	*output = (struct output){ .fd = -1 };
	if (!file || strcmp(file, "-") == 0)
		return 0;
	output->file = file;
	rc = lstat(file, &st) == 0 && !S_ISREG(st.st_mode) ? open_special(output)
							   : make_temporary(output, mode);
	if (rc == 0)
		child_note(output->fd);
	if (rc == 0 && (fflush(stdout) || dup2(output->fd, STDOUT_FILENO) < 0))
		rc = -errno;
	return rc ? failed(output, -rc) : 0;
}

int output_end(struct output *output, int good)
{
	if (!output->file)
		return 0;
	if (!*output->temporary)
		return fflush(stdout) ? failed(output, errno) : 0;
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
	/* A reader such as head(1) may close the pipe early. */
	if (errno != EPIPE)
		complain("cannot write the result: %s", strerror(errno));
	return EXIT_CANNOT;
}
