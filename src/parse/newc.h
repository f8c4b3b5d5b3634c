/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newc.h - walks cpio archives of the "new" formats 070701 and 070702, as the kernel unpacks them:
 * Documentation/driver-api/early-userspace/buffer-format.rst, init/initramfs.c.
 *
 * The bytes are pulled from a source, so that an archive of any size takes a few pages of memory,
 * be it plain in a file or the output of a decompressor.
 */
#ifndef PARSE_NEWC_H
#define PARSE_NEWC_H

#include <limits.h>

#include "base/span.h"

struct newc_source {
	/* The next bytes, valid until the next call: 1, 0 at the end, or negative errno. */
	int (*read)(void *user, struct span *block);
	/* Passes over up to N bytes without reading them and returns how many that were, also 0;
	 * NULL where nothing can be passed over. */
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
 * Goes to the first header: past zero bytes, which may stand between archives. 1 when there is one,
 * 0 at the end of the source, -EBADMSG when something else follows.
 */
int newc_find(struct newc *newc);

/* The next entry. 1; 0 at the end of the archive, after which newc_find() looks for the next
 * archive; -ENODATA when the bytes end before the archive does, -EBADMSG when they are no
 * header. */
int newc_next(struct newc *newc, struct newc_entry *entry);

/* The next bytes of the entry's body, valid until the next call: 1, 0 at its end, negative errno.
 * What is not asked for is passed over by newc_next(). */
int newc_body(struct newc *newc, struct span *block);

#endif
