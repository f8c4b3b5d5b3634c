/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compressed streams: the first byte says which compressor, the second how the stream comes in blocks.
 * Whatever the blocks, the bytes that come out are the same. (Whether a damaged stream is refused may hang on
 * them: libzstd takes a frame that is there whole without the window that it asks for.) */
#include "fuzz.h"

#include <errno.h>

#include "probes/boot/initramfs-decompress.h"

#define OUTPUT_MAX (1u << 20)

static const char *const compressors[] = { "zstd", "gzip", "xz", "lz4", "bzip2", "lzma" };
#define COMPRESSORS (sizeof(compressors) / sizeof(compressors[0]))

struct input {
	struct span rest;
	size_t block;
};

struct output {
	int rc;
	uint64_t bytes, used, sum;
	bool cut; /* more than OUTPUT_MAX: not read to its end */
};

static int read_block(void *user, struct span *block)
{
	struct input *in = user;
	size_t n = in->rest.n < in->block ? in->rest.n : in->block;

	*block = (struct span){ in->rest.p, n };
	in->rest = (struct span){ in->rest.p + n, in->rest.n - n };
	return n > 0;
}

static struct output run(const char *compressor, struct span text, size_t size)
{
	struct input in = { text, size };
	struct output out = { 0 };
	struct decompress *d;
	struct span block;

	out.rc = decompress_open(&d, compressor, read_block, &in);
	assert(out.rc || d);
	if (out.rc)
		return out;
	while ((out.rc = decompress_next(d, &block)) == 1) {
		for (size_t i = 0; i < block.n; i++)
			out.sum = out.sum * 31 + (uint8_t)block.p[i];
		out.bytes += block.n;
		out.cut = out.bytes > OUTPUT_MAX;
		if (out.cut)
			break;
	}
	out.used = decompress_used(d);
	assert(out.used <= text.n);
	decompress_close(d);
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size);
	const char *compressor = compressors[fuzz_byte(&text) % COMPRESSORS];
	size_t block = 1 + fuzz_byte(&text);
	struct output whole = run(compressor, text, text.n + 1),
		      parts = run(compressor, text, block);

	assert(whole.rc <= 1 && whole.rc != -ENOMEM);
	if (whole.rc || parts.rc || whole.cut || parts.cut)
		return 0;
	assert(whole.bytes == parts.bytes && whole.sum == parts.sum);
	return 0;
}
