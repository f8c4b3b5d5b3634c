/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf.h - the libraries that a program or shared library needs, and the symbol versions that it needs and defines: the
 * section .dynamic of a 64-bit little-endian ELF file (System V ABI, chapter 5; Linux Standard Base Core 5.0, "Symbol
 * Versioning"), found by the program headers, as the loader does it.
 */
#ifndef PARSE_ELF_H
#define PARSE_ELF_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/span.h"

#define ELF_NEEDED_MAX 128
#define ELF_VERSIONS_MAX 512 /* libstdc++ and libc define about fifty */

/* Reads N bytes at OFFSET of the file. Returns the bytes read, or a negative errno. */
typedef ssize_t elf_read(void *user, uint64_t offset, void *to, size_t n);

/* A version that the library with the SONAME FILE must define. A weak one may be missing. */
struct elf_version {
	const char *file, *name;
	bool weak;
};

struct elf_dynamic {
	unsigned int machine;		    /* e_machine: 62 is x86-64, 183 AArch64 */
	bool interpreted;		    /* it names a dynamic loader: a program */
	const char *needed[ELF_NEEDED_MAX]; /* in the arena, as are the next two */
	size_t needed_count;
	const char *rpath;	      /* NULL: none */
	const char *runpath;	      /* NULL: none; then RPATH counts */
	struct elf_version *versions; /* that it needs */
	size_t version_count;
	const char **defined; /* versions that it defines; NULL: none */
	size_t defined_count;
};

/*
 * Returns 0; -ENOEXEC for another kind of file; -EBADMSG for a file that contradicts itself. A static program needs
 * nothing.
 */
int elf_dynamic(elf_read *read, void *user, struct arena *arena, struct elf_dynamic *out);

#endif
