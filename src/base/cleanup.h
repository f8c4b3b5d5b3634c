/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cleanup.h - variables that free what they hold at the end of their scope. */
#ifndef CLEANUP_H
#define CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(function) __attribute__((cleanup(function)))

static inline void free_pointer(void *p)
{
	free(*(void **)p);
}

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define _cleanup_free_ _cleanup_(free_pointer)
#define _cleanup_close_ _cleanup_(close_fd)
#define _cleanup_fclose_ _cleanup_(close_file)

#endif
