/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.h - ends the process when memory runs out and no answer could report it. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

#include "base/exit-status.h"

/* MEMORY, unless it is NULL: then the process ends with EXIT_CANNOT after saying so, as it does
 * over a full arena. In a probing child that fails one section. */
void *memory_need(void *memory);

/* Takes the page faults of BYTES at once, which would come one by one when they are written; for when there is time
 * to spare, or when they will all be written. MEMORY is mapped for writing. */
void memory_make_ready(void *memory, size_t bytes);

/* Ends the process because memory has run out; WHAT is one line. */
_Noreturn void memory_end(const char *what);

/* After this call, a process that runs out of memory ends with STATUS and prints MORE (or NULL) as well, because the
 * next run must roll back a change. */
void memory_ends_with(enum exit_status status, const char *more);

#endif
