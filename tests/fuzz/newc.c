/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Archives, in blocks of any size, with and without skipping; bodies go through the search for a
 * module's version, all bytes through the search for the ends of compressed streams. */
#include "fuzz.h"

#include <errno.h>

#include "parse/modinfo.h"
#include "parse/newc.h"
#include "parse/pe.h"
#include "parse/segment.h"

struct bytes {
	const char *p;
	size_t n, at, block;
};

static int read_block(void *user, struct span *block)
{
	struct bytes *b = user;
	size_t n = b->n - b->at < b->block ? b->n - b->at : b->block;

	*block = (struct span){ b->p + b->at, n };
	b->at += n;
	return n > 0;
}

static uint64_t skip(void *user, uint64_t n)
{
	struct bytes *b = user;

	if (n > b->n - b->at)
		n = b->n - b->at;
	b->at += (size_t)n;
	return n;
}

static int64_t read_at(void *user, char *buffer, size_t n, uint64_t offset)
{
	struct bytes *b = user;

	if (offset >= b->n)
		return 0;
	if (n > b->n - offset)
		n = b->n - (size_t)offset;
	memcpy(buffer, b->p + offset, n);
	return (int64_t)n;
}

static void walk(struct bytes bytes, bool skips, bool bodies)
{
	struct newc_source source = { read_block, skips ? skip : NULL, &bytes };
	static struct newc_entry entry;
	static struct modinfo_scan scan;
	struct newc newc;
	struct span block;
	int rc;

	newc_begin(&newc, &source);
	while (newc_find(&newc) == 1) {
		while ((rc = newc_next(&newc, &entry)) == 1) {
			uint64_t total = 0;

			assert(strlen(entry.name) < sizeof(entry.name));
			if (!bodies)
				continue;
			modinfo_begin(&scan);
			while ((rc = newc_body(&newc, &block)) == 1) {
				total += block.n;
				modinfo_feed(&scan, block);
			}
			assert(rc == 0 ? total == entry.size : total <= entry.size);
			(void)modinfo_end(&scan);
			assert(strlen(scan.version) < sizeof(scan.version));
		}
		assert(rc <= 0);
		if (rc)
			break;
	}
	assert(newc.at <= bytes.n);
}

static void segments(struct bytes bytes)
{
	struct segment_image image = { read_at, &bytes, bytes.n };
	struct segment_end end;
	struct segment segment;
	struct span block;
	size_t n;

	assert(segment_image_size(&image) <= (int64_t)bytes.n);
	if (segment_find(&image, 0, &segment) != 1 || segment.kind != SEGMENT_COMPRESSED)
		return;
	assert(segment.offset < segment.limit && segment.limit <= bytes.n);
	segment_end_begin(&end, segment.compressor);
	bytes.at = (size_t)segment.offset;
	while (!end.ended && read_block(&bytes, &block) == 1) {
		n = segment_end_feed(&end, block);
		assert(n <= block.n && (end.ended || n == block.n));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = { .p = (const char *)data, .n = size };
	struct pe_section section;

	for (size_t block = 1; block < size + 64; block = block * 5 + 2) {
		bytes.block = block;
		walk(bytes, false, true);
		walk(bytes, true, false);
		segments(bytes);
	}
	(void)pe_find((struct span){ bytes.p, size }, ".initrd", &section);
	return 0;
}
