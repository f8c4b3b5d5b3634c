/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window.h - memory in which a child leaves what it found, for a parent that does not trust it. An attacker who wrote
 * the files that a child reads may have got hold of it (confine.h). It can write anything there, at any time until it
 * has ended: pointers to the parent's own memory too, since both have the same addresses. So the parent reads each
 * value once, follows no pointer out of the window, and goes on with a copy.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct window {
	struct arena
		*arena; /* the child's; its parent takes from it only before there is a child */
	size_t bytes;
};

/* 0 or -ENOMEM. */
int window_open(struct window *window, size_t bytes, const char *what);
/* Calls memory_make_ready() for the first BYTES, whatever the child writes about its arena. */
void window_make_ready(const struct window *window, size_t bytes);
void window_close(struct window *window);

/* COUNT items of SIZE bytes, at an address that is right for each type. */
bool window_holds(const struct window *window, const void *p, size_t count, size_t size);
/* Bytes up to the NUL; false: it is neither a text of the window nor a word of this program. */
bool window_text(const struct window *window, const char *text, size_t *n);
/* A copy in ARENA; NULL: there is none, or it is no text of the window. */
const char *window_copy(const struct window *window, const char *text, struct arena *arena);

/* Reads a variable of the window once. */
#define WINDOW_READ(variable) (*(const volatile typeof(variable) *)&(variable))

#endif
