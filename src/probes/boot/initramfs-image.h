/* SPDX-License-Identifier: GPL-2.0-or-later */
/* initramfs-image.h - an initramfs image, read as the kernel reads it but never as a whole: whatever its
 * size, a few blocks of it are in memory at a time. */
#ifndef INITRAMFS_IMAGE_H
#define INITRAMFS_IMAGE_H

#include "facts/facts.h"

#define INITRAMFS_BYTES_MAX (4ull << 30) /* most bytes that all segments may decompress to */

/* Fills compressors, complete, problem, generator, modules and modprobe from the file FD, which may
 * also be a unified kernel image. Never fails: what cannot be read is in problem. */
void initramfs_read(int fd, struct initramfs_image *image, struct arena *arena);

/* Like initramfs_read(), and calls ENTRY for every name in the image, unchanged but without a "/" at its
 * beginning. */
typedef void initramfs_entry(void *user, const char *name);
void initramfs_read_each(int fd, struct initramfs_image *image, struct arena *arena,
			 initramfs_entry *entry, void *user);

#endif
