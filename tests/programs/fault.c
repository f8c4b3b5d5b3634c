// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fault.c - preloaded: of the calls that read below FAULT_ROOT, or of those that ask for memory, the
 * n-th goes wrong. Calls are counted over all processes of the run, from 1.
 *
 *   FAULT_ROOT    what is read: a folder, or one file
 *   FAULT_AT      number of the call; 0: none, calls are only counted
 *   FAULT_HOW     eio, eacces: that error, of any such call that would have answered
 *                 short: half of what a read would have given
 *                 empty: nothing, as of a file that was cut off meanwhile
 *                 memory: that allocation fails; memory-on: and all after it
 *   FAULT_COUNT   file that the number of calls is written to at the end of the first process
 *
 * What is not there stays so: absence means something else than an error.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum how { NONE, ERROR, SHORT, EMPTY, MEMORY };

static struct {
	atomic_ulong calls, allocations;
} * shared;
static const char *root, *count_file;
static unsigned long at;
static enum how how;
static int error;
static bool on; /* all that follow as well */
static pid_t first;

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t count, size_t n);
extern void *__libc_realloc(void *p, size_t n);

__attribute__((constructor)) static void begin(void)
{
	const char *word = getenv("FAULT_HOW"), *number = getenv("FAULT_AT");
	void *page = (void *)syscall(SYS_mmap, NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	root = getenv("FAULT_ROOT");
	count_file = getenv("FAULT_COUNT");
	at = number ? strtoul(number, NULL, 10) : 0;
	error = word && strcmp(word, "eacces") == 0 ? EACCES : EIO;
	how = !word				 ? NONE
	      : word[0] == 'e' && word[1] != 'm' ? ERROR
	      : word[0] == 's'			 ? SHORT
	      : word[0] == 'm'			 ? MEMORY
						 : EMPTY;
	on = word && strcmp(word, "memory-on") == 0;
	first = getpid();
	shared = page;
}

__attribute__((destructor)) static void end(void)
{
	char text[64];
	int fd, n;

	if (!count_file || getpid() != first)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, count_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	n = snprintf(text, sizeof(text), "%lu %lu\n", shared->calls, shared->allocations);
	syscall(SYS_write, fd, text, n);
	syscall(SYS_close, fd);
}

/* Is this call the one? */
static bool is_due(atomic_ulong *counter)
{
	unsigned long n = atomic_fetch_add(counter, 1) + 1;

	return n == at || (on && at && n > at);
}

/* Does FD lead to something below the root? */
static bool is_below(int fd)
{
	char name[32], path[4096];
	ssize_t n;

	if (!root || !shared)
		return false;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	n = syscall(SYS_readlink, name, path, sizeof(path) - 1);
	return n > 0 && (size_t)n >= strlen(root) && memcmp(path, root, strlen(root)) == 0;
}

static bool is_faulty(int fd, enum how other)
{
	return is_below(fd) && is_due(&shared->calls) && (how == ERROR || how == other);
}

/* ---- files ---- */

static int opened(int fd)
{
	if (fd < 0 || !is_faulty(fd, ERROR))
		return fd;
	syscall(SYS_close, fd);
	errno = error;
	return -1;
}

int openat(int folder, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return opened((int)syscall(SYS_openat, folder, path, flags, mode));
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return opened((int)syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

/* openat2() has no function of its own in the C library. */
long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6], result;
	va_list ap;

	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	return number == SYS_openat2 ? opened((int)result) : result;
}

static ssize_t got(int fd, ssize_t n, bool whole)
{
	if (n <= 0 || !is_faulty(fd, how == SHORT || how == EMPTY ? how : ERROR))
		return n;
	if (how == EMPTY)
		return 0;
	if (how == SHORT)
		return whole && n > 1 ? n / 2 : n;
	errno = error;
	return -1;
}

ssize_t read(int fd, void *buffer, size_t n)
{
	ssize_t result = syscall(SYS_read, fd, buffer, n), kept = got(fd, result, true);

	/* What was not given is given by the next call. */
	if (kept > 0 && kept < result)
		syscall(SYS_lseek, fd, kept - result, SEEK_CUR);
	return kept;
}

ssize_t pread(int fd, void *buffer, size_t n, off_t offset)
{
	return got(fd, syscall(SYS_pread64, fd, buffer, n, offset), true);
}

ssize_t pread64(int fd, void *buffer, size_t n, off_t offset)
{
	return pread(fd, buffer, n, offset);
}

int fstat(int fd, struct stat *st)
{
	int result = (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);

	if (result < 0 || !is_faulty(fd, ERROR))
		return result;
	errno = error;
	return -1;
}

ssize_t readlinkat(int fd, const char *path, char *target, size_t n)
{
	ssize_t result = syscall(SYS_readlinkat, fd, path, target, n);

	if (result < 0 || !is_faulty(fd, ERROR))
		return result;
	errno = error;
	return -1;
}

struct dirent *readdir(DIR *dir)
{
	static struct dirent *(*real)(DIR *);
	struct dirent *entry;

	if (!real)
		real = (struct dirent * (*)(DIR *)) dlsym(RTLD_NEXT, "readdir");
	entry = real(dir);
	if (!entry || !is_faulty(dirfd(dir), ERROR))
		return entry;
	errno = error;
	return NULL;
}

struct dirent64 *readdir64(DIR *dir)
{
	return (struct dirent64 *)readdir(dir);
}

ssize_t getdents64(int fd, void *entries, size_t n)
{
	ssize_t result = syscall(SYS_getdents64, fd, entries, n);

	if (result <= 0 || !is_faulty(fd, ERROR))
		return result;
	errno = error;
	return -1;
}

/* ---- memory ---- */

static bool is_empty(void)
{
	if (!shared || how != MEMORY)
		return shared && (atomic_fetch_add(&shared->allocations, 1), false);
	if (!is_due(&shared->allocations))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t n)
{
	return is_empty() ? NULL : __libc_malloc(n);
}

void *calloc(size_t count, size_t n)
{
	return is_empty() ? NULL : __libc_calloc(count, n);
}

void *realloc(void *p, size_t n)
{
	return is_empty() ? NULL : __libc_realloc(p, n);
}

void *mmap(void *p, size_t n, int protection, int flags, int fd, off_t offset)
{
	return is_empty() ? MAP_FAILED
			  : (void *)syscall(SYS_mmap, p, n, protection, flags, fd, offset);
}
