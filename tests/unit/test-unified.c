/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A unified diff, put to the text before, gives the text after; kernel command lines in the
 * forms that they are written in. */
#include "cmocka-all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "fixes/cmdline-edit.h"
#include "fixes/unified.h"

static struct arena *arena;

static int set_up(void **state)
{
	(void)state;
	arena = arena_new(ARENA_BYTES, "facts");
	return arena ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

/* What patch(1) would make of BEFORE: context and removed lines are held against it. */
static const char *patched(const char *before, struct span diff)
{
	const char *at = before;
	char *out = arena_alloc(arena, strlen(before) + diff.n + 1);
	size_t n = 0, line_number = 1;
	struct span line;
	char last = ' ';

	while (span_cut(&diff, '\n', &line)) {
		char mark = line.n ? line.p[0] : '\0';

		if (span_starts(line, "--- ") || span_starts(line, "+++ "))
			continue;
		if (mark == '@') {
			size_t first = strtoul(line.p + strlen("@@ -"), NULL, 10);

			/* A range of no lines is named by the one before it. */
			if (strstr(line.p, ",0 +") && strstr(line.p, ",0 +") < line.p + line.n)
				first++;
			for (; line_number < first; line_number++) {
				size_t length = strcspn(at, "\n") + 1;

				memcpy(out + n, at, length);
				n += length;
				at += length;
			}
			continue;
		}
		if (mark == '\\') { /* the line above, where it is one of the text after */
			n -= last != '-';
			continue;
		}
		last = mark;
		if (mark != '+') {
			assert_memory_equal(at, line.p + 1, line.n - 1);
			at += line.n - 1;
			at += *at == '\n';
			line_number++;
		}
		if (mark != '-') {
			memcpy(out + n, line.p + 1, line.n - 1);
			n += line.n - 1;
			out[n++] = '\n';
		}
	}
	memcpy(out + n, at, strlen(at) + 1);
	return out;
}

static const char *diff_of(const char *before, const char *after)
{
	return unified_diff(arena, "/x", span_of(before), span_of(after));
}

static void test_forms(void **state)
{
	(void)state;
	assert_string_equal(diff_of("a\n", "a\n"), "");
	assert_string_equal(diff_of("a\nb\nc\n", "a\nB\nc\n"),
			    "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
	assert_string_equal(diff_of("a", "a\n"), "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n"
						 "\\ No newline at end of file\n+a\n");
	assert_string_equal(unified_diff(arena, "/x", (struct span){ NULL, 0 }, span_of("a\n")),
			    "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
	assert_string_equal(unified_diff(arena, "/x", span_of("a\n"), (struct span){ NULL, 0 }),
			    "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
	/* Seven lines apart: two hunks; six: one. */
	assert_string_equal(diff_of("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n"),
			    "--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n"
			    "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
	assert_string_equal(
		diff_of("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n"),
		"--- a/x\n+++ b/x\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n"
		"+B\n");
}

/* Texts of few different lines, so that much of them is alike. */
static const char *random_text(unsigned int *seed)
{
	size_t lines = (size_t)rand_r(seed) % 24, n = 0;
	char *text = arena_alloc(arena, 2 * lines + 1);

	for (size_t i = 0; i < lines; i++) {
		text[n++] = (char)('a' + rand_r(seed) % 4);
		text[n++] = '\n';
	}
	if (n && rand_r(seed) % 4 == 0)
		n--; /* the last line is not ended */
	text[n] = '\0';
	return text;
}

static void test_patch_gives_the_text_after(void **state)
{
	unsigned int seed = 1;

	(void)state;
	for (size_t i = 0; i < 20000; i++) {
		const char *before = random_text(&seed), *after = random_text(&seed);

		assert_string_equal(patched(before, span_of(diff_of(before, after))), after);
		if (i % 1000 == 0)
			arena_reset(arena);
	}
}

static void test_command_lines(void **state)
{
	static const struct {
		const char *line;
		enum cmdline_form form;
		const char *old, *new, *wanted;
	} cases[] = {
		{ "quiet", CMDLINE_PLAIN, NULL, "iommu=pt", "quiet iommu=pt" },
		{ "", CMDLINE_PLAIN, NULL, "iommu=pt", "iommu=pt" },
		{ "options ro quiet  ", CMDLINE_ENTRY, NULL, "a=b", "options ro quiet a=b  " },
		{ "X=\"\"", CMDLINE_SHELL, NULL, "a=b", "X=\"a=b\"" },
		{ "X='q'", CMDLINE_SHELL, NULL, "a=b", "X='q a=b'" },
		{ "X=\"q\"", CMDLINE_SHELL, NULL, "a=b;c", "X=\"q \\\"a=b;c\\\"\"" },
		{ "X='q'", CMDLINE_SHELL, NULL, "a=b;c", "X='q \"a=b;c\"'" },
		{ "X=\"a\" # b", CMDLINE_SHELL, NULL, "c", NULL },
		{ "X=$(cmd)", CMDLINE_SHELL, NULL, "c", NULL },
		{ "X=\"", CMDLINE_SHELL, NULL, "c", NULL },
		{ "X=", CMDLINE_SHELL, NULL, "c", NULL },
		{ "a pci=noacs b", CMDLINE_PLAIN, "pci=noacs", NULL, "a b" },
		{ "pci=noacs b", CMDLINE_PLAIN, "pci=noacs", NULL, "b" },
		{ "X=\"pci=noacs\"", CMDLINE_SHELL, "pci=noacs", NULL, "X=\"\"" },
		{ "pci=noacs,x", CMDLINE_PLAIN, "pci=noacs", NULL, NULL },
		{ "X=\"pci=a\"", CMDLINE_SHELL, "pci=a", "pci=a,b;c", "X=\"\\\"pci=a,b;c\\\"\"" },
		{ "X=\"\\\"p=a;b\\\"\"", CMDLINE_SHELL, "p=a;b", "p=a;b;c",
		  "X=\"\\\"p=a;b;c\\\"\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *got = cmdline_edit(arena, span_of(cases[i].line), cases[i].form,
					       cases[i].old, cases[i].new);

		if (cases[i].wanted)
			assert_string_equal(got, cases[i].wanted);
		else
			assert_null(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_patch_gives_the_text_after),
		cmocka_unit_test(test_command_lines),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
