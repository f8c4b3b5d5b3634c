/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/exit-status.h"

void *memory_need(void *memory)
{
	if (memory)
		return memory;
	fputs("nvnodecheck: out of memory\n", stderr);
	_Exit(EXIT_CANNOT);
}
