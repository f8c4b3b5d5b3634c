/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#define NOTE_OWNER "FDO"
#define NOTE_TYPE 0x407c0c0a

#define NOTE_TEXT(soname, priority, feature, description)              \
	"[{\"feature\":\"" feature "\",\"description\":\"" description \
	"\",\"priority\":\"" priority "\",\"soname\":[\"" soname "\"]}]"

/* An ELF note: sizes and type, the owner's name, the text; each part is filled up to four bytes. */
#define NOTE(id, soname, priority, feature, description)                                          \
	__attribute__((used, section(".note.dlopen"), aligned(4))) static const struct {          \
		uint32_t name_size, text_size, type;                                              \
		char name[sizeof(NOTE_OWNER)];                                                    \
		_Alignas(4) char text[sizeof(NOTE_TEXT(soname, priority, feature, description))]; \
	} note_##id = { sizeof(NOTE_OWNER), sizeof(note_##id.text), NOTE_TYPE, NOTE_OWNER,        \
			NOTE_TEXT(soname, priority, feature, description) };

LIBRARIES_OPENED(NOTE)
#ifndef PORTABLE
LIBRARIES_OR_PARTS(NOTE)
#endif

/* NULL: the program itself, which dlopen() then opens. */
static const char *soname_of(enum library library)
{
#define SONAME(id, soname, priority, feature, description) [id] = soname,
	static const char *const sonames[] = { LIBRARIES_OPENED(SONAME)
#ifndef PORTABLE
						       LIBRARIES_OR_PARTS(SONAME)
#endif
	};
#undef SONAME

	return sonames[library];
}

int library_load(enum library library, const struct library_symbol *symbols, size_t count)
{
	return library_load_at(soname_of(library), symbols, count);
}

int library_load_at(const char *path, const struct library_symbol *symbols, size_t count)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);

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
