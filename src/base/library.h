/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library.h - libraries that are opened only when they are needed. A run that needs none costs nothing, and on a node
 * without one only its facts are unknown. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stddef.h>

#include "base/array.h"

/*
 * Every library that is opened, its importance and its purpose. Each row becomes a note in the program
 * (https://systemd.io/ELF_DLOPEN_METADATA), of which the Debian package makes what it depends on:
 *   required     without it most answers are unknown
 *   recommended  some are unknown, or no repair is applied
 *   suggested    it comes with hardware, and "prove" asks it
 */
#define LIBRARIES(L) LIBRARIES_OR_PARTS(L) LIBRARIES_OPENED(L)
/* make portable links these into the program. */
#define LIBRARIES_OR_PARTS(L)                                                             \
	L(LIBPCI, "libpci.so.3", "required", "pci", "Configuration space of PCI devices") \
	L(LIBKMOD, "libkmod.so.2", "required", "modules",                                 \
	  "Files of kernel modules, reloading the driver")
#define LIBRARIES_OPENED(L)                                                                        \
	L(LIBZ, "libz.so.1", "recommended", "kernel-config", "/proc/config.gz")                    \
	L(LIBARCHIVE, "libarchive.so.13", "recommended", "initramfs", "Compressed images")         \
	L(LIBZSTD, "libzstd.so.1", "recommended", "initramfs-zstd", "Images compressed with zstd") \
	L(LIBIBVERBS, "libibverbs.so.1", "recommended", "verbs", "Attributes of RDMA devices")     \
	L(LIBSYSTEMD, "libsystemd.so.0", "recommended", "systemd", "State of units, the journal")  \
	L(LIBGCRYPT, "libgcrypt.so.20", "recommended", "repairs", "Hashes of changed files")       \
	L(LIBSELINUX, "libselinux.so.1", "recommended", "selinux", "Labels of changed files")      \
	L(LIBYAML, "libyaml-0.so.2", "recommended", "cdi", "Specifications of container devices")  \
	L(LIBMLX5, "libmlx5.so.1", "suggested", "doorbell", "Doorbell pages of NVIDIA NICs")       \
	L(LIBCUDA, "libcuda.so.1", "suggested", "cuda", "Trials on the GPUs")                      \
	L(LIBNVIDIA_ML, "libnvidia-ml.so.1", "suggested", "nvml", "GPU states from the driver")    \
	L(LIBGDRAPI, "libgdrapi.so.2", "suggested", "gdrcopy", "Trials of GDRCopy")

enum library {
#define LIBRARY_ID(id, soname, priority, feature, description) id,
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
 *     static const struct library_symbol symbols[] = { FUNCTIONS(LIBRARY_SYMBOL) };
 */
#define LIBRARY_SLOT(name) typeof(&name) name;
#define LIBRARY_SYMBOL(name) { &lib.name, #name, NULL, 0 },
#define LIBRARY_COUNT(symbols) ARRAY_SIZE(symbols)

/* Opens LIBRARY until the process ends, and sets the slots. Returns 0, or -ELIBACC if the library or a required symbol
 * is missing. */
int library_load(enum library library, const struct library_symbol *symbols, size_t count);
/* Like library_load(), with the library at an absolute PATH; the environment's search paths are not used. */
int library_load_at(const char *path, const struct library_symbol *symbols, size_t count);

#endif
