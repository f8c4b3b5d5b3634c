/* SPDX-License-Identifier: GPL-2.0-or-later */
/* siphash.h - SipHash-2-4 (Aumasson and Bernstein, 2012): with a secret key, the hash of a short
 * text reveals nothing about it, and trying all texts does not help. */
#ifndef SIPHASH_H
#define SIPHASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *data, size_t n);

/* Fills KEY for a table of texts that others choose: without it, they could choose texts that all have one place. */
void siphash_secret(uint64_t key[2]);

#endif
