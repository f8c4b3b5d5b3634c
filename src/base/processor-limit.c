/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processor-limit.c - ends the process if one file uses too much processor time: no answer about a stranger's file is
 * worth a minute.
 */
#include "base/processor-limit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/exit-status.h"

/* Prepared here: the signal handler may call almost no function. */
static char *text;
static size_t text_bytes;

static void handle(int number)
{
	ssize_t written = write(STDERR_FILENO, text, text_bytes);

	(void)number;
	(void)written;
	_exit(EXIT_CANNOT);
}

static void set_timer(unsigned int ms)
{
	const struct itimerval timer = { .it_value = { .tv_sec = ms / 1000,
						       .tv_usec = ms % 1000 * 1000L } };

	setitimer(ITIMER_PROF, &timer, NULL);
}

void processor_limit_begin(const char *file, unsigned int ms)
{
	const struct sigaction action = { .sa_handler = handle };
	FILE *out;

	processor_limit_end();
	out = open_memstream(&text, &text_bytes);
	if (!out)
		return;
	escape_printf(out, SINK_TERMINAL,
		      "nvnodecheck: %s: it took more than %g s of processor time\n", file,
		      ms / 1000.0);
	if (fclose(out) == 0 && sigaction(SIGPROF, &action, NULL) == 0)
		set_timer(ms);
}

void processor_limit_end(void)
{
	set_timer(0);
	free(text);
	text = NULL;
	text_bytes = 0;
}
