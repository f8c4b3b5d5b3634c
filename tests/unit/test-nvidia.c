/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the NVIDIA driver shows and takes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmocka-all.h"
#include "parse/nvidia.h"
#include "parse/version.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_versions(void **state)
{
	static const struct {
		const char *a, *b;
		int order;
	} rows[] = {
		{ "580.9", "580.82.07", -1 },
		{ "580.82.07", "580.82.7", 0 },
		{ "580.82", "580.82.0", 0 },
		{ "580.82", "580.82.1", -1 },
		{ "3.3.9", "3.3.20", -1 },
		{ "3.4.5", "3.3.20", 1 },
		{ "510.40.3", "510.39.01", 1 },
		{ "1.2", "1.2", 0 },
		{ "", "", 0 },
		{ "", "0", 0 },
		{ "", "1", -1 },
		{ "2.27.3-1", "2.27.3", 1 },
		{ "10", "9", 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int there = version_compare(rows[i].a, rows[i].b);
		int back = version_compare(rows[i].b, rows[i].a);

		if ((there > 0) - (there < 0) != rows[i].order || there != -back)
			fail_msg("'%s' and '%s': %d, %d", rows[i].a, rows[i].b, there, back);
	}
}

static void test_registry(void **state)
{
	struct span rest = span_of("A=1; B = 0x11 ;;C=010;D;E=;F=1=2;G=x;'H=1;I=\"2\";");
	static const struct {
		const char *key;
		uint64_t number;
		bool skipped, problem;
	} wanted[] = {
		{ "A", 1, false, false }, { "B", 0x11, false, false }, { "C", 8, false, false },
		{ "D", 0, true, true },	  { "E", 0, true, true },      { "F", 0, true, true },
		{ "G", 0, false, true },  { "'H", 0, false, true },    { "I", 0, false, true },
	};
	struct registry_entry entry;

	(void)state;
	for (size_t i = 0; i < COUNT(wanted); i++) {
		assert_true(registry_next(&rest, &entry));
		if (!span_is(entry.key, wanted[i].key) || entry.skipped != wanted[i].skipped ||
		    !entry.problem == wanted[i].problem ||
		    (!entry.problem && entry.number != wanted[i].number))
			fail_msg("entry %zu: '%.*s'", i, SPAN_FMT(entry.text));
	}
	assert_false(registry_next(&rest, &entry));
}

static void test_registry_find(void **state)
{
	struct registry_entry entry;

	(void)state;
	assert_true(
		registry_find(span_of("PeerMappingOverride=1;"), "PeerMappingOverride", &entry));
	assert_int_equal(entry.number, 1);
	/* Keys of the registry are compared without regard to case; the last one counts. */
	assert_true(registry_find(span_of("x=1;peermappingoverride=0;PEERMAPPINGOVERRIDE=2"),
				  "PeerMappingOverride", &entry));
	assert_int_equal(entry.number, 2);
	assert_false(registry_find(span_of("PeerMappingOverride"), "PeerMappingOverride", &entry));
	assert_false(
		registry_find(span_of("PeerMappingOverrides=1"), "PeerMappingOverride", &entry));
	assert_false(registry_find(span_of(""), "PeerMappingOverride", &entry));
}

static void test_banner(void **state)
{
	struct nvidia_banner banner;

	(void)state;
	assert_int_equal(nvidia_banner_parse(span_of("NVRM version: NVIDIA UNIX Open Kernel Module "
						     "for x86_64  580.159.04  Release "
						     "Build  (user@host)  Fri May 31 09:24:30 UTC "
						     "2024\nGCC version: 12\n"),
					     &banner),
			 0);
	assert_true(banner.open && span_is(banner.version, "580.159.04"));
	assert_true(span_is(banner.builder, "user@host"));
	assert_int_equal(nvidia_banner_parse(span_of("NVRM version: NVIDIA UNIX x86_64 Kernel "
						     "Module  535.161.08  Tue Feb 27 22:06:54 "
						     "UTC 2024"),
					     &banner),
			 0);
	assert_true(!banner.open && span_is(banner.version, "535.161.08") && !banner.builder.n);
	assert_int_equal(nvidia_banner_parse(span_of("NVRM version: NVIDIA UNIX Open Kernel Module "
						     "for aarch64  565.57.01  Release "
						     "Build  (a@b)"),
					     &banner),
			 0);
	assert_true(banner.open && span_is(banner.version, "565.57.01"));
	assert_int_equal(nvidia_banner_parse(span_of(""), &banner), -EINVAL);
	assert_int_equal(nvidia_banner_parse(span_of("NVRM version: none"), &banner), -EINVAL);
	assert_int_equal(nvidia_banner_parse(span_of("GCC version: 12.2.0"), &banner), -EINVAL);
}

struct seen {
	size_t count;
	char text[256];
};

static void see(void *user, struct span name, struct span value, size_t line)
{
	struct seen *seen = user;
	size_t n = strlen(seen->text);

	seen->count++;
	snprintf(seen->text + n, sizeof(seen->text) - n, "%zu %.*s=%.*s|", line, SPAN_FMT(name),
		 SPAN_FMT(value));
}

static void test_params(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(nvidia_params_parse(span_of("A: 1\nB: \"x=1;\"\n\nC: \"\"\nD: \"\nE:\n"),
					     see, &seen),
			 0);
	assert_string_equal(seen.text, "1 A=1|2 B=x=1;|4 C=|5 D=\"|6 E=|");
	seen = (struct seen){ 0 };
	assert_int_equal(nvidia_params_parse(span_of("A: 1\nno\ntwo words: 1\nB: 2"), see, &seen),
			 2);
	assert_string_equal(seen.text, "1 A=1|4 B=2|");
	assert_int_equal(nvidia_params_parse(span_of(": 1"), see, &seen), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),      cmocka_unit_test(test_registry),
		cmocka_unit_test(test_registry_find), cmocka_unit_test(test_banner),
		cmocka_unit_test(test_params),
	};

	return cmocka_run_group_tests_name("nvidia", tests, NULL, NULL);
}
