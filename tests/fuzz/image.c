/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole images, decompressors included. */
#include "fuzz.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probes/boot/initramfs-image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct arena *arena = fuzz_arena();
	struct initramfs_image image = { 0 };

	if (fd < 0)
		fd = memfd_create("image", 0);
	if (ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	initramfs_read(fd, &image, arena);
	assert(image.complete.value ? is_absent(image.problem) : is_known(image.problem));
	/* Options of an image that was not read whole say themselves that some may be missing. */
	assert(image.complete.value || is_unknown(image.modprobe.options) ||
	       known_is(image.modprobe.complete, false));
	return 0;
}
