/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

static enum exit_status end_status = EXIT_CANNOT;
static const char *end_text;

void memory_ends_with(enum exit_status status, const char *more)
{
	end_status = status;
	end_text = more;
}

_Noreturn void memory_end(const char *what)
{
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
