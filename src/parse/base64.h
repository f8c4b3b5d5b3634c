/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base64.h - RFC 4648, section 4, for the bytes in a capture that are not text. */
#ifndef BASE64_H
#define BASE64_H

#include "base/span.h"

/* A new NUL-terminated string, or NULL. */
char *base64_encode(const char *bytes, size_t n);
/* New bytes with a NUL after them, or NULL when TEXT is not base64; the caller frees. */
char *base64_decode(struct span text, size_t *n);

#endif
