/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpack.c - compressed captures and facts files. */
#include "cli/unpack.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "probes/boot/initramfs-decompress.h"

/* RFC 1952, 2.3.1; The .xz File Format 1.2.1, 2.1.1.1; RFC 8878, 3.1.1 */
static const struct {
	const char *format;
	struct span magic;
} formats[] = {
	{ "gzip", { "\x1f\x8b", 2 } },
	{ "xz",
	  { "\xfd"
	    "7zXZ\0",
	    6 } },
	{ "zstd", { "\x28\xb5\x2f\xfd", 4 } },
};

/* RFC 8878, 3.1.2: the first byte can have any low four bits. */
static bool is_skippable_frame(struct span text)
{
	return text.n >= 4 && ((unsigned char)*text.p & 0xf0) == 0x50 &&
	       memcmp(text.p + 1, "\x2a\x4d\x18", 3) == 0;
}

const char *unpack_format(struct span text)
{
	if (is_skippable_frame(text))
		return formats[ARRAY_SIZE(formats) - 1].format; /* zstd */
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (text.n >= formats[i].magic.n &&
		    memcmp(text.p, formats[i].magic.p, formats[i].magic.n) == 0)
			return formats[i].format;
	return NULL;
}

/* Hands the rest of the file to the decompressor as one block. */
static int unpack_take(void *user, struct span *block)
{
	struct span *rest = user;

	*block = *rest;
	*rest = (struct span){ rest->p + rest->n, 0 };
	return block->n > 0;
}

static int unpack_append(struct text *out, size_t *room, struct span block, size_t limit)
{
	if (block.n > limit - out->size)
		return -EFBIG;
	while (out->size + block.n >= *room) {
		char *more = realloc(out->data, *room * 2);

		if (!more)
			return -ENOMEM;
		out->data = more;
		*room *= 2;
	}
	memcpy(out->data + out->size, block.p, block.n);
	out->size += block.n;
	out->data[out->size] = '\0';
	return 0;
}

/* Unpacks one stream and sets REST to the bytes after it. */
static int unpack_stream(struct span *rest, const char *format, struct text *out, size_t *room,
			 size_t limit, uint64_t end_us)
{
	struct span left = *rest, block;
	struct decompress *d = NULL;
	int rc = decompress_open(&d, format, unpack_take, &left);

	if (rc)
		return rc;
	while ((rc = decompress_next(d, &block)) > 0) {
		rc = clock_has_passed(end_us) ? -ETIMEDOUT : unpack_append(out, room, block, limit);
		if (rc)
			break;
	}
	if (rc == 0) {
		uint64_t used = decompress_used(d);

		if (used == 0 || used > rest->n)
			used = rest->n;
		*rest = (struct span){ rest->p + used, rest->n - used };
	}
	decompress_close(d);
	return rc;
}

int unpack(struct text *text, const char *format, size_t limit, uint64_t end_us)
{
	struct span rest = text_span(text);
	size_t room = text->size * 4 + 65536;
	struct text out = { .data = malloc(room) };
	int rc = out.data ? 0 : -ENOMEM;

	if (rc == 0)
		out.data[0] = '\0';
	/* Concatenated files unpack to their concatenated texts. */
	while (rc == 0 && rest.n) {
		const char *own = unpack_format(rest);

		rc = clock_has_passed(end_us) ? -ETIMEDOUT
		     : own && strcmp(own, format) == 0
			     ? unpack_stream(&rest, format, &out, &room, limit, end_us)
			     : -EBADMSG;
	}
	if (rc) {
		free(out.data);
		return rc;
	}
	free(text->data);
	*text = out;
	return 0;
}
