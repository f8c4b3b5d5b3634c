/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpack.h - compressed captures and facts files. */
#ifndef UNPACK_H
#define UNPACK_H

#include "host/host.h"

/* Returns the format by the first bytes: gzip, xz or zstd; NULL for any other text. */
const char *unpack_format(struct span text);
/* Unpacks TEXT in place. Returns 0; -EFBIG for more than LIMIT bytes; -ETIMEDOUT after END_US (clock_us(); 0: no
 * limit); -EBADMSG for a file that is damaged or cut off; -ELIBACC without the library. */
int unpack(struct text *text, const char *format, size_t limit, uint64_t end_us);

#endif
