/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * initramfs-decompress-zstd.h - unpacks zstd without libarchive. Most images are packed with zstd. The libraries that
 * libarchive needs (libxml2, ICU, the C++ runtime) take more memory than all the rest of reading an image.
 */
#ifndef INITRAMFS_DECOMPRESS_ZSTD_H
#define INITRAMFS_DECOMPRESS_ZSTD_H

#include "probes/boot/initramfs-decompress.h"

struct zstd;

/* -ELIBACC when libzstd is not there: libarchive then does it. */
int zstd_open(struct zstd **out, decompress_read *read, void *user);
void zstd_close(struct zstd *z);
int zstd_next(struct zstd *z, struct span *block);
uint64_t zstd_used(const struct zstd *z);

#endif
