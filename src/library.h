/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library.h - libraries that are opened when there is something to ask them, so that a run without
 * such a question does not pay for them, and a node without them still gets its other answers. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stddef.h>

struct library_symbol {
	void *slot;		/* the function pointer that is to be set */
	const char *name;
	const char *version;	/* of the symbol; NULL: the default one */
	int optional;		/* its pointer is NULL where the library is too old for it */
};

/* Opens NAME ("libsystemd.so.0"), which then stays until the process ends, and sets the slots. 0, or
 * -ELIBACC when the library or a symbol that is not optional is missing. */
int library_load(const char *name, const struct library_symbol *symbols, size_t count);

#endif
