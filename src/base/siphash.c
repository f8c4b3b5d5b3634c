/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * siphash.c - SipHash-2-4 (Aumasson and Bernstein, 2012): with a secret key, the hash of a short text reveals nothing
 * about it, and trying all texts does not help.
 */
#include "base/siphash.h"

#include <string.h>
#include <sys/random.h>

static uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void rounds(uint64_t v[4], int count)
{
	while (count--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void take(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

uint64_t siphash(const uint64_t key[2], const void *data, size_t n)
{
	uint64_t v[4] = { UINT64_C(0x736f6d6570736575) ^ key[0],
			  UINT64_C(0x646f72616e646f6d) ^ key[1],
			  UINT64_C(0x6c7967656e657261) ^ key[0],
			  UINT64_C(0x7465646279746573) ^ key[1] };
	const unsigned char *bytes = data;
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++) {
		word |= (uint64_t)bytes[i] << 8 * (i % 8);
		if (i % 8 == 7) {
			take(v, word);
			word = 0;
		}
	}
	take(v, word | (uint64_t)n << 56);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void siphash_secret(uint64_t key[2])
{
	if (getrandom(key, 2 * sizeof(*key), GRND_NONBLOCK) < 0)
		memset(key, 0, 2 * sizeof(*key));
}
