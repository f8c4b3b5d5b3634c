/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "why/ending.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

#define LAST_LINES 12 /* in which a job that went well says so */

/* Whole words. Case does not count, but for those with capitals. */
static const char *const good_words[] = { "completed",	"done",		"finished", "ok",
					  "pass",	"ready",	"saved",    "success",
					  "successful", "successfully", NULL };

/* Those that a job, a test or a batch system has only for a good end. */
static const char *const success_words[] = { "succeeded", "passed", "COMPLETED",
					     "Avg bus bandwidth", NULL };

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(struct span line, const char *word)
{
	size_t n = strlen(word);
	bool any_case = strcspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == n;

	for (size_t i = 0; i + n <= line.n; i++)
		if ((any_case ? strncasecmp(line.p + i, word, n) : strncmp(line.p + i, word, n)) ==
			    0 &&
		    (i == 0 || !is_word_char(line.p[i - 1])) &&
		    (i + n == line.n || !is_word_char(line.p[i + n])))
			return true;
	return false;
}

static bool has_one(struct span line, const char *const *words)
{
	for (; *words; words++)
		if (has_word(line, *words))
			return true;
	return false;
}

/* One of the words and marks that stand between "exit" and its status. */
static bool skip_between(struct span *s)
{
	static const char *const between[] = { "ed", "code", "status", "with", " ", ":",
					       "=",  "(",    "-",      "_",    "'", "\"" };

	for (size_t i = 0; i < ARRAY_SIZE(between); i++) {
		size_t n = strlen(between[i]);

		if (s->n < n || strncasecmp(s->p, between[i], n) != 0)
			continue;
		*s = (struct span){ s->p + n, s->n - n };
		return true;
	}
	return false;
}

enum exit_said { EXIT_NOT_SAID, EXIT_ZERO, EXIT_OTHER };

/* "exited with code 1", "Exit code:    3", "+ exit 125", "(exitcode: -6)" */
static enum exit_said exit_said_in(struct span line)
{
	for (size_t i = 0; i + 4 < line.n; i++) {
		struct span rest = { line.p + i + 4, line.n - i - 4 };

		if (strncasecmp(line.p + i, "exit", 4) != 0 || (i && is_word_char(line.p[i - 1])))
			continue;
		while (skip_between(&rest))
			;
		if (rest.n && isdigit((unsigned char)*rest.p))
			return *rest.p == '0' ? EXIT_ZERO : EXIT_OTHER;
	}
	return EXIT_NOT_SAID;
}

static bool reads_like_an_error(const struct error_finder *errors, struct span line)
{
	return exit_said_in(line) == EXIT_OTHER ||
	       (error_finder_next(errors, line, line.p) && !error_line_is_calm(line));
}

static void take_good(struct ending *ending, struct span line)
{
	ending->is_zero_exit |= exit_said_in(line) == EXIT_ZERO;
	ending->is_success |= ending->is_zero_exit || has_one(line, success_words);
	ending->is_good |= ending->is_success || has_one(line, good_words);
}

/* Of two exit statuses the last one can be that of a clean-up. */
static void take_error(struct ending *ending, struct span line, uint64_t number)
{
	ending->error_line = number;
	if (exit_said_in(line) == EXIT_OTHER)
		ending->is_success &= !ending->is_zero_exit;
}

struct ending find_ending(const struct error_finder *errors, struct span tail, uint64_t lines)
{
	struct ending ending = { 0 };
	int seen = 0;

	while (tail.n && !ending.error_line) {
		const char *mark;
		struct span line;

		tail.n -= tail.p[tail.n - 1] == '\n';
		mark = tail.n ? memrchr(tail.p, '\n', tail.n) : NULL;
		line.p = mark ? mark + 1 : tail.p;
		line.n = (size_t)(tail.p + tail.n - line.p);
		tail.n -= line.n;
		if (span_trim(line).n) {
			if (reads_like_an_error(errors, line))
				take_error(&ending, line, lines);
			else if (seen++ < LAST_LINES)
				take_good(&ending, line);
		}
		lines -= lines > 0;
	}
	return ending;
}
