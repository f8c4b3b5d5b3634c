/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unpack.h - captures and facts files as people send them: compressed. */
#ifndef UNPACK_H
#define UNPACK_H

#include "host/host.h"

/* The format by the first bytes: gzip, xz or zstd; NULL for any other text. */
const char *unpack_format(struct span text);
/* Unpacks TEXT in place. 0; -EFBIG for more than LIMIT bytes, -ETIMEDOUT when it takes until END_US (clock_us(); 0:
 * never), -EBADMSG for a file that is damaged or cut off, -ELIBACC without the library. */
int unpack(struct text *text, const char *format, size_t limit, uint64_t end_us);

#endif
