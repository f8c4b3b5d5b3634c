/* SPDX-License-Identifier: GPL-2.0-or-later */
/* initramfs-decompress.c - one compressed stream at a time, pulled in blocks. */
#include "probes/boot/initramfs-decompress.h"

#include <archive.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/library.h"
#include "probes/boot/initramfs-decompress-zstd.h"

#define FUNCTIONS(F)                         \
	F(archive_read_new)                  \
	F(archive_read_free)                 \
	F(archive_read_open)                 \
	F(archive_read_next_header)          \
	F(archive_read_data_block)           \
	F(archive_read_support_format_raw)   \
	F(archive_read_support_filter_gzip)  \
	F(archive_read_support_filter_bzip2) \
	F(archive_read_support_filter_xz)    \
	F(archive_read_support_filter_lzma)  \
	F(archive_read_support_filter_zstd)  \
	F(archive_read_support_filter_lz4)   \
	F(archive_filter_bytes)              \
	F(archive_filter_code)               \
	F(archive_set_error)

static struct {
	FUNCTIONS(LIBRARY_SLOT)
} lib;

#define AHEAD_MAX (16u << 20)

struct decompress {
	struct zstd *zstd; /* instead of all the rest */
	struct archive *archive;
	decompress_read *read;
	void *user;
	uint64_t taken, given; /* bytes, compressed and decompressed */
	int error;	       /* of read */
};

/* No compressor makes more bytes of what it is given: a stream that continues and gives nothing would cost the time for
 * terabytes. */
static int initramfs_decompress_take(void *user, struct span *block)
{
	struct decompress *d = user;
	int rc;

	if (d->taken > d->given + d->given / 64 + AHEAD_MAX)
		return -EBADMSG;
	rc = d->read(d->user, block);
	if (rc == 1)
		d->taken += block->n;
	return rc;
}

static la_ssize_t feed(struct archive *archive, void *user, const void **buffer)
{
	struct decompress *d = user;
	struct span block = { 0 };
	int rc = initramfs_decompress_take(d, &block);

	if (rc < 0) {
		d->error = rc;
		lib.archive_set_error(archive, -rc, "cannot read");
		return -1;
	}
	*buffer = block.p;
	return rc ? (la_ssize_t)block.n : 0;
}

static const struct filter {
	const char *name;
	int code;
	int (**support)(struct archive *archive);
} filters[] = {
#define FILTER(name, code)                                           \
	{                                                            \
#name, code, &lib.archive_read_support_filter_##name \
	}
	FILTER(gzip, ARCHIVE_FILTER_GZIP), FILTER(bzip2, ARCHIVE_FILTER_BZIP2),
	FILTER(xz, ARCHIVE_FILTER_XZ),	   FILTER(lzma, ARCHIVE_FILTER_LZMA),
	FILTER(zstd, ARCHIVE_FILTER_ZSTD), FILTER(lz4, ARCHIVE_FILTER_LZ4),
#undef FILTER
};

static const struct filter *find_filter(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++)
		if (strcmp(filters[i].name, name) == 0)
			return &filters[i];
	return NULL;
}

static int start(struct decompress *d, const struct filter *filter)
{
	struct archive_entry *entry;

	d->archive = lib.archive_read_new();
	if (!d->archive)
		return -ENOMEM;
	/* ARCHIVE_WARN: this build of the library would start a program for it. */
	if ((*filter->support)(d->archive) != ARCHIVE_OK)
		return -EOPNOTSUPP;
	if (lib.archive_read_support_format_raw(d->archive) != ARCHIVE_OK ||
	    lib.archive_read_open(d->archive, d, NULL, feed, NULL) != ARCHIVE_OK ||
	    lib.archive_read_next_header(d->archive, &entry) != ARCHIVE_OK)
		return d->error ? d->error : -EBADMSG;
	/* Raw takes anything: without its filter it would hand back the compressed bytes. */
	if (lib.archive_filter_code(d->archive, 0) != filter->code)
		return -EBADMSG;
	return 0;
}

int decompress_open(struct decompress **out, const char *compressor, decompress_read *read,
		    void *user)
{
	const struct filter *filter = find_filter(compressor);
	struct decompress *d;
	int rc;

	*out = NULL;
	if (!filter)
		return -EOPNOTSUPP;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->read = read;
	d->user = user;
	rc = filter->code == ARCHIVE_FILTER_ZSTD ? zstd_open(&d->zstd, initramfs_decompress_take, d)
						 : -ELIBACC;
	if (rc == -ELIBACC) {
		rc = LIBRARY_LOAD(LIBARCHIVE, FUNCTIONS);
		if (rc == 0)
			rc = start(d, filter);
	}
	if (rc == 0)
		*out = d;
	else
		decompress_close(d);
	return rc;
}

void decompress_close(struct decompress *d)
{
	if (!d)
		return;
	if (d->zstd)
		zstd_close(d->zstd);
	if (d->archive)
		lib.archive_read_free(d->archive);
	free(d);
}

int decompress_next(struct decompress *d, struct span *block)
{
	const void *p;
	la_int64_t offset;
	size_t n;
	int rc;

	if (d->zstd) {
		rc = zstd_next(d->zstd, block);
		d->given += rc == 1 ? block->n : 0;
		return rc;
	}
	rc = lib.archive_read_data_block(d->archive, &p, &n, &offset);
	*block = (struct span){ p, n };
	if (rc == ARCHIVE_EOF)
		return 0;
	if (rc != ARCHIVE_OK)
		return d->error ? d->error : -EBADMSG;
	d->given += n;
	return 1;
}

uint64_t decompress_used(const struct decompress *d)
{
	if (d->zstd)
		return zstd_used(d->zstd);
	return (uint64_t)lib.archive_filter_bytes(d->archive, -1);
}
