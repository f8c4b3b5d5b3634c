/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * runtime.c - the mutants of a program that the tool beside this file changed: which of them is on, by a number that
 * the tool writes into the program, and which of them would have made a difference in a run, a byte for each in the
 * file that NVNODECHECK_COVERAGE names. The file is mapped before the program forks and gives up its rights, so
 * children are seen too, however they end.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MUTANTS_MAX 4096

bool mutant_only(int n);
bool mutant_on(int n);
bool mutant_is(int n, bool value, bool other);
bool mutant_unless(int n, bool value, bool same);

static volatile struct {
	char magic[16];
	int number;
} chosen = { "MUTANT-CHOSEN:", 0 };

static unsigned char *noted;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("NVNODECHECK_COVERAGE");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	void *map;

	if (fd < 0)
		return;
	(void)fchmod(fd, 0666); /* an ordinary user's run is seen too */
	map = ftruncate(fd, MUTANTS_MAX)
		      ? MAP_FAILED
		      : mmap(NULL, MUTANTS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		noted = map;
}

static void note(int n)
{
	if (noted && n < MUTANTS_MAX)
		noted[n] = 1;
}

/* Is this mutant on? */
bool mutant_only(int n)
{
	return chosen.number == n;
}

/* The same of a mutant that differs wherever it is passed. */
bool mutant_on(int n)
{
	note(n);
	return mutant_only(n);
}

/* A comparison, and the mutant's. */
bool mutant_is(int n, bool value, bool other)
{
	if (value != other)
		note(n);
	return mutant_only(n) ? other : value;
}

/* A condition whose mutant can differ only where the value is not SAME. */
bool mutant_unless(int n, bool value, bool same)
{
	if (value != same)
		note(n);
	return value;
}
