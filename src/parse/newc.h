/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newc.h - walks cpio archives of the "new" formats 070701 and 070702, as the kernel unpacks them:
 * Documentation/driver-api/early-userspace/buffer-format.rst, init/initramfs.c. The bytes are pulled from a source, a
 * plain file or a decompressor. So an archive of any size needs a few pages of memory.
 */
#ifndef PARSE_NEWC_H
#define PARSE_NEWC_H

#include <limits.h>

#include "base/span.h"

struct newc_source {
	/* The next bytes, valid until the next call: 1, 0 at the end, or negative errno. */
	int (*read)(void *user, struct span *block);
	/* Skips up to N bytes without reading them and returns their number, also 0. NULL if the source cannot skip. */
	uint64_t (*skip)(void *user, uint64_t n);
	void *user;
};

struct newc_entry {
	char name[PATH_MAX]; /* without "/" and "./" at its beginning */
	uint32_t ino, mode, nlink, size, dev_major, dev_minor;
};

struct newc {
	struct newc_source source;
	struct span block; /* read and not yet used */
	uint64_t at;	   /* bytes used since newc_begin() */
	uint64_t start;	   /* of the archive: padding counts from here */
	uint64_t body_left;
};

void newc_begin(struct newc *newc, const struct newc_source *source);

/*
 * Goes to the first header, past the zero bytes that can be between archives. Returns 1, 0 at the end of the source,
 * -EBADMSG before other bytes.
 */
int newc_find(struct newc *newc);

/* Reads the next entry. Returns 1; 0 at the end of the archive, after which newc_find() searches the next archive;
 * -ENODATA if the bytes end before the archive does; -EBADMSG if they are not a header. */
int newc_next(struct newc *newc, struct newc_entry *entry);

/* Reads the next bytes of the entry's body, valid until the next call. Returns 1, 0 at its end, or a negative errno.
 * newc_next() skips the rest. */
int newc_body(struct newc *newc, struct span *block);

#endif
