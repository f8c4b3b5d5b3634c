/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * say-library.c - preloaded, it gives each child of the program descriptor SAID, a copy of $SAY, on which
 * hostile-library.c says what it tried: children do not hold what the program inherited.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define SAID 200
#define MAPS 201 /* where this process, and so its child, has its memory */

static void give(void)
{
	int maps;

	if (fcntl(SAID, F_GETFD) < 0)
		dup3(atoi(getenv("SAY")), SAID, O_CLOEXEC);
	maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (maps >= 0) {
		dup3(maps, MAPS, O_CLOEXEC);
		close(maps);
	}
}

__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(give, NULL, NULL);
}
