/* SPDX-License-Identifier: GPL-2.0-or-later */
/* memory.c - ends the process when memory runs out and no answer could report it. */
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/escape.h"

#define PAGE_BYTES 4096 /* of larger pages the kernel refuses an address inside one */

/* Since Linux 5.14 (include/uapi/asm-generic/mman-common.h); an older kernel refuses it, and faults come one by one. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static enum exit_status end_status = EXIT_CANNOT;
static const char *end_text;
static const char *end_file;

void memory_ends_with(enum exit_status status, const char *more)
{
	end_status = status;
	end_text = more;
}

void memory_reads(const char *file)
{
	end_file = file;
}

_Noreturn void memory_end(const char *what)
{
	if (end_file)
		escape_printf(stderr, SINK_TERMINAL, "nvnodecheck: %s: %s\n", end_file, what);
	else
		fprintf(stderr, "nvnodecheck: %s\n", what);
	if (end_text)
		fprintf(stderr, "nvnodecheck: %s\n", end_text);
	_Exit(end_status);
}

void *memory_need(void *memory)
{
	if (!memory)
		memory_end("out of memory");
	return memory;
}

void memory_make_ready(void *memory, size_t bytes)
{
	size_t inside = (uintptr_t)memory % PAGE_BYTES;

	madvise((char *)memory - inside, bytes + inside, MADV_POPULATE_WRITE);
}
