/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "cmd.h"

/* A capture is for sending to others; until then it is the owner's. */
#define CAPTURE_MODE 0600

static int open_output(const char *file)
{
	bool standard = strcmp(file, "-") == 0;
	int fd = standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
			  : open(file, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, CAPTURE_MODE);
	struct stat st;

	/* A file that was there has a mode of its own. */
	if (fd >= 0 && !standard &&
	    (fstat(fd, &st) < 0 || (S_ISREG(st.st_mode) &&
				    (fchmod(fd, CAPTURE_MODE) < 0 || ftruncate(fd, 0) < 0)))) {
		close_fd(&fd);
		fd = -1;
	}
	if (fd < 0)
		complain("%s: %s", file, output_why(errno));
	return fd;
}

static enum exit_status check_written(const struct host *host, int fd, const char *file)
{
	int rc = host_record_error(host);

	/* A pipe or terminal has nothing to sync. */
	if (rc == 0 && fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
		rc = -errno;
	if (rc == 0)
		return EXIT_WELL;
	/* As in finish_output(): whoever reads has seen enough. */
	if (rc != -EPIPE)
		complain("%s: %s", file, strerror(-rc));
	return EXIT_CANNOT;
}

enum exit_status cmd_capture(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 };
	_cleanup_close_ int fd = -1;
	struct settings settings;
	enum exit_status status;
	int rc;

	if (!options->output) {
		complain("capture needs -o FILE; - is standard output");
		return EXIT_USAGE;
	}
	status = source_open(&source, options);
	if (status)
		return status;
	fd = open_output(options->output);
	if (fd < 0)
		return EXIT_CANNOT;
	rc = host_record(source.host, fd, !options->no_redact, source.arena);
	if (rc) {
		complain("the host's name, which a capture must not have: %s", strerror(-rc));
		return EXIT_CANNOT;
	}
	/* The configuration belongs to the node: a report from the capture is then the same. */
	status = source_settings(&source, options, &settings);
	if (!status)
		status = source_observe(&source, options);
	return status ? status : check_written(source.host, fd, options->output);
}
