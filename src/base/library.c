/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* Names of the libraries that are part of the program, which is what dlopen(NULL) opens: make portable. */
#ifndef LINKED_LIBRARIES
#define LINKED_LIBRARIES ""
#endif

int library_load(const char *name, const struct library_symbol *symbols, size_t count)
{
	void *library = dlopen(strstr(LINKED_LIBRARIES, name) ? NULL : name,
			       RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);

	if (!library)
		return -ELIBACC;
	for (size_t i = 0; i < count; i++) {
		const struct library_symbol *s = &symbols[i];
		void *address = s->version ? dlvsym(library, s->name, s->version)
					   : dlsym(library, s->name);

		if (!address && !s->optional)
			return -ELIBACC;
		/* A pointer to data cannot be cast to one to a function in ISO C. */
		memcpy(s->slot, &address, sizeof(address));
	}
	return 0;
}
