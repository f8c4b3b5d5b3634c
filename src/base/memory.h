/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.h - ends the process when memory runs out and no answer could report it. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

#include "base/exit-status.h"

/* Returns MEMORY. If it is NULL, ends the process with EXIT_CANNOT after a message, as a full arena does. In a probing
 * child only that section fails. */
void *memory_need(void *memory);

/* Causes the page faults of BYTES at once, instead of one by one at the first write. For time that would be spent
 * waiting, or if all of BYTES will be written. MEMORY is mapped for writing. */
void memory_make_ready(void *memory, size_t bytes);

/* From now on what this process reads is FILE: the messages of memory_end() begin with it. NULL: several, or none. FILE
 * is kept, not copied. */
void memory_reads(const char *file);

/* Ends the process because memory, or what it needs as much, is not there; WHAT is one line. */
_Noreturn void memory_end(const char *what);

/* After this call, a process that runs out of memory ends with STATUS and prints MORE (or NULL) as well, because the
 * next run must roll back a change. */
void memory_ends_with(enum exit_status status, const char *more);

#endif
