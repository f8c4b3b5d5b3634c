/* SPDX-License-Identifier: GPL-2.0-or-later */
/* window.c - memory in which a child leaves facts for a parent that does not trust it. */
#include "base/window.h"

#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"

int window_open(struct window *window, const char *what)
{
	*window = (struct window){ .arena = arena_new_shared(ARENA_BYTES, what) };
	return window->arena ? 0 : -ENOMEM;
}

void window_make_ready(const struct window *window, size_t bytes)
{
	memory_make_ready(window->arena, bytes < ARENA_BYTES ? bytes : ARENA_BYTES);
}

/* The arena is in the window, so its size is not trusted: the child may have changed it. */
void window_close(struct window *window)
{
	if (window->arena)
		munmap(window->arena, ARENA_BYTES);
	window->arena = NULL;
}

static size_t rest_from(const struct window *window, const void *p)
{
	uintptr_t start = (uintptr_t)window->arena, at = (uintptr_t)p;

	return at < start || at - start > ARENA_BYTES ? 0 : ARENA_BYTES - (at - start);
}

bool window_holds(const struct window *window, const void *p, size_t count, size_t size)
{
	size_t rest = rest_from(window, p);

	return (uintptr_t)p % _Alignof(max_align_t) == 0 && size && count <= rest / size;
}

/* The program's own header in memory, by a name of ld(1). */
extern const ElfW(Ehdr) __ehdr_start;

/* Returns how many bytes of a segment follow TEXT that both processes map and neither can write to: constants. 0: it is
 * in none. */
static size_t rest_of_program(const char *text)
{
	const ElfW(Ehdr) *head = &__ehdr_start;
	const ElfW(Phdr) *part = (const void *)((const char *)head + head->e_phoff);
	uintptr_t base = head->e_type == ET_DYN ? (uintptr_t)head : 0;

	for (const ElfW(Phdr) *end = part + head->e_phnum; part < end; part++) {
		uintptr_t start = base + part->p_vaddr;

		if (part->p_type == PT_LOAD && !(part->p_flags & PF_W) &&
		    (uintptr_t)text >= start && (uintptr_t)text - start < part->p_memsz)
			return part->p_memsz - ((uintptr_t)text - start);
	}
	return 0;
}

bool window_text(const struct window *window, const char *text, size_t *n)
{
	size_t rest = rest_from(window, text);

	rest = rest ? rest : rest_of_program(text);
	*n = rest ? strnlen(text, rest) : 0;
	return *n < rest;
}

const char *window_copy(const struct window *window, const char *text, struct arena *arena)
{
	size_t n;

	return text && window_text(window, text, &n) ? arena_strndup(arena, text, n) : NULL;
}
