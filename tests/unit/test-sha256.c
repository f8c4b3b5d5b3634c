/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test-sha256.c - the vectors of FIPS 180-4's examples, and every length round a block's end. */
#include "cmocka-all.h"

#include <string.h>

#include "sha256.h"

static void examples(void **state)
{
	char hex[SHA256_HEX];

	(void)state;
	sha256_of("", 0, hex);
	assert_string_equal(hex,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_of("abc", 3, hex);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex);
	assert_string_equal(hex,
			    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void million(void **state)
{
	char block[1000], hex[SHA256_HEX];
	struct sha256 sha;

	(void)state;
	memset(block, 'a', sizeof(block));
	sha256_begin(&sha);
	for (int i = 0; i < 1000; i++)
		sha256_feed(&sha, block, sizeof(block));
	sha256_end(&sha, hex);
	assert_string_equal(hex,
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* In pieces it is the same as at once. */
static void pieces(void **state)
{
	char text[200], whole[SHA256_HEX], hex[SHA256_HEX];
	struct sha256 sha;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7);
	for (size_t n = 0; n <= sizeof(text); n++) {
		sha256_of(text, n, whole);
		for (size_t cut = 0; cut <= n; cut++) {
			sha256_begin(&sha);
			sha256_feed(&sha, text, cut);
			sha256_feed(&sha, text + cut, n - cut);
			sha256_end(&sha, hex);
			assert_string_equal(hex, whole);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples),
		cmocka_unit_test(million),
		cmocka_unit_test(pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
