/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * from-file.c - the text of a capture or facts file, which may be from a stranger: compressed or not, of bounded size.
 */
#include "cli/from-file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/message.h"
#include "base/open-file.h"
#include "cli/unpack.h"

#define FIRST_ROOM 65536

static enum exit_status refuse(const char *file, const char *what, int rc, unsigned int limit,
			       unsigned int timeout_ms)
{
	char text[64];

	if (rc == -EFBIG)
		snprintf(text, sizeof(text), "more than %u MiB", limit >> 20);
	else if (rc == -ETIMEDOUT)
		snprintf(text, sizeof(text), "not read within %g s (--timeout)",
			 timeout_ms / 1000.0);
	complain("%s: %s%s", file, what,
		 rc == -EFBIG || rc == -ETIMEDOUT ? text
		 : rc == -ELIBACC ? "it is compressed, and libarchive is not installed"
		 : rc == -EBADMSG ? "damaged or cut off"
		 : rc == -EBADF	  ? "neither a regular file nor a pipe that you own"
				  : strerror(-rc));
	return EXIT_CANNOT;
}

/* Unpacks the text, which may be compressed. */
static enum exit_status unpack_text(const char *file, uint64_t end_us, unsigned int timeout_ms,
				    struct text *text)
{
	const char *format = unpack_format(text_span(text));
	char what[32];
	int rc;

	if (!format)
		return EXIT_WELL;
	snprintf(what, sizeof(what), "%s: ", format);
	if (text->size > FROM_PACKED_MAX)
		return refuse(file, what, -EFBIG, FROM_PACKED_MAX, 0);
	rc = unpack(text, format, FROM_MAX, end_us);
	if (rc == -EFBIG)
		snprintf(what, sizeof(what), "%s unpacks to ", format);
	return rc ? refuse(file, what, rc, FROM_MAX, timeout_ms) : EXIT_WELL;
}

enum exit_status from_file_read(const char *file, unsigned int timeout_ms, struct text *text)
{
	bool standard = strcmp(file, "-") == 0;
	uint64_t end_us = timeout_ms ? clock_us() + (uint64_t)timeout_ms * 1000 : 0;
	int fd = standard ? STDIN_FILENO : open_for_reading(file);
	size_t room = FIRST_ROOM;
	struct stat st;
	int rc = fd < 0 ? fd : 0;

	if (rc == 0 && fstat(fd, &st) == 0 && (size_t)st.st_size >= room && st.st_size < FROM_MAX)
		room = (size_t)st.st_size + 1;
	if (rc == 0)
		rc = text_read(fd, room, FROM_MAX, false, end_us, text);
	if (fd >= 0 && !standard)
		close(fd);
	return rc ? refuse(file, "", rc, FROM_MAX, timeout_ms)
		  : unpack_text(file, end_us, timeout_ms, text);
}
