/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image.h - an initramfs image, read as the kernel reads it but never as a whole: whatever its
 * size, a few blocks of it are in memory at a time. */
#ifndef IMAGE_H
#define IMAGE_H

#include "facts.h"

#define IMAGE_BYTES_MAX (4ull << 30) /* most bytes that all segments may decompress to */

/* Fills compressors, complete, problem, generator, modules and modprobe from the file FD, which may
 * also be a unified kernel image. Never fails: what cannot be read is in problem. */
void image_read(int fd, struct initramfs_image *image, struct arena *arena);

#endif
