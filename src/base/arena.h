/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arena.h - memory for the data of one run: allocated in order, freed all at once.
 *
 * A child that is forked later has its own copy, as of all other memory. Into a shared arena it writes where its parent
 * reads, so these are for children that are as trusted as the parent. The facts of a confined child are copied out of a
 * window (window.h). No part is ever freed by itself. arena_reset() empties the whole arena for the next node.
 */
#ifndef ARENA_H
#define ARENA_H

#include <stdarg.h>
#include <stddef.h>

/* Address space reserved for the facts of one node. Pages that are not touched cost nothing. */
#define ARENA_BYTES (64u << 20)

struct arena;

/* A new arena, or NULL with errno set. WHAT fills it, such as "facts": the message of a full one says so. */
struct arena *arena_new(size_t bytes, const char *what);
struct arena *arena_new_shared(size_t bytes, const char *what);
/* A part of ARENA, of BYTES bytes, which one thread can fill. It is freed with ARENA. */
struct arena *arena_part(struct arena *arena, size_t bytes);
void arena_free(struct arena *arena);
void arena_reset(struct arena *arena);
/* Calls memory_make_ready() for the next BYTES. */
void arena_make_ready(struct arena *arena, size_t bytes);
size_t arena_used(const struct arena *arena); /* bytes */
/* Frees the memory allocated since arena_used() returned USED. */
void arena_rewind(struct arena *arena, size_t used);

/* Zeroed memory, aligned for any type. Never NULL: a full arena ends the process with EXIT_CANNOT after a message. In a
 * probing child only that section fails. */
void *arena_alloc(struct arena *arena, size_t bytes);

/* Copies; ownership is the arena's. */
char *arena_strndup(struct arena *arena, const char *s, size_t n);
char *arena_strdup(struct arena *arena, const char *s);
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *arena, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* A text that grows at its end: N additions use the memory of one text, not of N texts. */
struct arena_text {
	struct arena *arena;
	char *text; /* NULL: nothing was added */
	size_t n, room;
};

void arena_add(struct arena_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the text; "" if nothing was added. */
const char *arena_added(const struct arena_text *t);

/* Words for people: "a, b, c"; of more than LISTED_MAX the others are counted: "a, b and 9000 more". */
#define LISTED_MAX 24
struct arena_list {
	struct arena_text text;
	size_t count;
};

void arena_list(struct arena_list *list, struct arena *arena, const char *word);
/* NULL: there is no word. */
const char *arena_listed(struct arena_list *list);

#endif
