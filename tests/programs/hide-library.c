// SPDX-License-Identifier: GPL-2.0-or-later
/* hide-library.c - preloaded: the libraries named in HIDE_LIBRARY are not installed. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *dlopen(const char *name, int flags)
{
	static void *(*real_dlopen)(const char *, int);
	const char *hidden = getenv("HIDE_LIBRARY");

	if (!real_dlopen)
		real_dlopen = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	if (name && hidden && strstr(hidden, name))
		return NULL;
	return real_dlopen(name, flags);
}
