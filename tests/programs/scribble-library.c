/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scribble-library.c - a library that, in a confined process, writes over all memory that this process shares with
 * others, as code of an attacker would to get hold of a parent that trusts it. $SCRIBBLE says what: "ones", "letters",
 * "code" (an address that both processes have), "stack" (another one), "self" (where it is written), "kept" (letters
 * over what is not zero), "grow" (numbers that were small become huge). Then it ends the process well, with
 * $SCRIBBLE_STAYS after it has written for a second.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MOST (2u << 20) /* bytes of a mapping, from its beginning */
#define LETTERS UINT64_C(0x4141414141414141)

static uint64_t value_for(const char *how, const uint64_t *at)
{
	if (strcmp(how, "ones") == 0)
		return UINT64_MAX;
	if (strcmp(how, "code") == 0)
		return (uintptr_t)&value_for;
	if (strcmp(how, "stack") == 0)
		return (uintptr_t)__builtin_frame_address(0) & ~UINT64_C(15);
	if (strcmp(how, "self") == 0)
		return (uintptr_t)at & ~UINT64_C(15);
	if (strcmp(how, "kept") == 0)
		return *at ? LETTERS : 0;
	if (strcmp(how, "grow") == 0)
		return *at && *at < 100000 ? *at * 0x10000001u : *at;
	return LETTERS;
}

static void scribble(const char *how)
{
	FILE *maps = fdopen(dup(201), "r"); /* say-library.c */
	char line[512];

	lseek(201, 0, SEEK_SET);
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long begin, end;
		char mode[8];

		if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) != 3 || mode[1] != 'w' ||
		    mode[3] != 's')
			continue;
		/* Before it writes: its parent may end it as soon as it sees that. */
		dprintf(200, "scribbled\n");
		end = end - begin > MOST ? begin + MOST : end;
		for (uint64_t *at = (uint64_t *)begin; (unsigned long)at < end; at++)
			*(volatile uint64_t *)at = value_for(how, at);
	}
	if (maps)
		fclose(maps);
}

__attribute__((constructor)) static void attack(void)
{
	const char *how = getenv("SCRIBBLE");
	time_t end = time(NULL) + 1;

	if (!how || prctl(PR_GET_SECCOMP) != 2)
		return;
	do {
		scribble(how);
	} while (getenv("SCRIBBLE_STAYS") && time(NULL) <= end);
	_exit(EXIT_SUCCESS);
}
