/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sha256.h"

#include <string.h>

/* FIPS 180-4, 4.2.2 */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2
};

static uint32_t rotate(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

static uint32_t big_endian(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void expand(const unsigned char *block, uint32_t w[64])
{
	for (int i = 0; i < 16; i++)
		w[i] = big_endian(block + 4 * i);
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
}

/* s[0] to s[7] are the a to h of the standard. */
static void mix(struct sha256 *sha, const unsigned char *block)
{
	uint32_t w[64], s[8];

	expand(block, w);
	memcpy(s, sha->state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t e = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
		uint32_t a = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
		uint32_t t1 = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
		uint32_t t2 = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		sha->state[i] += s[i];
}

void sha256_begin(struct sha256 *sha)
{
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(sha->state, start, sizeof(start));
	sha->bytes = 0;
}

void sha256_feed(struct sha256 *sha, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	size_t filled = (size_t)(sha->bytes % 64);

	sha->bytes += n;
	while (filled + n >= 64) {
		size_t part = 64 - filled;

		if (filled == 0) {
			mix(sha, p);
		} else {
			memcpy(sha->block + filled, p, part);
			mix(sha, sha->block);
		}
		p += part;
		n -= part;
		filled = 0;
	}
	if (n)
		memcpy(sha->block + filled, p, n);
}

void sha256_end(struct sha256 *sha, char hex[SHA256_HEX])
{
	static const unsigned char padding[64] = { 0x80 };
	static const char digits[] = "0123456789abcdef";
	unsigned char length[8];
	uint64_t bits = sha->bytes * 8;

	sha256_feed(sha, padding, 1 + (size_t)((119 - sha->bytes % 64) % 64));
	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256_feed(sha, length, 8);
	for (int i = 0; i < 64; i++)
		hex[i] = digits[sha->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
	hex[64] = '\0';
}

void sha256_of(const void *bytes, size_t n, char hex[SHA256_HEX])
{
	struct sha256 sha;

	sha256_begin(&sha);
	sha256_feed(&sha, bytes, n);
	sha256_end(&sha, hex);
}
