/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-read.c - reads a job's log, plain or compressed, in a child that can do nothing else. */
#include "cli/log-read.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/message.h"
#include "base/open-file.h"
#include "cli/unpack.h"
#include "probes/boot/initramfs-decompress.h"

#define BLOCK (256u << 10)
#define GRACE_US 3000000 /* for the evaluation of the log after the reading */

/* The file in blocks. BACK is data that is read a second time. */
struct input {
	int fd;
	char *room; /* of BLOCK bytes */
	struct span back;
	uint64_t given;	   /* bytes */
	uint64_t unpacked; /* bytes */
	uint64_t end_us;   /* clock_us() at which reading ends; 0: after LOG_PROCESSOR_MS of work */
	struct span block; /* the last one */
};

/* A pipe can be open for as long as a job runs, so that only work counts if nothing else is said. */
static bool is_time_over(const struct input *in)
{
	return in->end_us ? clock_has_passed(in->end_us)
			  : clock_processor_us() > UINT64_C(1000) * LOG_PROCESSOR_MS;
}

static int read_block(struct input *in, struct span *block)
{
	ssize_t n;

	if (in->back.n) {
		*block = in->back;
		in->back.n = 0;
		return 1;
	}
	if (!clock_wait_readable(in->fd, in->end_us))
		return -ETIMEDOUT;
	do {
		n = read(in->fd, in->room, BLOCK);
	} while (n < 0 && errno == EINTR);
	*block = (struct span){ in->room, n > 0 ? (size_t)n : 0 };
	return n < 0 ? -errno : n > 0;
}

/* decompress_read */
static int give_block(void *user, struct span *block)
{
	struct input *in = user;
	int rc = read_block(in, block);

	if (rc > 0) {
		in->given += block->n;
		in->block = *block;
	}
	return rc;
}

/* Reads enough of the beginning to recognise a format, also from a pipe that delivers single bytes. The rest of a block
 * may be in ROOM itself. */
#define MAGIC_MAX 6
#define BEGIN_MAX (MAGIC_MAX + BLOCK) /* less than a beginning, and a whole block after it */

static int read_beginning(struct input *in, char room[BEGIN_MAX], struct span *begin)
{
	size_t n = 0;
	int rc = 1;

	while (n < MAGIC_MAX && rc > 0) {
		struct span block;

		rc = read_block(in, &block);
		if (rc > 0) {
			memmove(room + n, block.p, block.n);
			n += block.n;
		}
	}
	*begin = (struct span){ room, n };
	return rc < 0 ? rc : 0;
}

static int feed_plain(struct input *in, struct job_reader *reader)
{
	struct span block;
	int rc;

	while ((rc = read_block(in, &block)) > 0) {
		job_feed(reader, block);
		if (is_time_over(in))
			return -ETIMEDOUT;
	}
	return rc;
}

/* -EFBIG for more than is unpacked. */
static int feed_unpacked(struct input *in, struct job_reader *reader, struct span block)
{
	uint64_t left = LOG_UNPACKED_MAX - in->unpacked;
	bool fits = block.n <= left;

	if (!fits)
		block.n = (size_t)left;
	in->unpacked += block.n;
	job_feed(reader, block);
	return !fits ? -EFBIG : is_time_over(in) ? -ETIMEDOUT : 1;
}

/* Reads one compressed stream. The bytes after it are in in->back. */
static int feed_stream(struct input *in, const char *format, struct job_reader *reader)
{
	struct decompress *d = NULL;
	struct span block;
	int rc;

	in->given = 0;
	in->block = (struct span){ 0 };
	rc = decompress_open(&d, format, give_block, in);
	if (rc)
		return rc;
	while (rc >= 0 && (rc = decompress_next(d, &block)) > 0)
		rc = feed_unpacked(in, reader, block);
	if (rc == 0) {
		uint64_t used = decompress_used(d), rest = used < in->given ? in->given - used : 0;

		/* Less than a block is left: it is used up before more is read. */
		if (rest && rest <= in->block.n && !in->back.n)
			in->back = (struct span){ in->block.p + in->block.n - rest, rest };
	}
	decompress_close(d);
	return rc;
}

/* Concatenated files unpack to their concatenated texts. */
static int feed_file(int fd, uint64_t end_us, struct arena *arena, struct job_reader *reader)
{
	struct input in = { .fd = fd, .end_us = end_us, .room = arena_alloc(arena, BLOCK) };
	char *begin = arena_alloc(arena, BEGIN_MAX);
	const char *format = NULL;

	for (bool first = true;; first = false) {
		struct span head;
		int rc = read_beginning(&in, begin, &head);

		if (rc || (!head.n && !first))
			return rc;
		format = first ? unpack_format(head) : format;
		in.back = head;
		if (!format)
			return feed_plain(&in, reader);
		if (unpack_format(head) != format)
			return -EBADMSG;
		rc = feed_stream(&in, format, reader);
		if (rc)
			return rc;
	}
}

/* Lies in the window: the child fills it. */
struct result {
	const struct job *job;
	bool done;
	int rc;
};

/* If reading stops early, the data so far is kept. */
static int read_log(int fd, uint64_t end_us, struct arena *arena, struct job_reader *reader)
{
	int rc = feed_file(fd, end_us, arena, reader);

	if (rc != -ETIMEDOUT && rc != -EFBIG)
		return rc;
	job_stop(reader, rc == -EFBIG ? JOB_READ_SIZE : JOB_READ_TIME);
	return 0;
}

static _Noreturn void read_in_child(const struct child *c, pid_t parent, int fd, const char *text,
				    uint64_t end_us, struct arena *arena, struct result *result)
{
	/* The descriptor of the log is not a folder, so it opens no other file: only libraries can be opened. */
	const struct confine how = { .tree = fd };
	struct job_reader *reader;

	child_begin(parent);
	confine_calls(&how, confine(&how));
	reader = job_begin(arena);
	if (text)
		job_feed(reader, span_of(text));
	else
		result->rc = read_log(fd, end_us, arena, reader);
	result->job = job_end(reader);
	result->done = true;
	close(c->fd);
	_exit(EXIT_SUCCESS);
}

/* NULL after saying why. */
static const struct job *take_job(const char *file, const struct result *result,
				  const struct window *window, struct arena *arena)
{
	bool done = *(const volatile char *)&result->done != 0;
	int rc = WINDOW_READ(result->rc);
	const struct job *job = done && rc == 0 ? job_copy(WINDOW_READ(result->job), window, arena)
						: NULL;

	if (job)
		return job;
	if (!done || rc == 0)
		complain("%s: the process that reads the log failed", file);
	else
		complain("%s: %s", file,
			 rc == -ELIBACC	  ? "it is compressed, and libarchive is not installed"
			 : rc == -EBADMSG ? "damaged or cut off"
					  : strerror(-rc));
	return NULL;
}

/* Waits for the end of the child, or until it has not ended some time after it should have. */
static bool wait_for(const struct child *c, uint64_t end_us)
{
	if (end_us)
		return clock_wait_readable(c->fd, end_us + GRACE_US);
	for (struct pollfd p = { .fd = c->fd, .events = POLLIN }; poll(&p, 1, -1) < 0;)
		if (errno != EINTR)
			break;
	return true;
}

static const struct job *read_watched(int fd, const char *file, const char *text,
				      unsigned int timeout_ms, struct arena *arena)
{
	uint64_t end_us = timeout_ms ? clock_us() + (uint64_t)timeout_ms * 1000 : 0;
	_cleanup_(window_close) struct window window = { 0 };
	struct result *result;
	pid_t parent = getpid();
	struct child c;
	size_t messages;
	int rc;

	/* Made before the fork: the child's results point into it. */
	message_all(&messages);
	rc = window_open(&window, "what a log says");
	result = rc ? NULL : arena_alloc(window.arena, sizeof(*result));
	rc = rc ? rc : child_fork(&c);
	if (rc) {
		complain("cannot start a process for the log: %s", strerror(-rc));
		return NULL;
	}
	if (c.pid == 0)
		read_in_child(&c, parent, fd, text, end_us, window.arena, result);
	child_end(&c, wait_for(&c, end_us));
	return take_job(file, result, &window, arena);
}

const struct job *log_read(const char *file, const char *text, unsigned int timeout_ms,
			   struct arena *arena)
{
	_cleanup_close_ int fd = -1;

	if (text)
		return read_watched(-1, "--text", text, timeout_ms, arena);
	/* Standard input is duplicated, because the child closes it. */
	fd = strcmp(file, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
				    : open_for_reading(file);
	if (strcmp(file, "-") == 0 && fd < 0)
		fd = -errno;
	if (fd >= 0)
		return read_watched(fd, file, NULL, timeout_ms, arena);
	complain("%s: %s", file,
		 fd == -EBADF && strcmp(file, "-") != 0
			 ? "neither a regular file nor a pipe that you own"
			 : strerror(-fd));
	return NULL;
}
