/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each sink makes of characters that mean something to it, and of those that nothing takes. */
#include "cmocka-all.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/escape.h"
#include "base/exit-status.h"
#include "base/utf8.h"

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

struct row {
	enum sink sink;
	const char *text, *escaped;
};

static void check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_string_equal(escape_string(arena, rows[i].sink, rows[i].text),
				    rows[i].escaped);
}

static void hidden_characters_are_shown(void **state)
{
	static const struct row rows[] = {
		{ SINK_TERMINAL, "mlx5_0 \"a\" <b> \\ | 'c'", "mlx5_0 \"a\" <b> \\ | 'c'" },
		{ SINK_TERMINAL, "a\nb\tc\rd", "a\\nb\\tc\\rd" },
		{ SINK_TERMINAL, "\033[31mred\a\b\177", "\\x1b[31mred\\x07\\x08\\x7f" },
		{ SINK_TERMINAL,
		  "\xc2\x9b"
		  "31m",
		  "\\u009b31m" },
		{ SINK_TERMINAL, "\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xef\xbb\xbf",
		  "\\u202e\\u2066\\u2028\\ufeff" },
		{ SINK_TERMINAL,
		  "n\xc2\xadv \xcd\x8f \xe3\x85\xa4\xef\xb8\x8f\xef\xbe\xa0\xe1\x85\x9f",
		  "n\\u00adv \\u034f \\u3164\\ufe0f\\uffa0\\u115f" },
		{ SINK_TERMINAL, "\xff\xc0\xaf\xe2\x82", "\\xff\\xc0\\xaf\\xe2\\x82" },
		{ SINK_TERMINAL, "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ SINK_TERMINAL,
		  "Gr\xc3\xbc\xc3\x9f"
		  "e \xe2\x82\xac \xf0\x9f\x99\x82",
		  "Gr\xc3\xbc\xc3\x9f"
		  "e \xe2\x82\xac \xf0\x9f\x99\x82" },
		{ SINK_DIFF, "-\ta\033b", "-\ta\\x1bb" },
	};

	(void)state;
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void each_sink_has_its_own(void **state)
{
	static const struct row rows[] = {
		{ SINK_NAGIOS, "a|b\nc", "a/b\\nc" },
		{ SINK_PROMETHEUS, "a\"b\\c\nd\033", "a\\\"b\\\\c\\\\nd\\\\x1b" },
		{ SINK_XML, "<a href='x'>\"&\"\n\033</a>",
		  "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;\\n\\x1b&lt;/a&gt;" },
		{ SINK_XML, "\xef\xbf\xbe\xef\xbf\xbf", "\\ufffe\\uffff" },
		{ SINK_ROFF, "a-b 'c' \\fB `^~\n", "a\\-b \\(aqc\\(aq \\efB \\(ga\\(ha\\(ti\\en" },
		{ SINK_JSON, "{\n \"a\": \"\xc2\x9b\xe2\x80\xae\177\"\n}",
		  "{\n \"a\": \"\\u009b\\u202e\\u007f\"\n}" },
		{ SINK_JSON, "\"\xf3\xa0\x80\x81\"", "\"\\udb40\\udc01\"" },
	};

	(void)state;
	check_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

/* What FORMAT and its values come to. */
#define PRINTED(sink, ...)                                             \
	({                                                             \
		char *text;                                            \
		size_t n;                                              \
		FILE *out = open_memstream(&text, &n);                 \
		int columns = escape_printf(out, (sink), __VA_ARGS__); \
		const char *copy;                                      \
		fclose(out);                                           \
		copy = arena_strdup(arena, text);                      \
		free(text);                                            \
		(void)columns;                                         \
		copy;                                                  \
	})

static void printf_escapes_values_alone(void **state)
{
	(void)state;
	assert_string_equal(PRINTED(SINK_PROMETHEUS, "a{b=\"%s\"} %d\n", "x\"\n", 7),
			    "a{b=\"x\\\"\\\\n\"} 7\n");
	assert_string_equal(PRINTED(SINK_XML, "<t>%s%c</t>", "<", '>'), "<t>&lt;&gt;</t>");
	assert_string_equal(PRINTED(SINK_TERMINAL, "%5s|%-5s|%.2s|%-*s|", "a", "b", "cdef", 3, "g"),
			    "    a|b    |cd|g  |");
	assert_string_equal(PRINTED(SINK_TERMINAL, "%-6s|", "\n"), "\\n    |");
	assert_string_equal(PRINTED(SINK_TERMINAL, "%-3s|", "\xc3\xbc"), "\xc3\xbc  |");
	assert_string_equal(PRINTED(SINK_TERMINAL, "%zu %llu %ld %06x %.1f %5.2f%% %td", (size_t)1,
				    2ull, -3l, 0xabcu, 1.25, 99.5, (ptrdiff_t)-4),
			    "1 2 -3 000abc 1.2 99.50% -4");
	/* A cut is made between characters; a span's length is no cut. */
	assert_string_equal(PRINTED(SINK_TERMINAL, "%.2s|", "a\xe2\x82\xac"), "a|");
	assert_string_equal(PRINTED(SINK_TERMINAL, "%.*s|", 2, "a\xe2\x82\xac"), "a\\xe2|");
}

static void columns_are_those_of_a_terminal(void **state)
{
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	(void)state;
	assert_int_equal(escape_printf(out, SINK_TERMINAL, "\xc3\xbc%s%5s", "\n\xe2\x82\xac", "x"),
			 9);
	assert_int_equal(escape_span(out, SINK_TERMINAL, (struct span){ "a\0b", 3 }), 6);
	fclose(out);
	free(text);
}

static void cuts_are_between_characters(void **state)
{
	static const char text[] = "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x99\x82";
	static const size_t whole[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10 };

	(void)state;
	for (size_t n = 0; n < sizeof(whole) / sizeof(whole[0]); n++)
		assert_int_equal(utf8_cut(text, n), whole[n]);
	assert_int_equal(utf8_cut("\x82\x82\x82\x82\x82", 5), 5);
	assert_int_equal(utf8_cut("\xff", 1), 0);
}

/* What a process that overfills an arena prints. */
static void a_full_arena_says_what_it_had(void **state)
{
	char text[200] = "";
	int ends[2], status;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		arena_alloc(arena_new(1 << 20, "stones"), 2 << 20);
		_exit(0);
	}
	close(ends[1]);
	assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_CANNOT);
	assert_non_null(strstr(text, "more than 1 MiB of stones"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hidden_characters_are_shown),
		cmocka_unit_test(each_sink_has_its_own),
		cmocka_unit_test(printf_escapes_values_alone),
		cmocka_unit_test(columns_are_those_of_a_terminal),
		cmocka_unit_test(cuts_are_between_characters),
		cmocka_unit_test(a_full_arena_says_what_it_had),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
