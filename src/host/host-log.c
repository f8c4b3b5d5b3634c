/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-log.c - the kernel's log, fetched by one child while another reads the rest of the node. */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/host-private.h"

/* syslog(2) */
#define LOG_READ_ALL 3
#define LOG_SIZE 10
#define LOG_SHARED_BYTES (16 << 20) /* of a larger log nothing is shared */
#define LOG_WAIT_NS 100000000	    /* a hundred times what a full buffer takes */

enum shared_state { LOG_PENDING, LOG_THERE };

struct shared_log {
	_Atomic uint32_t state; /* enum shared_state */
	int rc;			/* 0 or negative errno */
	size_t bytes, whole;
	char data[];
};

/* Address space alone: what is not filled takes no memory. */
void host_share_log(struct host *host)
{
	struct shared_log *shared;

	if (host->kind != HOST_LIVE || host->log)
		return;
	shared = mmap(NULL, LOG_SHARED_BYTES, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared != MAP_FAILED)
		host->log = shared;
}

/* Each record gets its level and time in front, some 20 bytes. */
static int fetch(struct shared_log *shared)
{
	int size = klogctl(LOG_SIZE, NULL, 0), n;
	size_t room = size < 0 ? 0 : 2 * (size_t)size;

	if (size < 0)
		return -errno;
	if (room > LOG_SHARED_BYTES - sizeof(*shared))
		return -EAGAIN;
	n = klogctl(LOG_READ_ALL, shared->data, (int)room);
	if (n < 0)
		return -errno;
	shared->whole = (size_t)size;
	shared->bytes = (size_t)n;
	return 0;
}

void host_fetch_log(struct host *host)
{
	struct shared_log *shared = host->log;

	shared->rc = fetch(shared);
	shared->state = LOG_THERE;
	syscall(SYS_futex, &shared->state, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool host_shares_log(const struct host *host)
{
	return host->log;
}

bool host_has_fetched_log(const struct host *host)
{
	return host->log && host->log->state == LOG_THERE;
}

int shared_log_take(struct shared_log *shared, struct text *text, size_t *whole_bytes)
{
	struct timespec most = { .tv_nsec = LOG_WAIT_NS };

	while (shared->state == LOG_PENDING)
		if (syscall(SYS_futex, &shared->state, FUTEX_WAIT, LOG_PENDING, &most, NULL, 0) &&
		    errno != EAGAIN && errno != EINTR)
			return -EAGAIN;
	if (shared->rc)
		return shared->rc;
	text->data = malloc(shared->bytes + 1);
	if (!text->data)
		return -ENOMEM;
	memcpy(text->data, shared->data, shared->bytes);
	text->size = shared->bytes;
	text->data[text->size] = '\0';
	*whole_bytes = shared->whole;
	return 0;
}

void shared_log_free(struct shared_log *shared)
{
	if (shared)
		munmap(shared, LOG_SHARED_BYTES);
}
