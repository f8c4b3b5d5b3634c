/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arena.c - memory for the data of one run: allocated in order, freed all at once. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"

struct arena {
	const char *what; /* fills it, for a message: "facts" */
	size_t size;
	size_t used;
};

/* Where the kernel may give huge pages unasked, the first byte would take one: clearing its 2 MiB takes longer than a
 * small run takes for all of its pages. */
#define SMALL_BYTES (2u << 20)

static const size_t arena_start = (sizeof(struct arena) + 15) & ~(size_t)15;

static struct arena *map(size_t bytes, const char *what, int flags)
{
	struct arena *arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				   flags | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (arena == MAP_FAILED)
		return NULL;
	if (flags & MAP_PRIVATE)
		madvise(arena, bytes < SMALL_BYTES ? bytes : SMALL_BYTES, MADV_NOHUGEPAGE);
	arena->what = what;
	arena->size = bytes;
	arena->used = arena_start;
	return arena;
}

struct arena *arena_new(size_t bytes, const char *what)
{
	return map(bytes, what, MAP_PRIVATE);
}

struct arena *arena_new_shared(size_t bytes, const char *what)
{
	return map(bytes, what, MAP_SHARED);
}

void arena_free(struct arena *arena)
{
	if (arena)
		munmap(arena, arena->size);
}

void arena_make_ready(struct arena *arena, size_t bytes)
{
	if (bytes <= arena->size - arena->used)
		memory_make_ready((char *)arena + arena->used, bytes);
}

void arena_reset(struct arena *arena)
{
	arena_rewind(arena, 0);
}

void arena_rewind(struct arena *arena, size_t used)
{
	memset((char *)arena + arena_start + used, 0, arena->used - arena_start - used);
	arena->used = arena_start + used;
}

size_t arena_used(const struct arena *arena)
{
	return arena->used - arena_start;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	size_t need = (bytes + 15) & ~(size_t)15;
	void *p = (char *)arena + arena->used;

	if (need < bytes || need > arena->size - arena->used) {
		char text[64];

		snprintf(text, sizeof(text), "more than %zu MiB of %s", arena->size >> 20,
			 arena->what);
		memory_end(text);
	}
	arena->used += need;
	return p;
}

struct arena *arena_part(struct arena *arena, size_t bytes)
{
	struct arena *part = arena_alloc(arena, arena_start + bytes);

	part->what = arena->what;
	part->size = arena_start + bytes;
	part->used = arena_start;
	return part;
}

char *arena_strndup(struct arena *arena, const char *s, size_t n)
{
	char *copy = arena_alloc(arena, n + 1);

	memcpy(copy, s, n);
	return copy;
}

char *arena_strdup(struct arena *arena, const char *s)
{
	return arena_strndup(arena, s, strlen(s));
}

/* Formatted in place. A text that does not fit ends the process in arena_alloc(). */
char *arena_vprintf(struct arena *arena, const char *format, va_list ap)
{
	char *free_part = (char *)arena + arena->used;
	int n = vsnprintf(free_part, arena->size - arena->used, format, ap);

	return arena_alloc(arena, n < 0 ? arena->size : (size_t)n + 1);
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list ap;
	char *text;

	va_start(ap, format);
	text = arena_vprintf(arena, format, ap);
	va_end(ap);
	return text;
}

void arena_add(struct arena_text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->text ? t->text + t->n : NULL, t->room - t->n, format, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (t->n + (size_t)n >= t->room) {
		size_t room = 2 * (t->n + (size_t)n + 32);
		char *text = arena_alloc(t->arena, room);

		if (t->n)
			memcpy(text, t->text, t->n);
		t->text = text;
		t->room = room;
		va_start(ap, format);
		vsnprintf(text + t->n, room - t->n, format, ap);
		va_end(ap);
	}
	t->n += (size_t)n;
}

const char *arena_added(const struct arena_text *t)
{
	return t->text ? t->text : "";
}

void arena_list(struct arena_list *list, struct arena *arena, const char *word)
{
	list->text.arena = arena;
	if (list->count++ < LISTED_MAX)
		arena_add(&list->text, "%s%s", list->text.n ? ", " : "", word);
}

const char *arena_listed(struct arena_list *list)
{
	if (list->count > LISTED_MAX) {
		arena_add(&list->text, " and %zu more", list->count - LISTED_MAX);
		list->count = LISTED_MAX;
	}
	return list->count ? arena_added(&list->text) : NULL;
}
