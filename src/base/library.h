/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library.h - libraries that are opened only when they are needed. A run that needs none costs nothing, and on a node
 * without one only its facts are unknown. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stddef.h>

#include "base/array.h"

/*
 * Every library that is opened: its importance, its purpose, and its soname or two, of which the first that can be
 * opened is taken. Each row becomes a note in the program
 * (https://systemd.io/ELF_DLOPEN_METADATA), of which the Debian package makes what it depends on:
 *   required     without it most answers are unknown
 *   recommended  some are unknown, or no repair is applied
 *   suggested    it comes with hardware, and "prove" asks it
 */
#define LIBRARIES(L) LIBRARIES_OR_PARTS(L) LIBRARIES_OPENED(L)
/* make portable links these into the program. The soname of inih is libinih.so.0 (meson.build, version 59); Debian
 * has libinih.so.1. */
#define LIBRARIES_OR_PARTS(L)                                                              \
	L(LIBPCI, "required", "pci", "Configuration space of PCI devices", "libpci.so.3")  \
	L(LIBKMOD, "required", "modules", "Files of kernel modules, reloading the driver", \
	  "libkmod.so.2")                                                                  \
	L(LIBJSON_C, "required", "json", "Documents in JSON", "libjson-c.so.5")            \
	L(LIBINIH, "required", "configuration", "nvnodecheck.conf", "libinih.so.1", "libinih.so.0")
#define LIBRARIES_OPENED(L)                                                                        \
	L(LIBZ, "recommended", "kernel-config", "/proc/config.gz", "libz.so.1")                    \
	L(LIBARCHIVE, "recommended", "initramfs", "Compressed images", "libarchive.so.13")         \
	L(LIBZSTD, "recommended", "initramfs-zstd", "Images compressed with zstd", "libzstd.so.1") \
	L(LIBIBVERBS, "recommended", "verbs", "Attributes of RDMA devices", "libibverbs.so.1")     \
	L(LIBSYSTEMD, "recommended", "systemd", "State of units, the journal", "libsystemd.so.0")  \
	L(LIBGCRYPT, "recommended", "repairs", "Hashes of changed files", "libgcrypt.so.20")       \
	L(LIBSELINUX, "recommended", "selinux", "Labels of changed files", "libselinux.so.1")      \
	L(LIBYAML, "recommended", "cdi", "Specifications of container devices", "libyaml-0.so.2")  \
	L(LIBMLX5, "suggested", "doorbell", "Doorbell pages of NVIDIA NICs", "libmlx5.so.1")       \
	L(LIBCUDA, "suggested", "cuda", "Trials on the GPUs", "libcuda.so.1")                      \
	L(LIBNVIDIA_ML, "suggested", "nvml", "GPU states from the driver", "libnvidia-ml.so.1")    \
	L(LIBGDRAPI, "suggested", "gdrcopy", "Trials of GDRCopy", "libgdrapi.so.2")

enum library {
#define LIBRARY_ID(id, ...) id,
	LIBRARIES(LIBRARY_ID)
#undef LIBRARY_ID
};

struct library_symbol {
	void *slot; /* the function pointer to set */
	const char *name;
	const char *version; /* of the symbol; NULL: the default one */
	int optional;	     /* its pointer is NULL if the library is too old to have it */
};

/*
 * A table of a library's functions, for those that take what their header declares:
 *
 *     #define FUNCTIONS(F) F(kmod_new) F(kmod_unref)
 *     static struct { FUNCTIONS(LIBRARY_SLOT) } lib;
 *     ... rc = LIBRARY_LOAD(LIBKMOD, FUNCTIONS);
 */
#define LIBRARY_SLOT(name) typeof(&name) name;
#define LIBRARY_SYMBOL(name) { &lib.name, #name, NULL, 0 },
#define LIBRARY_COUNT(symbols) ARRAY_SIZE(symbols)

/* Opens LIBRARY until the process ends, and sets the slots. Returns 0, or -ELIBACC if the library or a required symbol
 * is missing. */
int library_load(enum library library, const struct library_symbol *symbols, size_t count);
#define LIBRARY_LOAD(library, functions)                                                       \
	({                                                                                     \
		static const struct library_symbol symbols_[] = { functions(LIBRARY_SYMBOL) }; \
		library_load((library), symbols_, LIBRARY_COUNT(symbols_));                    \
	})
/* Loads what the process cannot continue without. If something is missing, it ends as by memory_end(). */
void library_need(enum library library, const struct library_symbol *symbols, size_t count);
/* Like library_load(), with the library at an absolute PATH; the environment's search paths are not used. */
int library_load_at(const char *path, const struct library_symbol *symbols, size_t count);

#endif
