/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library.h - libraries that are opened when there is something to ask them, so that a run without
 * such a question does not pay for them, and a node without them still gets its other answers. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stddef.h>

struct library_symbol {
	void *slot; /* the function pointer that is to be set */
	const char *name;
	const char *version; /* of the symbol; NULL: the default one */
	int optional;	     /* its pointer is NULL where the library is too old for it */
};

/*
 * A table of a library's functions, for those that take what their header declares:
 *
 *     #define FUNCTIONS(F) F(kmod_new) F(kmod_unref)
 *     static struct { FUNCTIONS(LIBRARY_SLOT) } lib;
 *     static const struct library_symbol symbols[] = { FUNCTIONS(LIBRARY_SYMBOL) };
 */
#define LIBRARY_SLOT(name) typeof(&name) name;
#define LIBRARY_SYMBOL(name) { &lib.name, #name, NULL, 0 },
#define LIBRARY_COUNT(symbols) (sizeof(symbols) / sizeof((symbols)[0]))

/* Opens NAME ("libsystemd.so.0"), which then stays until the process ends, and sets the slots. 0, or
 * -ELIBACC when the library or a symbol that is not optional is missing. */
int library_load(const char *name, const struct library_symbol *symbols, size_t count);

#endif
