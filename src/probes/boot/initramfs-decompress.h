/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * initramfs-decompress.h - one compressed stream at a time, pulled in blocks. libarchive does the work and is
 * opened when the first stream is; each filter is asked for by name, since the "all" that it offers
 * may start programs. zstd goes through libzstd itself where that is installed.
 */
#ifndef INITRAMFS_DECOMPRESS_H
#define INITRAMFS_DECOMPRESS_H

#include "base/span.h"

struct decompress;

/* The next compressed bytes, valid until the next call: 1, 0 at the end, or negative errno. */
typedef int decompress_read(void *user, struct span *block);

/* COMPRESSOR is gzip, bzip2, xz, lzma, zstd or lz4. 0; -ELIBACC without libarchive, -EOPNOTSUPP for
 * another compressor, -EBADMSG if the stream is not one. */
int decompress_open(struct decompress **out, const char *compressor, decompress_read *read,
		    void *user);
void decompress_close(struct decompress *d);

/* The next decompressed bytes, valid until the next call: 1, 0 at the end, -EBADMSG when the stream
 * is damaged or cut off, or what READ gave. */
int decompress_next(struct decompress *d, struct span *block);

/* Compressed bytes used so far: after the end, where the stream ended. */
uint64_t decompress_used(const struct decompress *d);

#endif
