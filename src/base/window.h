/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window.h - memory in which a child leaves facts for a parent that does not trust it. An attacker who wrote the files
 * that a child reads may control the child (confine.h). Until it ends, it can write anything there, also pointers to
 * the parent's own memory, since both have the same addresses. So the parent reads each value once, follows no pointer
 * out of the window, and continues with a copy.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct window {
	/* of the child; the parent reads from it only before there is a child */
	struct arena *arena;
};

/* 0 or -ENOMEM. */
int window_open(struct window *window, const char *what);
/* Calls memory_make_ready() for the first BYTES, whatever the child writes about its arena. */
void window_make_ready(const struct window *window, size_t bytes);
void window_close(struct window *window);

/* Returns true if the window has COUNT items of SIZE bytes there, aligned for each type. */
bool window_holds(const struct window *window, const void *p, size_t count, size_t size);
/* Sets the length up to the NUL. False: it is neither a text in the window nor a constant of this program. */
bool window_text(const struct window *window, const char *text, size_t *n);
/* Returns a copy in ARENA; NULL: no text, or not in the window. */
const char *window_copy(const struct window *window, const char *text, struct arena *arena);

/* Reads a variable of the window once. */
#define WINDOW_READ(variable) (*(const volatile typeof(variable) *)&(variable))

#endif
