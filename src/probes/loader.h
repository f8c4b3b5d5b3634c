/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loader.h - where the dynamic loader of the node would find a shared library (ld.so(8)): DT_RPATH
 * and DT_RUNPATH, LD_LIBRARY_PATH, ld.so.cache, its own folders. Without a cache the folders of
 * ld.so.conf are searched. Nothing is run. Works live and on trees; a capture holds the answers of
 * the recorded calls.
 */
#ifndef LOADER_H
#define LOADER_H

#include "facts/facts.h"
#include "host/host.h"

#define LOADER_FOLDERS_MAX 128

struct loader {
	struct host *host;
	struct arena *arena;
	const char *variable; /* LD_LIBRARY_PATH; NULL: not set */
	struct text cache;
	bool cached;
	const char *folders[LOADER_FOLDERS_MAX]; /* of ld.so.conf, then its own */
	size_t count;
	int error; /* the first that leaves it open what lies where */
};

/* VARIABLE: as in struct loader. */
void loader_open(struct loader *loader, struct host *host, struct arena *arena,
		 const char *variable);
void loader_close(struct loader *loader);
#define _cleanup_loader_ _cleanup_(loader_close)

/* Path of the library that a program without paths of its own gets for NAME, such as libcuda.so.1: 0, -ENOENT,
 * or another error that leaves it open. */
int loader_find(struct loader *loader, const char *name, const char **path);

/*
 * The SONAMEs that PROGRAM, or a library that it needs, needs and the loader does not find. 0; -ENOEXEC when it is
 * no program of the loader's, such as a script; another error that leaves it open.
 */
#define LOADER_MISSING_MAX 16
struct missing_libraries {
	const char *names[LOADER_MISSING_MAX];
	size_t count;
};
int loader_missing(struct loader *loader, const char *program, struct missing_libraries *missing);

#endif
