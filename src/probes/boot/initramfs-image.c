/* SPDX-License-Identifier: GPL-2.0-or-later */
/* initramfs-image.c - from a file to archives: segments, decompressors, and the reasons why one cannot be
 * read. */
#include "probes/boot/initramfs-image.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "parse/newc.h"
#include "parse/pe.h"
#include "parse/segment.h"
#include "probes/boot/initramfs-contents.h"
#include "probes/boot/initramfs-decompress.h"

#define BLOCK_SIZE (64u << 10)
#define READ_MAX \
	(1ull << 30) /* most bytes of the file: a hole of terabytes costs as much as data */
#define SCRATCH_BYTES (32u << 20) /* address space; CONTENTS_KEPT_MAX bounds what is used */

struct image {
	int fd;
	uint64_t base; /* where in the file the image begins */
	struct segment_image bytes;
	uint64_t bytes_read;
	struct contents contents;
	struct initramfs_image *facts;
	struct arena *arena;
	uint64_t decompressed;
	unsigned int archives;
	bool failed;
	char block[BLOCK_SIZE];
};

static void fail(struct image *image, uint64_t offset, const char *why)
{
	if (!image->failed)
		image->facts->problem = fact_str(
			image->arena, arena_printf(image->arena, "%s (at byte %" PRIu64 ")", why,
						   image->base + offset));
	image->failed = true;
}

static const char *why(int error)
{
	switch (error) {
	case -ENODATA:
		return "the archive ends before its trailer";
	case -EBADMSG:
		return "damaged";
	case -EFBIG:
		return "decompresses to more than such an image can hold";
	case -E2BIG:
		return "not read to its end: it has more bytes, or more zeros, than such an image";
	case -EOPNOTSUPP:
		return "libarchive cannot decompress it";
	case -ELIBACC:
		return "cannot be decompressed: libarchive is not installed";
	default:
		return strerror(-error);
	}
}

static int64_t read_at(void *user, char *buffer, size_t n, uint64_t offset)
{
	struct image *image = user;
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(image->fd, buffer + done, n - done,
				    (off_t)(image->base + offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	image->bytes_read += done;
	return image->bytes_read > READ_MAX ? -E2BIG : (int64_t)done;
}

/* ---- streams ---- */

/* The bytes of one segment, as they are in the file. */
struct stream {
	struct image *image;
	uint64_t at, limit;
	struct segment_end end; /* compressed ones only */
	struct decompress *decompress;
};

static int read_stream(void *user, struct span *block)
{
	struct stream *s = user;
	uint64_t left = s->limit > s->at ? s->limit - s->at : 0;
	int64_t n;

	if (!left)
		return 0;
	n = read_at(s->image, s->image->block, left < BLOCK_SIZE ? (size_t)left : BLOCK_SIZE,
		    s->at);
	if (n <= 0)
		return (int)n;
	*block = (struct span){ s->image->block, (size_t)n };
	s->at += (uint64_t)n;
	return 1;
}

static uint64_t skip_stream(void *user, uint64_t n)
{
	struct stream *s = user;
	uint64_t left = s->limit > s->at ? s->limit - s->at : 0;

	if (n > left)
		n = left;
	s->at += n;
	return n;
}

/* Hands the decompressor nothing that comes after its stream. */
static int read_compressed(void *user, struct span *block)
{
	struct stream *s = user;
	size_t n;
	int rc;

	if (s->end.ended)
		return 0;
	rc = read_stream(s, block);
	if (rc <= 0)
		return rc;
	n = segment_end_feed(&s->end, *block);
	s->at -= block->n - n;
	block->n = n;
	return 1;
}

static int read_decompressed(void *user, struct span *block)
{
	struct stream *s = user;
	int rc = decompress_next(s->decompress, block);

	if (rc == 1)
		s->image->decompressed += block->n;
	return s->image->decompressed > INITRAMFS_BYTES_MAX ? -EFBIG : rc;
}

/* ---- archives ---- */

/* Reads one archive up to its trailer. Returns 0 or a negative errno. */
static int walk_archive(struct image *image, struct newc *newc)
{
	struct newc_entry entry;
	int rc;

	while ((rc = newc_next(newc, &entry)) == 1)
		contents_add(&image->contents, newc, &entry);
	contents_end_archive(&image->contents);
	if (rc == 0)
		image->archives++;
	return rc;
}

/* The offset of what comes after the segment, or 0. */
static uint64_t walk_plain(struct image *image, const struct segment *segment)
{
	struct stream stream = { .image = image, .at = segment->offset, .limit = segment->limit };
	struct newc_source source = { read_stream, skip_stream, &stream };
	struct newc newc;
	int rc;

	newc_begin(&newc, &source);
	rc = newc_find(&newc);
	if (rc == 1)
		rc = walk_archive(image, &newc);
	if (rc == 0)
		return segment->offset + newc.at;
	fail(image, segment->offset + newc.at, why(rc));
	return 0;
}

/* A compressed segment may hold several archives, as the image itself may. */
static int walk_archives(struct image *image, struct newc *newc)
{
	int rc;

	while ((rc = newc_find(newc)) == 1) {
		rc = walk_archive(image, newc);
		if (rc)
			break;
	}
	return rc;
}

static uint64_t walk_compressed(struct image *image, const struct segment *segment)
{
	struct stream stream = { .image = image, .at = segment->offset, .limit = segment->limit };
	struct newc_source source = { read_decompressed, NULL, &stream };
	uint64_t next = 0;
	struct newc newc;
	int rc;

	segment_end_begin(&stream.end, segment->compressor);
	rc = decompress_open(&stream.decompress, segment->compressor, read_compressed, &stream);
	if (rc == 0) {
		newc_begin(&newc, &source);
		rc = walk_archives(image, &newc);
		next = stream.end.ended ? stream.at
					: segment->offset + decompress_used(stream.decompress);
	}
	decompress_close(stream.decompress);
	if (rc == 0 && next > segment->offset)
		return next;
	fail(image, segment->offset,
	     arena_printf(image->arena, "%s segment: %s", segment->compressor,
			  rc ? why(rc) : "nothing in it"));
	return 0;
}

static void walk_segments(struct image *image)
{
	struct segment segment;
	uint64_t offset = 0;
	int rc;

	while ((rc = segment_find(&image->bytes, offset, &segment)) == 1) {
		if (segment.kind == SEGMENT_UNKNOWN) {
			fail(image, segment.offset,
			     "no archive and no compressor known to the kernel");
			return;
		}
		*LIST_ADD(image->arena, &image->facts->compressors) = segment.compressor;
		offset = segment.kind == SEGMENT_CPIO ? walk_plain(image, &segment)
						      : walk_compressed(image, &segment);
		if (!offset)
			return;
	}
	if (rc)
		fail(image, offset, why(rc));
	else if (!image->archives)
		fail(image, offset, "no archive in it");
}

/* A unified kernel image has the initramfs in a section. */
static int find_initramfs(struct image *image)
{
	char head[PE_HEAD_SIZE];
	struct pe_section section;
	struct stat st;
	int64_t n;

	if (fstat(image->fd, &st) < 0)
		return -errno;
	image->bytes = (struct segment_image){ read_at, image, (uint64_t)st.st_size };
	n = read_at(image, head, sizeof(head), 0);
	if (n > 0 && pe_find((struct span){ head, (size_t)n }, ".initrd", &section)) {
		image->base = section.offset;
		image->bytes.size = section.size;
	}
	if (n >= 0)
		n = segment_image_size(&image->bytes);
	if (n >= 0)
		image->bytes.size = (uint64_t)n;
	return n < 0 ? (int)n : 0;
}

void initramfs_read(int fd, struct initramfs_image *facts, struct arena *arena)
{
	initramfs_read_each(fd, facts, arena, NULL, NULL);
}

void initramfs_read_each(int fd, struct initramfs_image *facts, struct arena *arena,
			 initramfs_entry *entry, void *user)
{
	struct arena *scratch = arena_new_shared(SCRATCH_BYTES, "an initramfs image");
	_cleanup_free_ struct image *image = calloc(1, sizeof(*image));
	int rc;

	facts->complete = fact_bool(false);
	if (!scratch || !image) {
		facts->problem = fact_str(arena, strerror(ENOMEM));
		arena_free(scratch);
		return;
	}
	image->fd = fd;
	image->facts = facts;
	image->arena = arena;
	contents_begin(&image->contents, scratch);
	image->contents.each = entry;
	image->contents.each_user = user;
	rc = find_initramfs(image);
	if (rc)
		fail(image, 0, why(rc));
	else
		walk_segments(image);
	contents_finish(&image->contents, facts, arena, !image->failed);
	if (image->failed) {
		;
	} else if (image->contents.problem) {
		facts->problem = fact_str(arena, image->contents.problem);
	} else {
		facts->complete = fact_bool(true);
		facts->problem.state = FACT_ABSENT;
	}
	arena_free(scratch);
}
