/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arena.h - memory for one run's data: taken in order, given back all at once.
 *
 * A child that is forked later has its own copy, as of all other memory. In a shared arena it writes where its
 * parent reads: that is for children that may do as much as the parent. What a confined child found is taken out of
 * a window (window.h). Nothing is ever freed alone; arena_reset() empties the whole arena for the next node.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stdarg.h>
#include <stddef.h>

/* Address space kept for one node's facts; pages that are not touched cost nothing. */
#define ARENA_BYTES (64u << 20)

struct arena;

/* A new arena, or NULL with errno set. WHAT fills it, such as "facts": the message of a full one says so. */
struct arena *arena_new(size_t bytes, const char *what);
struct arena *arena_new_shared(size_t bytes, const char *what);
/* A part of ARENA, of that many bytes, which a thread of its own can fill. It goes with ARENA. */
struct arena *arena_part(struct arena *arena, size_t bytes);
void arena_free(struct arena *arena);
void arena_reset(struct arena *arena);
/* Calls memory_make_ready() for the next BYTES. */
void arena_make_ready(struct arena *arena, size_t bytes);
size_t arena_used(const struct arena *arena); /* bytes */
/* Gives back what was taken since arena_used() was USED. */
void arena_rewind(struct arena *arena, size_t used);

/* Zeroed memory, aligned for any type. Never NULL: a full arena ends the process with
 * EXIT_CANNOT after saying so, which in a probing child fails that one section. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* Copies; ownership is the arena's. */
char *arena_strndup(struct arena *arena, const char *s, size_t n);
char *arena_strdup(struct arena *arena, const char *s);
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* A text that grows at its end: N additions take the memory of the text, not of N texts. */
struct arena_text {
	struct arena *arena;
	char *text; /* NULL: nothing was added */
	size_t n, room;
};

void arena_add(struct arena_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the text; "" if nothing was added. */
const char *arena_added(const struct arena_text *t);

#endif
