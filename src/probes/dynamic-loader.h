/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dynamic-loader.h - where the dynamic loader of the node would find a shared library (ld.so(8)): DT_RPATH
 * and DT_RUNPATH, LD_LIBRARY_PATH, ld.so.cache, its own folders. Without a cache the folders of
 * ld.so.conf are searched. Nothing is run. Works live and on trees; a capture holds the answers of
 * the recorded calls.
 */
#ifndef DYNAMIC_LOADER_H
#define DYNAMIC_LOADER_H

#include "facts/facts.h"
#include "host/host.h"
#include "parse/elf.h"

#define LOADER_FOLDERS_MAX 128
#define LOADER_FILES_MAX 512 /* that are kept; others are read again */

/* A program or library that was read. */
struct dynamic_loader_file {
	const char *path;
	int error; /* -ENOEXEC: no ELF file, as in a copy without contents */
	struct elf_dynamic elf;
};

struct dynamic_loader {
	struct host *host;
	struct arena *arena;
	const char *variable; /* LD_LIBRARY_PATH; NULL: not set */
	struct text cache;
	bool cached;
	const char *folders[LOADER_FOLDERS_MAX]; /* of ld.so.conf, then its own */
	size_t count;
	int error; /* the first that leaves it open what lies where */
	struct dynamic_loader_file *files[LOADER_FILES_MAX];
	size_t file_count;
};

/* VARIABLE: as in struct dynamic_loader. */
void dynamic_loader_open(struct dynamic_loader *loader, struct host *host, struct arena *arena,
			 const char *variable);
void dynamic_loader_close(struct dynamic_loader *loader);
#define _cleanup_dynamic_loader_ _cleanup_(dynamic_loader_close)

/* Path of the library that a program without paths of its own gets for NAME, such as libcuda.so.1: 0, -ENOENT,
 * or another error that leaves it open. */
int dynamic_loader_find(struct dynamic_loader *loader, const char *name, const char **path);

/* Gets all such paths, at most N, in the loader's order; the first one counts. Returns their number. */
size_t dynamic_loader_find_all(struct dynamic_loader *loader, const char *name, const char **paths,
			       size_t n);

/* Reads what PATH needs and defines into OUT, which the loader owns. Returns 0, -ENOEXEC if it is no ELF file, or
 * another error. */
int dynamic_loader_read(struct dynamic_loader *loader, const char *path,
			const struct elf_dynamic **out);

/* A symbol version that NEEDED_BY needs, and LIBRARY, which it would get, does not define. */
struct dynamic_loader_version {
	const char *version, *library, *needed_by;
};

/* The names that the dynamic loader would report as missing. */
#define DYNAMIC_LOADER_MISSING_MAX 16
struct dynamic_loader_missing {
	const char *names[DYNAMIC_LOADER_MISSING_MAX]; /* SONAMEs that are needed and not found */
	size_t count;
	struct dynamic_loader_version versions[DYNAMIC_LOADER_MISSING_MAX];
	size_t version_count;
	bool unread; /* a library has no contents here: what it needs and defines is open */
};

/* Finds what PROGRAM, or a library that it needs, lacks. PROGRAM may be a library that a program without paths of
 * its own opens. Returns 0; -ENOEXEC for a file that the dynamic loader does not load, such as a script; or another
 * error, after which the answer is unknown. */
int dynamic_loader_missing(struct dynamic_loader *loader, const char *program,
			   struct dynamic_loader_missing *missing);

#endif
