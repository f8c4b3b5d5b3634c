/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-lines.c - a file a block or a line at a time, for those that are too long to be held. */
#include "probes/log/log-lines.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

static ssize_t read_some(int fd, char *to, size_t n)
{
	ssize_t got;

	do
		got = read(fd, to, n);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

int lines_read_blocks(int fd, lines_found *block, void *user)
{
	_cleanup_free_ char *buffer = malloc(LINES_BLOCK);
	uint64_t left = LINES_BYTES_MAX;
	ssize_t n;

	if (!buffer)
		return -ENOMEM;
	while ((n = read_some(fd, buffer, LINES_BLOCK)) > 0) {
		if (!block(user, (struct span){ buffer, (size_t)n }))
			return 0;
		if (left < (uint64_t)n)
			return -EFBIG;
		left -= (uint64_t)n;
	}
	return (int)n;
}

struct reader {
	lines_found *line;
	void *user;
	char *held; /* the beginning of a line whose end has not come yet */
	size_t n;
};

static bool hold(struct reader *r, struct span part)
{
	size_t room = LINES_BLOCK - r->n;
	size_t n = part.n < room ? part.n : room;
	bool more = true;

	memcpy(r->held + r->n, part.p, n);
	r->n += n;
	if (r->n == LINES_BLOCK) {
		more = r->line(r->user, (struct span){ r->held, r->n });
		r->n = part.n - n;
		memcpy(r->held, part.p + n, r->n);
	}
	return more;
}

static bool cut_block(void *user, struct span block)
{
	struct reader *r = user;

	while (block.n) {
		size_t end = span_find(block, '\n');
		struct span line = { block.p, end };

		if (end == block.n)
			return hold(r, line);
		if (r->n) {
			if (!hold(r, line))
				return false;
			line = (struct span){ r->held, r->n };
			r->n = 0;
		}
		if (!r->line(r->user, line))
			return false;
		block = (struct span){ block.p + end + 1, block.n - end - 1 };
	}
	return true;
}

int lines_read(int fd, lines_found *line, void *user)
{
	_cleanup_free_ char *held = malloc(LINES_BLOCK);
	struct reader r = { .line = line, .user = user, .held = held };
	int rc;

	if (!held)
		return -ENOMEM;
	rc = lines_read_blocks(fd, cut_block, &r);
	if (rc == 0 && r.n)
		line(user, (struct span){ held, r.n });
	return rc;
}
