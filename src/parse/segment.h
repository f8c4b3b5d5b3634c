/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment.h - the segments of an initramfs image: a row of plain and compressed cpio archives, with zero bytes between
 * them (init/initramfs.c). The kernel recognises a compressor by its first two bytes (lib/decompress.c).
 */
#ifndef PARSE_SEGMENT_H
#define PARSE_SEGMENT_H

#include "base/span.h"

/* Reads up to N bytes at OFFSET, fewer only at the end of the image; or negative errno. */
struct segment_image {
	int64_t (*read)(void *user, char *buffer, size_t n, uint64_t offset);
	void *user;
	uint64_t size;
};

enum segment_kind {
	SEGMENT_CPIO,
	SEGMENT_COMPRESSED,
	SEGMENT_UNKNOWN,
};

struct segment {
	enum segment_kind kind;
	const char *compressor; /* none, gzip, bzip2, xz, lzma, zstd, lz4, lzo; NULL: not known */
	uint64_t offset;
	uint64_t limit; /* offset of its end: no byte of it is at or after this */
};

/* Finds the segment at OFFSET or after the zero bytes there. Returns 1, 0 at the end, or a negative errno. */
int segment_find(const struct segment_image *image, uint64_t offset, struct segment *segment);

/* Returns the size of an image without the boot configuration that may be at its end
 * (Documentation/admin-guide/bootconfig.rst), or a negative errno. */
int64_t segment_image_size(const struct segment_image *image);

/* Finds the end of a compressed stream. A decompressor that receives bytes beyond its stream may fail and lose what
 * it had decoded: libarchive 3.6 and 3.7 do so for zstd and xz. These formats mark their end: zstd (RFC 8878) gives
 * the size of each block before it, and xz has a footer with a checksum. Other formats are assumed to continue. */
struct segment_end {
	const char *compressor;
	unsigned char bytes[16];
	size_t have, want; /* of a header that is being collected in bytes */
	uint64_t pass;	   /* bytes to skip before it */
	unsigned int state;
	unsigned int tail; /* bytes of checksum after the last block */
	bool ended;
};

void segment_end_begin(struct segment_end *end, const char *compressor);
/* Returns how many bytes of the next BLOCK belong to the stream, and sets ended at the last one. */
size_t segment_end_feed(struct segment_end *end, struct span block);

#endif
