/* SPDX-License-Identifier: GPL-2.0-or-later */
/* initramfs-decompress-zstd.c - unpacks zstd without libarchive. */
#include "probes/boot/initramfs-decompress-zstd.h"

#include <errno.h>
#include <stdlib.h>

#include "base/library.h"

#define OUTPUT_SIZE (128u << 10) /* ZSTD_DStreamOutSize(): one block */

/* RFC 8878, 3.1.1. libzstd also reads what came before version 0.8, by older code that nothing needs here and
 * that goes another way for other blocks. */
static const unsigned char magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

/* RFC 8878, 3.1.2: a frame without content, of which the first byte can have any low four bits. pzstd writes one before
 * each frame. */
static const unsigned char skippable_magic[] = { 0x50, 0x2a, 0x4d, 0x18 };

/* zstd.h, "Streaming": the same since 1.0. A header of its own would be one more thing to build
 * with. */
struct input {
	const void *src;
	size_t size;
	size_t pos;
};

struct output {
	void *dst;
	size_t size;
	size_t pos;
};

struct zstd {
	void *(*create)(void);
	size_t (*free)(void *stream);
	size_t (*decompress)(void *stream, struct output *output, struct input *input);
	unsigned int (*is_error)(size_t code);

	void *stream;
	decompress_read *read;
	void *user;
	struct input input;
	size_t magic_seen; /* bytes */
	bool is_skippable;
	uint64_t used;
	size_t hint; /* 0: at the end of a frame */
	bool full;   /* the last block filled the buffer: there may be more without new input */
	char buffer[OUTPUT_SIZE];
};

static int initramfs_decompress_zstd_load(struct zstd *z)
{
	const struct library_symbol symbols[] = {
		{ &z->create, "ZSTD_createDStream", NULL, 0 },
		{ &z->free, "ZSTD_freeDStream", NULL, 0 },
		{ &z->decompress, "ZSTD_decompressStream", NULL, 0 },
		{ &z->is_error, "ZSTD_isError", NULL, 0 },
	};

	return library_load(LIBZSTD, symbols, LIBRARY_COUNT(symbols));
}

int zstd_open(struct zstd **out, decompress_read *read, void *user)
{
	struct zstd *z = calloc(1, sizeof(*z));

	*out = NULL;
	if (!z)
		return -ENOMEM;
	if (initramfs_decompress_zstd_load(z)) {
		zstd_close(z);
		return -ELIBACC;
	}
	z->stream = z->create();
	if (!z->stream) {
		zstd_close(z);
		return -ENOMEM;
	}
	z->read = read;
	z->user = user;
	z->hint = 1;
	*out = z;
	return 0;
}

void zstd_close(struct zstd *z)
{
	if (z->stream)
		z->free(z->stream);
	free(z);
}

static bool is_magic(struct zstd *z, struct span block)
{
	for (; z->magic_seen < sizeof(magic) && block.n; block.p++, block.n--) {
		unsigned char c = (unsigned char)*block.p;
		size_t at = z->magic_seen++;

		if (at == 0 && (c & 0xf0) == skippable_magic[0]) {
			z->is_skippable = true;
			continue;
		}
		if (c != (z->is_skippable ? skippable_magic : magic)[at])
			return false;
	}
	return true;
}

static int initramfs_decompress_zstd_fill(struct zstd *z)
{
	struct span block = { 0 };
	int rc;

	if (z->full || z->input.pos < z->input.size)
		return 1;
	rc = z->read(z->user, &block);
	if (rc == 1 && !is_magic(z, block))
		return -EBADMSG;
	z->input = (struct input){ block.p, rc == 1 ? block.n : 0, 0 };
	return rc;
}

int zstd_next(struct zstd *z, struct span *block)
{
	for (;;) {
		struct output output = { z->buffer, sizeof(z->buffer), 0 };
		size_t before;
		int rc;

		if (z->hint == 0)
			return 0; /* one frame: what follows is another segment */
		rc = initramfs_decompress_zstd_fill(z);
		if (rc <= 0)
			return rc ? rc : -EBADMSG;
		before = z->input.pos;
		z->hint = z->decompress(z->stream, &output, &z->input);
		z->used += z->input.pos - before;
		if (z->is_error(z->hint))
			return -EBADMSG;
		z->full = output.pos == output.size;
		if (output.pos) {
			*block = (struct span){ z->buffer, output.pos };
			return 1;
		}
	}
}

uint64_t zstd_used(const struct zstd *z)
{
	return z->used;
}
