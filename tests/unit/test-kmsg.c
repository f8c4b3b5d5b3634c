/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The index of patterns finds what trying one pattern after the other finds. */
#include "cmocka-all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/kmsg.h"

static const struct kmsg_pattern patterns[] = {
	{ "start", "NVRM:", { NULL }, KMSG_ANY },
	{ "start-and-text", "pci ", { ": [10de:" }, KMSG_OF_DEVICE },
	{ "device", NULL, { ": reset done" }, KMSG_OF_DEVICE },
	{ "two", NULL, { "abcabcabc", "cab" }, KMSG_OF_DEVICE },
	{ "module", NULL, { ": version magic '", "' should be '" }, KMSG_OF_MODULE },
	{ "number", "NVRM: Xid (", { NULL }, KMSG_NUMBERED },
};
#define PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

static const struct kmsg_pattern *find_slowly(const struct kmsg_pattern *all, size_t count,
					      struct span text)
{
	uint64_t number;

	for (size_t i = 0; i < count; i++) {
		struct kmsg_message message = { .text = text };

		if (kmsg_matches(&all[i], &message, &number))
			return &all[i];
	}
	return NULL;
}

/* The copy ends where the message does, so that a sanitizer sees what reads on. */
static const struct kmsg_pattern *find(const struct kmsg_pattern *all, size_t count,
				       const char *text, size_t n)
{
	struct kmsg_index index;
	char *copy = malloc(n ? n : 1);
	struct kmsg_message message = { .text = { copy, n } };
	const struct kmsg_pattern *found;
	uint64_t number;

	memcpy(copy, text, n);
	kmsg_index_begin(&index, all, count);
	found = kmsg_index_find(&index, &message, &number);
	assert_ptr_equal(found, find_slowly(all, count, (struct span){ copy, n }));
	free(copy);
	return found;
}

static void test_at_each_place(void **state)
{
	static const char needle[] = ": reset done";
	char text[128];

	(void)state;
	for (size_t fill = 0; fill < 60; fill++) {
		int n = snprintf(text, sizeof(text), "nvme 0000:1b:00.0: %.*s%s.", (int)fill,
				 "abcabcabdabcabdabcabdabdabcabcabdabcabdabcabdabdabcabcabdabcabd",
				 needle);

		assert_string_equal(find(patterns, PATTERNS, text, (size_t)n)->name, "device");
		/* Without its last byte it is not there. */
		assert_null(find(patterns, PATTERNS, text, (size_t)n - 2));
	}
}

static void test_first_counts(void **state)
{
	static const char *const texts[][2] = {
		{ "NVRM: Xid (PCI:0000:1b:00): 79, pid=1", "start" },
		{ "pci 0000:1b:00.0: [10de:2335] type 00: reset done", "start-and-text" },
		{ "pci 0000:1b:00.0: [8086:2335] type 00: reset done", "device" },
		{ "nvidia: version magic 'a' should be 'b'", "module" },
		{ "snd: version magic 'a' should be 'b'", NULL },
		{ "nvidia: abcabcabc cab", NULL },
		{ "nvidia 0000:1b:00.0: abcabcabc cab", "two" },
		{ "", NULL },
		{ "ab", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct kmsg_pattern *found = find(patterns, PATTERNS, texts[i][0],
							strlen(texts[i][0]));

		if (texts[i][1])
			assert_string_equal(found->name, texts[i][1]);
		else
			assert_null(found);
	}
}

/* Texts of a few letters are in each other's way most. */
static void test_random(void **state)
{
	uint32_t seed = 1;
	size_t matches = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char needles[4][12] = { 0 }, text[64] = "nvidia 0000:1b:00.0: ";
		struct kmsg_pattern random[4] = { 0 };
		size_t n = strlen(text);

		for (size_t i = 0; i < 4; i++) {
			seed = seed * 1664525 + 1013904223;
			for (size_t k = 0; k < 2 + (seed >> 20) % 8; k++)
				needles[i][k] = (char)('a' + (seed >> (8 + k)) % 2);
			random[i] = (struct kmsg_pattern){
				"random", NULL, { needles[i] }, KMSG_OF_DEVICE
			};
		}
		while (n < 60) {
			seed = seed * 1664525 + 1013904223;
			text[n++] = (char)('a' + (seed >> 24) % 2);
		}
		matches += find(random, 1 + (seed >> 16) % 4, text, n) != NULL;
	}
	assert_in_range(matches, 1000, 19999);
}

/* A name of a process has up to 15 bytes, "[PID]: segfault" behind it. */
static void test_banner(void **state)
{
	static const struct {
		const char *line;
		bool is_first;
	} rows[] = {
		{ "<5>[    0.000000] Linux version 6.8.0-45-generic (buildd@lcy02) (gcc 13) #45 SMP",
		  true },
		{ "<6>[ 5000.000000] Linux version 6.8.0-45-generic (buildd@lcy02) (gcc 13) #45 SMP",
		  false },
		{ "<6>[ 5000.000000] Linux version 6[2000]: segfault at 0 ip 0 sp 0 error 4",
		  false },
		{ "<6>[    0.500000] Linux version 6[2000]: segfault at 0 ip 0 sp 0 error 4",
		  false },
		{ "<6>Linux version 6.8.0-45-generic (buildd@lcy02) (gcc 13) #45 SMP", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kmsg_line line;

		assert_true(kmsg_line_parse(span_of(rows[i].line), false, &line));
		assert_int_equal(kmsg_is_first(&line), rows[i].is_first);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_each_place),
		cmocka_unit_test(test_first_counts),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_banner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
