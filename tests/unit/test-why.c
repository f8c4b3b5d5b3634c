/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of messages: each row matches a line that is made of it, and is the one that counts there; each rule that a
 * row names exists. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "evaluate/rule.h"
#include "why/scan.h"

#include "cmocka-all.h"

/* A variable in the middle is "7", as a number or a word could be. */
static size_t make_line(const struct message *m, char line[4096], const char *value)
{
	size_t n = (size_t)sprintf(line, "gpu01:12:34 [0] ");

	for (size_t i = 0; i < m->parts_count; i++)
		n += (size_t)sprintf(line + n, "%s%s", m->parts[i].text,
				     m->parts[i].variable ? value : "");
	return n;
}

static const struct message *best_of(const struct message_match *matches, size_t count)
{
	const struct message *best = NULL;

	for (size_t i = 0; i < count; i++)
		if (!best || matches[i].message->fixed > best->fixed)
			best = matches[i].message;
	return best;
}

static void check_rows(struct scanner *scanner, const char *value)
{
	struct message_match matches[SCAN_MATCHES_MAX];
	size_t count;
	const struct message *all = message_all(&count);

	assert_true(count > 0);
	for (size_t i = 0; i < count; i++) {
		char line[4096];
		size_t n, found;

		if (all[i].when)
			continue;
		n = make_line(&all[i], line, value);
		found = scanner_match(scanner, (struct span){ line, n }, line, matches);
		if (best_of(matches, found) != &all[i])
			fail_msg("%s: the line that is made of it is %s: %s", all[i].id,
				 found ? best_of(matches, found)->id : "none", line);
	}
}

static void every_row_matches_its_line(void **state)
{
	struct arena *arena = arena_new(ARENA_BYTES, "facts");
	struct scanner *scanner = scanner_new(arena);

	(void)state;
	check_rows(scanner, "7");
	check_rows(scanner, "Connection reset by peer");
	arena_free(arena);
}

static bool is_rule(struct span pattern)
{
	char text[128];
	size_t count;
	const struct rule *const *rules = rule_all(&count);

	snprintf(text, sizeof(text), "%.*s", SPAN_FMT(pattern));
	for (size_t i = 0; i < count; i++)
		if (fnmatch(text, rules[i]->id, 0) == 0)
			return true;
	return false;
}

static void every_rule_exists(void **state)
{
	size_t count;
	const struct message *all = message_all(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		struct span rest = span_of(all[i].rules ? all[i].rules : ""), one;

		while (span_cut(&rest, ',', &one))
			if (!is_rule(one))
				fail_msg("%s: there is no rule %.*s", all[i].id, SPAN_FMT(one));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_matches_its_line),
		cmocka_unit_test(every_rule_exists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
