/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coverage.c - which places of the program a run passes: a byte for each, in the file that NVNODECHECK_COVERAGE
 * names. Linked into a program that was built with -fsanitize-coverage=trace-pc. The file is mapped before the
 * program forks and gives up its rights, so children are seen too, however they end.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern char __executable_start[], etext[];

static unsigned char *passed;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("NVNODECHECK_COVERAGE");
	size_t size = (size_t)(etext - __executable_start);
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map;

	if (fd < 0)
		return;
	map = ftruncate(fd, (off_t)size)
		      ? MAP_FAILED
		      : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map != MAP_FAILED)
		passed = map;
}

void __sanitizer_cov_trace_pc(void)
{
	if (passed)
		passed[(char *)__builtin_return_address(0) - __executable_start] = 1;
}
