/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sha256.h - FIPS 180-4, section 6.2: by what a plan and the files of a transaction are known. */
#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX 65 /* 64 hexadecimal digits and a NUL */

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;
	unsigned char block[64];
};

void sha256_begin(struct sha256 *sha);
void sha256_feed(struct sha256 *sha, const void *bytes, size_t n);
void sha256_end(struct sha256 *sha, char hex[SHA256_HEX]);
void sha256_of(const void *bytes, size_t n, char hex[SHA256_HEX]);

#endif
