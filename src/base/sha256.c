/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sha256.c - SHA-256, which identifies a plan and the files of a transaction. */
#include "base/sha256.h"

#include <errno.h>
#include <gcrypt.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/library.h"
#include "base/memory.h"

#define DIGEST_BYTES 32

#define FUNCTIONS(F)          \
	F(gcry_check_version) \
	F(gcry_control)       \
	F(gcry_md_open)       \
	F(gcry_md_write)      \
	F(gcry_md_read)       \
	F(gcry_md_close)      \
	F(gcry_set_fatalerror_handler)

static struct {
	FUNCTIONS(LIBRARY_SLOT)
} lib;

/* libgcrypt calls this only when memory runs out, and would abort otherwise. */
static void fatal(void *user, int error, const char *text)
{
	(void)user;
	(void)error;
	(void)text;
	memory_need(NULL);
}

/* Secure memory is not needed, because nothing here is secret: gcrypt manual, "Initializing the library". */
int sha256_load(void)
{
	static bool loaded;

	if (loaded)
		return 0;
	if (LIBRARY_LOAD(LIBGCRYPT, FUNCTIONS))
		return -ELIBACC;
	lib.gcry_set_fatalerror_handler(fatal, NULL);
	if (!lib.gcry_check_version(NULL))
		return -ELIBACC;
	lib.gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
	lib.gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
	loaded = true;
	return 0;
}

void sha256_begin(struct sha256 *sha)
{
	gcry_md_hd_t handle = NULL;

	*sha = (struct sha256){ .error = sha256_load() };
	if (sha->error == 0 && lib.gcry_md_open(&handle, GCRY_MD_SHA256, 0))
		sha->error = -ENOMEM;
	sha->handle = handle;
}

void sha256_feed(struct sha256 *sha, const void *bytes, size_t n)
{
	if (!sha->error)
		lib.gcry_md_write(sha->handle, bytes, n);
}

int sha256_end(struct sha256 *sha, char hex[SHA256_HEX])
{
	const unsigned char *digest = NULL;

	hex[0] = '\0';
	if (!sha->error)
		digest = lib.gcry_md_read(sha->handle, GCRY_MD_SHA256);
	for (size_t i = 0; digest && i < DIGEST_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	if (sha->handle)
		lib.gcry_md_close(sha->handle);
	return !sha->error && !digest ? -EIO : sha->error;
}

int sha256_of(const void *bytes, size_t n, char hex[SHA256_HEX])
{
	struct sha256 sha;

	sha256_begin(&sha);
	sha256_feed(&sha, bytes, n);
	return sha256_end(&sha, hex);
}
