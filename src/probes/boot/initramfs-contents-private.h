/* SPDX-License-Identifier: GPL-2.0-or-later */
/* initramfs-contents-private.h - what initramfs-contents.c, which keeps parts of an image, and initramfs-finish.c,
 * which makes facts of them, share. */
#ifndef INITRAMFS_CONTENTS_PRIVATE_H
#define INITRAMFS_CONTENTS_PRIVATE_H

#include "probes/boot/initramfs-contents.h"

enum item_kind {
	ITEM_GONE, /* replaced by something that is not kept */
	ITEM_FILE,
	ITEM_LINK,
	ITEM_MODULE,
};

struct contents_item {
	const char *path; /* "/usr/lib/modprobe.d/x.conf": as the archive has it */
	enum item_kind kind;
	bool module_name; /* it is called like a module that this program is about */
	bool known;	  /* body or version has been read */
	const char *body; /* of a file; of a link: where it leads */
	size_t size;
	struct fact_str version;
	/* Hard links: which file this is a name of. */
	bool linked;
	unsigned int archive;
	uint32_t ino, dev_major, dev_minor;
};

/* The item of PATH as it is spelt in the archive, whatever has become of it; or NULL. */
struct contents_item *contents_find(struct contents *c, const char *path);

/* Writes the kernel's name of a module: its file's name without suffixes, with underscores. */
void contents_module_name(const char *base, char name[NAME_MAX + 1]);

#endif
