/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * segment.c - the segments of an initramfs image: a row of plain and compressed cpio archives, with zero bytes between
 * them (init/initramfs.c).
 */
#include "parse/segment.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

#define READ_SIZE 4096
#define ZEROS_MAX (64u << 20) /* before a segment; padding is a page, or the sector of a disk */

/* ---- the format at an offset ---- */

struct magic {
	const char *compressor;
	unsigned char bytes[6];
	size_t n;
};

/* lib/decompress.c compressed_formats[]. Tools also read the lz4 frame (04 22 4d 18), which the kernel does not
 * recognise. */
static const struct magic magics[] = {
	{ "gzip", { 0x1f, 0x8b }, 2 },
	{ "gzip", { 0x1f, 0x9e }, 2 },
	{ "bzip2", { 'B', 'Z', 'h' }, 3 },
	{ "lzma", { 0x5d, 0x00 }, 2 },
	{ "xz", { 0xfd, '7', 'z', 'X', 'Z', 0x00 }, 6 },
	{ "lzo", { 0x89, 'L', 'Z', 'O' }, 4 },
	{ "lz4", { 0x02, 0x21, 0x4c, 0x18 }, 4 },
	{ "zstd", { 0x28, 0xb5, 0x2f, 0xfd }, 4 },
};

static uint32_t le32(const void *p)
{
	const unsigned char *b = p;

	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* A plain archive begins on a multiple of four, or the kernel does not take it for one. */
static void identify(struct segment *segment, struct span head)
{
	segment->kind = SEGMENT_UNKNOWN;
	segment->compressor = NULL;
	if ((span_starts(head, "070701") || span_starts(head, "070702")) &&
	    segment->offset % 4 == 0) {
		segment->kind = SEGMENT_CPIO;
		segment->compressor = "none";
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
		const struct magic *m = &magics[i];

		if (head.n >= m->n && memcmp(head.p, m->bytes, m->n) == 0) {
			segment->kind = SEGMENT_COMPRESSED;
			segment->compressor = m->compressor;
			return;
		}
	}
}

/* ---- lz4 as the kernel wants it: no frame, only blocks with their sizes ---- */

#define LZ4_LEGACY 0x184c2102
#define LZ4_LEGACY_BLOCK (8u << 20) /* decompressed; lib/decompress_unlz4.c */
#define LZ4_LEGACY_MAX (LZ4_LEGACY_BLOCK + LZ4_LEGACY_BLOCK / 255 + 16) /* LZ4_COMPRESSBOUND */

/* An LZ4 stream has no end mark: it ends at the first impossible block size. */
static int find_lz4_end(const struct segment_image *image, struct segment *segment)
{
	uint64_t at = segment->offset;
	char size[4];

	for (;;) {
		int64_t n = image->read(image->user, size, sizeof(size), at);

		if (n < 0)
			return (int)n;
		if (n < 4)
			break;
		if (le32(size) == LZ4_LEGACY)
			at += 4;
		else if (le32(size) == 0 || le32(size) > LZ4_LEGACY_MAX)
			break;
		else
			at += 4 + (uint64_t)le32(size);
	}
	if (at < segment->limit)
		segment->limit = at;
	return 0;
}

int segment_find(const struct segment_image *image, uint64_t offset, struct segment *segment)
{
	char buffer[READ_SIZE];
	uint64_t begin = offset;
	size_t zeros;
	int64_t n;
	int rc;

	for (;; offset += zeros) {
		uint64_t left = offset < image->size ? image->size - offset : 0;

		if (!left)
			return 0;
		if (offset - begin > ZEROS_MAX)
			return -E2BIG;
		n = image->read(image->user, buffer, left < READ_SIZE ? (size_t)left : READ_SIZE,
				offset);
		if (n <= 0)
			return (int)n;
		for (zeros = 0; zeros < (size_t)n && buffer[zeros] == '\0'; zeros++)
			;
		if (zeros == 0)
			break;
	}
	*segment = (struct segment){ .offset = offset, .limit = image->size };
	identify(segment, (struct span){ buffer, (size_t)n });
	if (segment->kind != SEGMENT_COMPRESSED || strcmp(segment->compressor, "lz4") != 0)
		return 1;
	rc = find_lz4_end(image, segment);
	return rc ? rc : 1;
}

/* ---- boot configuration: init/main.c get_boot_config_from_initrd() ---- */

#define BOOTCONFIG_MAGIC "#BOOTCONFIG\n"
#define BOOTCONFIG_MAGIC_SIZE 12
#define BOOTCONFIG_PADDING 3 /* GRUB may align an initrd to four bytes */

int64_t segment_image_size(const struct segment_image *image)
{
	char tail[8 + BOOTCONFIG_MAGIC_SIZE + BOOTCONFIG_PADDING];
	uint64_t start;
	int64_t n;

	if (image->size < sizeof(tail))
		return (int64_t)image->size;
	start = image->size - sizeof(tail);
	n = image->read(image->user, tail, sizeof(tail), start);
	if (n < 0)
		return n;
	if ((size_t)n < sizeof(tail))
		return (int64_t)image->size;
	for (size_t at = 8; at <= 8 + BOOTCONFIG_PADDING; at++) {
		uint64_t size;

		if (memcmp(tail + at, BOOTCONFIG_MAGIC, BOOTCONFIG_MAGIC_SIZE) != 0)
			continue;
		size = le32(tail + at - 8);
		if (size <= start + at - 8)
			return (int64_t)(start + at - 8 - size);
	}
	return (int64_t)image->size;
}

/* ---- ends of streams ---- */

enum end_state {
	END_HEADER,
	END_BLOCK,
	END_TAIL,
	END_FOOTER, /* xz: looks for it in every place */
	END_NONE,   /* not known */
};

static void want(struct segment_end *end, enum end_state state, uint64_t pass, size_t n)
{
	end->state = state;
	end->pass = pass;
	end->want = n;
	end->have = 0;
}

/* RFC 8878, 3.1.1.1: which fields follow the frame header descriptor. */
static void take_zstd_header(struct segment_end *end)
{
	static const unsigned char dictionary_sizes[] = { 0, 1, 2, 4 };
	static const unsigned char content_sizes[] = { 0, 2, 4, 8 };
	unsigned char descriptor = end->bytes[4];
	bool single = descriptor & 0x20;
	uint64_t n = dictionary_sizes[descriptor & 3] + content_sizes[descriptor >> 6];

	if (!single)
		n++; /* window descriptor */
	else if (descriptor >> 6 == 0)
		n++; /* a content size of one byte */
	end->tail = descriptor & 0x04 ? 4 : 0;
	want(end, END_BLOCK, n, 3);
}

/* RFC 8878, 3.1.1.2: last block, type, size. */
static void take_zstd_block(struct segment_end *end)
{
	uint32_t header = end->bytes[0] | (uint32_t)end->bytes[1] << 8 |
			  (uint32_t)end->bytes[2] << 16;
	uint64_t size = (header >> 1 & 3) == 1 ? 1 : header >> 3; /* 1: one byte, repeated */

	if (header & 1)
		want(end, END_TAIL, size + end->tail, 0);
	else
		want(end, END_BLOCK, size, 3);
}

static void take_header(struct segment_end *end)
{
	if (end->state == END_TAIL)
		end->ended = true;
	else if (end->state == END_HEADER)
		take_zstd_header(end);
	else
		take_zstd_block(end);
}

/* IEEE 802.3, bit by bit: it is only used for six bytes. */
static uint32_t crc32(const unsigned char *p, size_t n)
{
	uint32_t crc = ~0u;

	while (n--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

/* The .xz File Format, 2.1.2: CRC32 of what follows, backward size, stream flags, "YZ". */
static bool is_xz_footer(const unsigned char p[12])
{
	return p[10] == 'Y' && p[11] == 'Z' && p[8] == 0 && p[9] < 16 && le32(p) == crc32(p + 4, 6);
}

/* BYTES holds the last twelve before the block. A footer is searched for wherever its last byte may
 * be: a false one has a chance of one in 2^60. */
static size_t find_xz_footer(struct segment_end *end, struct span block)
{
	unsigned char footer[12];

	for (size_t at = 0; at < block.n; at++) {
		size_t n;
		const char *z = memchr(block.p + at, 'Z', block.n - at);

		if (!z)
			break;
		at = (size_t)(z - block.p);
		n = at + 1 < sizeof(footer) ? at + 1 : sizeof(footer);
		memcpy(footer, end->bytes + n, sizeof(footer) - n);
		memcpy(footer + sizeof(footer) - n, block.p + at + 1 - n, n);
		if (is_xz_footer(footer)) {
			end->ended = true;
			return at + 1;
		}
	}
	if (block.n >= sizeof(footer)) {
		memcpy(end->bytes, block.p + block.n - sizeof(footer), sizeof(footer));
	} else {
		memmove(end->bytes, end->bytes + block.n, sizeof(footer) - block.n);
		memcpy(end->bytes + sizeof(footer) - block.n, block.p, block.n);
	}
	return block.n;
}

void segment_end_begin(struct segment_end *end, const char *compressor)
{
	*end = (struct segment_end){ .compressor = compressor, .state = END_NONE };
	if (strcmp(compressor, "zstd") == 0)
		want(end, END_HEADER, 0, 5);
	else if (strcmp(compressor, "xz") == 0)
		end->state = END_FOOTER;
}

size_t segment_end_feed(struct segment_end *end, struct span block)
{
	size_t at = 0;

	if (end->state == END_FOOTER && !end->ended)
		return find_xz_footer(end, block);
	while (!end->ended && end->state != END_NONE) {
		size_t left = block.n - at, n = end->want - end->have;

		if (end->pass > left) {
			end->pass -= left;
			return block.n;
		}
		at += (size_t)end->pass;
		left -= (size_t)end->pass;
		end->pass = 0;
		if (n > left)
			n = left;
		memcpy(end->bytes + end->have, block.p + at, n);
		end->have += n;
		at += n;
		if (end->have < end->want)
			return block.n;
		take_header(end);
	}
	return end->ended ? at : block.n;
}
