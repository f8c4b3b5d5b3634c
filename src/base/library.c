/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library.c - libraries that are opened only when they are needed. */
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define NOTE_OWNER "FDO"
#define NOTE_TYPE 0x407c0c0a

#define NOTE_TEXT(priority, feature, description, ...)                 \
	"[{\"feature\":\"" feature "\",\"description\":\"" description \
	"\",\"priority\":\"" priority "\",\"soname\":[" #__VA_ARGS__ "]}]"

/* An ELF note: sizes and type, the owner's name, the text; each part is filled up to four bytes. */
#define NOTE(id, ...)                                                                      \
	__attribute__((used, section(".note.dlopen"), aligned(4))) static const struct {   \
		uint32_t name_size, text_size, type;                                       \
		char name[sizeof(NOTE_OWNER)];                                             \
		_Alignas(4) char text[sizeof(NOTE_TEXT(__VA_ARGS__))];                     \
	} note_##id = { sizeof(NOTE_OWNER), sizeof(note_##id.text), NOTE_TYPE, NOTE_OWNER, \
			NOTE_TEXT(__VA_ARGS__) };

LIBRARIES_OPENED(NOTE)
#ifndef PORTABLE
LIBRARIES_OR_PARTS(NOTE)
#endif

#define SONAMES_MAX 2

#define SONAMES(id, priority, feature, description, ...) [id] = { __VA_ARGS__ },
static const char *const sonames[][SONAMES_MAX] = { LIBRARIES(SONAMES) };

static bool is_part(enum library library)
{
#ifdef PORTABLE
#define PART(id, ...) [id] = true,
	static const bool parts[ARRAY_SIZE(sonames)] = { LIBRARIES_OR_PARTS(PART) };

	return parts[library];
#else
	(void)library;
	return false;
#endif
}

static void *open_shared(const char *path)
{
	return dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
}

static int set_slots(void *handle, const struct library_symbol *symbols, size_t count)
{
	if (!handle)
		return -ELIBACC;
	for (size_t i = 0; i < count; i++) {
		const struct library_symbol *s = &symbols[i];
		void *address = s->version ? dlvsym(handle, s->name, s->version)
					   : dlsym(handle, s->name);

		if (!address && !s->optional)
			return -ELIBACC;
		/* A pointer to data cannot be cast to one to a function in ISO C. */
		memcpy(s->slot, &address, sizeof(address));
	}
	return 0;
}

int library_load(enum library library, const struct library_symbol *symbols, size_t count)
{
	/* NULL is the program itself. */
	void *handle = is_part(library) ? open_shared(NULL) : NULL;

	for (size_t i = 0; !handle && i < SONAMES_MAX && sonames[library][i]; i++)
		handle = open_shared(sonames[library][i]);
	return set_slots(handle, symbols, count);
}

void library_need(enum library library, const struct library_symbol *symbols, size_t count)
{
	char text[128];

	if (library_load(library, symbols, count) == 0)
		return;
	snprintf(text, sizeof(text), "%s cannot be opened, or there is no memory for it",
		 sonames[library][0]);
	memory_end(text);
}

int library_load_at(const char *path, const struct library_symbol *symbols, size_t count)
{
	return set_slots(open_shared(path), symbols, count);
}
