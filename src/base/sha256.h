/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sha256.h - SHA-256, which identifies a plan and the files of a transaction. It uses libgcrypt, because libsystemd is
 * linked with it (Debian 12, Ubuntu 22.04, RHEL 9). It opens in a tenth of the time of libcrypto.
 */
#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>

#define SHA256_HEX 65 /* 64 hexadecimal digits and a NUL */
#define SHA256_MISSING "libgcrypt.so.20, which computes the hashes of files, is not installed"

struct sha256 {
	void *handle;
	int error; /* the first one; sha256_end() returns it */
};

/* 0, or -ELIBACC: SHA256_MISSING. */
int sha256_load(void);
/* Each begin needs one end. The end returns 0, or a negative errno and an empty HEX. */
void sha256_begin(struct sha256 *sha);
void sha256_feed(struct sha256 *sha, const void *bytes, size_t n);
int sha256_end(struct sha256 *sha, char hex[SHA256_HEX]);
int sha256_of(const void *bytes, size_t n, char hex[SHA256_HEX]);

#endif
