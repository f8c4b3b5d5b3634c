/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spans, numbers, values of a module's parameters, text in UTF-8 and base64. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/span.h"
#include "base/utf8.h"
#include "cmocka-all.h"
#include "parse/base64.h"
#include "parse/param-value.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		int base;
		int rc;
		uint64_t value;
	} rows[] = {
		{ "0", 10, 0, 0 },
		{ "42", 10, 0, 42 },
		{ "007", 10, 0, 7 },
		{ "18446744073709551615", 10, 0, UINT64_MAX },
		{ "18446744073709551616", 10, -ERANGE, 0 },
		{ "99999999999999999999", 10, -ERANGE, 0 },
		{ "", 10, -EINVAL, 0 },
		{ " 1", 10, -EINVAL, 0 },
		{ "1 ", 10, -EINVAL, 0 },
		{ "-1", 10, -EINVAL, 0 },
		{ "+1", 10, -EINVAL, 0 },
		{ "1.5", 10, -EINVAL, 0 },
		{ "0x10", 10, -EINVAL, 0 },
		{ "1f", 10, -EINVAL, 0 },
		{ "1f", 16, 0, 31 },
		{ "0x1F", 16, 0, 31 },
		{ "ffffffffffffffff", 16, 0, UINT64_MAX },
		{ "10000000000000000", 16, -ERANGE, 0 },
		{ "0x", 16, -EINVAL, 0 },
		{ "g", 16, -EINVAL, 0 },
		{ "0x10", 0, 0, 16 },
		{ "0X10", 0, 0, 16 },
		{ "010", 0, 0, 8 },
		{ "10", 0, 0, 10 },
		{ "0", 0, 0, 0 },
		{ "08", 0, -EINVAL, 0 },
		{ "0x", 0, -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t value = 7;
		int rc = span_u64(span_of(rows[i].text), rows[i].base, &value);

		if (rc != rows[i].rc || (!rc && value != rows[i].value))
			fail_msg("'%s' in base %d: %d, %llu", rows[i].text, rows[i].base, rc,
				 (unsigned long long)value);
	}
}

static void test_values(void **state)
{
	static const struct {
		const char *type, *value;
		bool taken;
	} rows[] = {
		{ "int", "1", true },
		{ "int", "-1", true },
		{ "int", "+1", true },
		{ "int", "0x1F", true },
		{ "int", "017", true },
		{ "int", "08", false },
		{ "int", "", false },
		{ "int", "-", false },
		{ "int", "1 ", false },
		{ "int", "1\n", true },
		{ "int", "Y", false },
		{ "int", NULL, false },
		{ "int", "2147483647", true },
		{ "int", "2147483648", false },
		{ "int", "-2147483648", true },
		{ "int", "-2147483649", false },
		{ "int", "0xffffffff", false },
		{ "uint", "0xffffffff", true },
		{ "uint", "-1", false },
		{ "uint", "4294967296", false },
		{ "byte", "255", true },
		{ "byte", "256", false },
		{ "short", "-32768", true },
		{ "short", "32768", false },
		{ "long", "-9223372036854775808", true },
		{ "long", "9223372036854775808", false },
		{ "ulong", "18446744073709551615", true },
		{ "ulong", "18446744073709551616", false },
		{ "bool", "y", true },
		{ "bool", "on", true },
		{ "bool", "off", true },
		{ "bool", "o", false },
		{ "bool", "2", false },
		{ "bool", "", false },
		{ "bool", NULL, true },
		{ "bint", NULL, true },
		{ "invbool", NULL, false },
		{ "charp", "", true },
		{ "charp", NULL, false },
		{ "array of int", "1,-2,0x3", true },
		{ "array of int", "", false },
		{ "array of int", "1,", false },
		{ "array of int", "1,a", false },
		{ "array of charp", "a,b", true },
		{ "something else", "1", true },
		{ "something else", NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!param_refuses(rows[i].type, rows[i].value) != rows[i].taken)
			fail_msg("%s of %s", rows[i].value ? rows[i].value : "nothing",
				 rows[i].type);
}

static void test_cut(void **state)
{
	struct span rest = span_of("a,,b"), piece;

	(void)state;
	assert_true(span_cut(&rest, ',', &piece) && span_is(piece, "a"));
	assert_true(span_cut(&rest, ',', &piece) && piece.n == 0);
	assert_true(span_cut(&rest, ',', &piece) && span_is(piece, "b"));
	assert_false(span_cut(&rest, ',', &piece));
	assert_false(span_cut(&rest, ',', &piece));
	rest = span_of("");
	assert_false(span_cut(&rest, ',', &piece));
}

static void test_words(void **state)
{
	struct span rest = span_of(" \t one\n\ntwo  "), word;

	(void)state;
	assert_true(span_word(&rest, &word) && span_is(word, "one"));
	assert_true(span_word(&rest, &word) && span_is(word, "two"));
	assert_false(span_word(&rest, &word));
}

static void test_ends(void **state)
{
	(void)state;
	assert_true(span_is(span_trim(span_of(" \r\n x y\t")), "x y"));
	assert_int_equal(span_trim(span_of("  ")).n, 0);
	assert_true(span_starts(span_of("abc"), "ab") && span_starts(span_of("abc"), ""));
	assert_false(span_starts(span_of("a"), "ab"));
	assert_true(span_ends(span_of("x.conf"), ".conf"));
	assert_false(span_ends(span_of("conf"), ".conf"));
	assert_int_equal(span_find(span_of("abc"), 'c'), 2);
	assert_int_equal(span_find(span_of("abc"), 'x'), 3);
	assert_int_equal(span_find((struct span){ "abc", 2 }, 'c'), 2);
}

static void check_clean(const char *bytes, size_t n, const char *wanted)
{
	char out[64];

	assert_int_equal(utf8_clean_size(bytes, n), strlen(wanted) + 1);
	utf8_clean(out, bytes, n);
	assert_string_equal(out, wanted);
}

#define CLEAN(bytes, wanted) check_clean(bytes, sizeof(bytes) - 1, wanted)
#define R "\xef\xbf\xbd"

static void test_utf8(void **state)
{
	(void)state;
	CLEAN("", "");
	CLEAN("plain", "plain");
	CLEAN("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
	CLEAN("\xff\xfe", R R);
	CLEAN("a\0b", "a" R "b");
	CLEAN("\xc3", R); /* cut short */
	CLEAN("\xe2\x82", R R);
	CLEAN("\xc0\x80", R R); /* not the shortest form */
	CLEAN("\xe0\x80\x80", R R R);
	CLEAN("\xed\xa0\x80", R R R);	    /* a surrogate */
	CLEAN("\xf4\x90\x80\x80", R R R R); /* above U+10FFFF */
	CLEAN("\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf");
	CLEAN("\xc3(", R "(");
}

/* Each length, and at each place each byte at which it matters: several bytes are looked at together. */
static void test_plain(void **state)
{
	static const unsigned char bytes[] = { 0, 1, 0x7f, 0x80, 0x81, 0xff };
	char text[40];

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++) {
		for (unsigned int around = 1; around < 0x80; around += 0x7e) {
			memset(text, (int)around, sizeof(text));
			assert_true(utf8_is_plain(text, n));
			for (size_t i = 0; i < n; i++)
				for (size_t b = 0; b < COUNT(bytes); b++) {
					text[i] = (char)bytes[b];
					assert_int_equal(utf8_is_plain(text, n),
							 bytes[b] > 0 && bytes[b] < 0x80);
					text[i] = (char)around;
				}
		}
	}
}

/* The flag of VmFlags (proc_pid_smaps(5)) for memory of which the kernel makes no huge page. */
static bool has_small_pages(const void *memory)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	unsigned long start, end, at = (unsigned long)memory;
	char line[512];
	bool inside = false, small = false;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			inside = at >= start && at < end;
		if (inside && strncmp(line, "VmFlags:", 8) == 0)
			small = strstr(line, " nh");
	}
	fclose(file);
	return small;
}

static void test_arena_pages(void **state)
{
	struct arena *arena = arena_new(64 << 20, "pages");

	(void)state;
	assert_non_null(arena);
	if (access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0) {
		assert_true(has_small_pages(arena));
		assert_false(has_small_pages((char *)arena + (32 << 20)));
	}
	arena_free(arena);
	arena = arena_new(4096, "one page");
	assert_non_null(arena);
	arena_free(arena);
}

static void test_base64(void **state)
{
	/* RFC 4648, section 10. */
	static const char *const pairs[][2] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		char *text = base64_encode(pairs[i][0], strlen(pairs[i][0]));
		size_t n;
		char *bytes = base64_decode(span_of(pairs[i][1]), &n);

		assert_string_equal(text, pairs[i][1]);
		assert_int_equal(n, strlen(pairs[i][0]));
		assert_memory_equal(bytes, pairs[i][0], n + 1);
		free(text);
		free(bytes);
	}
}

static void test_base64_of_any_bytes(void **state)
{
	char bytes[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	for (size_t size = 0; size <= sizeof(bytes); size++) {
		size_t n;
		char *text = base64_encode(bytes, size);
		char *back = base64_decode(span_of(text), &n);

		assert_int_equal(n, size);
		assert_memory_equal(back, bytes, size);
		free(text);
		free(back);
	}
}

static void test_base64_that_is_none(void **state)
{
	static const char *const wrong[] = { "A",    "AA",   "AAA",	 "AA=",	   "AA=A", "====",
					     "A===", "!!!!", "AA==AAAA", "AAAA\n", "AA A" };

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		size_t n;
		char *bytes = base64_decode(span_of(wrong[i]), &n);

		if (bytes)
			fail_msg("'%s' was taken", wrong[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_arena_pages),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_base64_of_any_bytes),
		cmocka_unit_test(test_base64_that_is_none),
	};

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
