/* SPDX-License-Identifier: GPL-2.0-or-later */
/* process-environ.c - the environment that a process was started with. */
#include <errno.h>
#include <time.h>

#include "parse/process.h"
#include "probes/processes.h"

#define TRIES 50
#define PAUSE_NS 10000000

static bool has_none(struct host *host, const char *folder)
{
	_cleanup_text_ struct text text = { 0 };

	return host_read(host, &text, HOST_FILE_MAX, "%s/stat", folder) == 0 &&
	       process_has_no_variables(text_span(&text));
}

/* Between the exchange of its memory and the end of execve() a process has no environment, and none again when it has
 * ended: fs/binfmt_elf.c, create_elf_tables(); fs/proc/base.c, environ_read(). */
static int read_live(struct host *host, struct text *text, const char *folder)
{
	const struct timespec pause = { 0, PAUSE_NS };

	for (int tries = 0; tries < TRIES; tries++) {
		int rc = host_read(host, text, PROCESS_ENVIRON_MAX, "%s/environ", folder);

		if (rc || text->size || has_none(host, folder))
			return rc;
		text_free(text);
		*text = (struct text){ 0 };
		nanosleep(&pause, NULL);
	}
	return -ESRCH;
}

int process_read_environ(struct host *host, struct text *text, const char *folder)
{
	int rc = host_kind(host) == HOST_LIVE
			 ? read_live(host, text, folder)
			 : host_read(host, text, PROCESS_ENVIRON_MAX, "%s/environ", folder);

	return rc == 0 && !process_environ_is_whole(text_span(text)) ? -EBADMSG : rc;
}

const char *process_environ_error(int rc)
{
	return rc == -EBADMSG ? "the program has written over its environment"
	       : rc == -ESRCH ? "the process has ended, or is being started"
			      : NULL;
}
