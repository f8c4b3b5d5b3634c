/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * initramfs-contents.h - keeps a part of an initramfs image while it is read as a stream, and makes facts of it
 * at the end.
 *
 * It keeps every symbolic link, and the names of the modules that this program is about, with their versions. It keeps
 * the bodies of small *.conf files, because a link in modprobe.d may lead to any of them. It also keeps those of small
 * files with several hard links, because the archive has the body under one of their names only.
 */
#ifndef INITRAMFS_CONTENTS_H
#define INITRAMFS_CONTENTS_H

#include "facts/facts.h"
#include "parse/modinfo.h"
#include "parse/newc.h"

#define CONTENTS_BODY_MAX (64u << 10)	 /* of one file */
#define CONTENTS_KEPT_MAX (3u << 20)	 /* of all that is kept, names included */
#define CONTENTS_MODULES_MAX 1024	 /* of those that are listed */
#define CONTENTS_MODULE_MAX (512u << 20) /* of a compressed module, decompressed */

struct contents_item;

struct contents {
	struct arena *arena;
	LIST(struct contents_item) items;
	uint32_t *table;      /* items by path: number + 1, or 0 */
	uint64_t secret[2];   /* of the hash */
	size_t table_size;    /* a power of two */
	size_t kept;	      /* bytes */
	unsigned int archive; /* number of the archive being read */
	const char *generator;
	const char *problem; /* something that hides contents */
	struct modinfo_scan scan;
	void (*each)(void *user, const char *name); /* told every entry's name, or NULL */
	void *each_user;
};

/* ARENA holds what is kept until contents_finish(). */
void contents_begin(struct contents *c, struct arena *arena);
/* Adds one entry, and reads as much of its body as is needed. */
void contents_add(struct contents *c, struct newc *newc, const struct newc_entry *entry);
/* Hard links do not reach from one archive into the next. */
void contents_end_archive(struct contents *c);
/* Fills modules, generator, and, when the image was read whole, modprobe. A problem of the contents
 * ends up in c->problem. */
void contents_finish(struct contents *c, struct initramfs_image *image, struct arena *arena,
		     bool whole);

#endif
