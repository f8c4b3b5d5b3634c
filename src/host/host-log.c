/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-log.c - the kernel's log, fetched by a thread while the rest of the node is read. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "host/host-private.h"

struct log_fetch {
	pthread_t thread;
	int rc; /* 0 or negative errno */
	struct text text;
	size_t whole_bytes;
};

static void *fetch(void *user)
{
	struct log_fetch *log = user;

	log->rc = files_read_kernel_log(&log->text, &log->whole_bytes);
	return NULL;
}

void host_fetch_log(struct host *host)
{
	struct log_fetch *log;

	if (!host->is_running || host->log)
		return;
	log = calloc(1, sizeof(*log));
	if (log && pthread_create(&log->thread, NULL, fetch, log) == 0)
		host->log = log;
	else
		free(log);
}

int log_fetch_result(struct host *host, struct text *text, size_t *whole_bytes)
{
	struct log_fetch *log = host->log;
	int rc;

	if (!log)
		return files_read_kernel_log(text, whole_bytes);
	host->log = NULL;
	pthread_join(log->thread, NULL);
	rc = log->rc;
	*text = log->text;
	*whole_bytes = log->whole_bytes;
	free(log);
	return rc;
}
