/* SPDX-License-Identifier: GPL-2.0-or-later */
/* landlock-version.c - preloaded, it answers $LANDLOCK to the question for Landlock's version. An access that the caller
 * does not name to the kernel is then not refused, as in a kernel of that version. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_landlock_create_ruleset && !a[0])
		return atoi(getenv("LANDLOCK"));
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
