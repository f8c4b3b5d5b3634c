/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ending.c - the end of a log: whether the job ended badly, ended well, or continued its work. */
#include "why/ending.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "why/job.h"
#include "why/sign.h"

#define GOOD_LINES 12 /* lines, in one of which a job reports that it went well */
#define BAD_LINES 8   /* lines, in one of which a process reports a bad end */
#define LAST_LINES 5  /* an error among these is the end of the job, */
#define GOOD_AFTER 2  /* unless so many lines after it say that something went well */

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* ---- one line ---- */

/* One of the words and marks between "exit" and its status. */
static bool skip_between(struct span *s)
{
	static const char *const between[] = {
		"ed", "s", "code", "status", "with", "return", " ",
		":",  "=", "(",	   "-",	     "_",    "'",      "\""
	};

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

/* "exited with code 1", "exited with return code 0", "Exit code:    3", "+ exit 125", "(exitcode: -6)" */
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

/* A row of a table of results: only numbers, two or more. */
static bool is_numbers(struct span line)
{
	size_t words = 0;
	bool in_word = false;

	for (size_t i = 0; i < line.n; i++) {
		char c = line.p[i];

		if (!isdigit((unsigned char)c) && !strchr(" \t.,+-eE%:/()\"", c))
			return false;
		words += !in_word && isdigit((unsigned char)c);
		in_word = c != ' ' && c != '\t';
	}
	return words > 1;
}

/* "web-1  | text": docker compose names the service of each line. */
static struct span skip_service(struct span text)
{
	struct span rest = text, word;

	if (!span_word(&rest, &word))
		return text;
	rest = span_trim(rest);
	return rest.n > 2 && rest.p[0] == '|' && rest.p[1] == ' '
		       ? (struct span){ rest.p + 2, rest.n - 2 }
		       : text;
}

/* "RuntimeError: CUDA error: ...", "[rank3]: torch.OutOfMemoryError: ..." */
static bool is_raised(struct span text)
{
	static const char *const ends[] = { "Error: ", "Exception: " };
	const char *mark;
	size_t n = 0;

	text = skip_service(text);
	mark = text.n && *text.p == '[' ? memmem(text.p, text.n, "]: ", 3) : NULL;
	if (mark)
		text = (struct span){ mark + 3, (size_t)(text.p + text.n - mark - 3) };
	while (n < text.n && (is_word_char(text.p[n]) || text.p[n] == '.'))
		n++;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t own = strlen(ends[i]) - 2;

		if (n > own && text.n - n >= 2 && memcmp(text.p + n - own, ends[i], own + 2) == 0)
			return true;
	}
	return false;
}

static enum ending_class classify(const struct error_finder *errors, struct span text,
				  struct ending_line *own)
{
	struct sign_line line;
	enum exit_said said = exit_said_in(text);

	sign_line_make(&line, text);
	own->is_exit = said != EXIT_NOT_SAID;
	own->is_raised = is_raised(text);
	own->is_overcome = sign_is_in(SIGN_OVERCOME, &line);
	own->is_request = sign_is_in(SIGN_REQUEST, &line);
	if (said == EXIT_OTHER || sign_is_in(SIGN_BAD, &line))
		return ENDING_BAD;
	if (error_finder_next(errors, text, text.p) && !error_line_is_calm(text))
		return ENDING_ERROR;
	if (said == EXIT_ZERO || sign_is_in(SIGN_SUCCESS, &line))
		return ENDING_SUCCESS;
	if (sign_is_in(SIGN_IDLE, &line))
		return ENDING_IDLE;
	if (is_numbers(text) || sign_is_in(SIGN_PROGRESS, &line))
		return ENDING_PROGRESS;
	return sign_is_in(SIGN_GOOD, &line) ? ENDING_GOOD : ENDING_OTHER;
}

/* ---- the last lines ---- */

static void add_line(struct ending *ending, const struct error_finder *errors, struct span whole,
		     uint64_t number)
{
	struct ending_line *line = &ending->lines[ending->count];
	struct span text = span_trim(whole);

	*line = (struct ending_line){ .number = number };
	line_parse(&line->whose, whole);
	line->class = classify(errors, text, line);
	ending->count++;
	ending->is_lost |= sign_is_in_text(SIGN_LOST, text);
}

/* "Traceback (most recent call last):", its frames, which are indented, and one line: the program's last one. */
static bool is_exception(struct span tail)
{
	static const char begin[] = "Traceback (most recent call last):";
	struct span line, last = { 0 };
	bool is_open = false;

	while (span_cut(&tail, '\n', &line)) {
		bool is_frame = line.n && (*line.p == ' ' || *line.p == '\t');

		if (!span_trim(line).n)
			continue;
		if (memmem(line.p, line.n, begin, sizeof(begin) - 1))
			is_open = true, last.n = 0;
		else if (is_open && !is_frame)
			is_open = last.n == 0, last = line;
	}
	return is_open && last.n;
}

static void find_bad(struct ending *ending)
{
	for (uint32_t i = 0; i < ending->count && i < BAD_LINES; i++)
		ending->is_bad |= ending->lines[i].class == ENDING_BAD;
}

/* Of two exit statuses the last one can be that of a clean-up. */
static void find_good(struct ending *ending)
{
	bool is_exit = false;

	for (uint32_t i = 0; i < ending->count; i++) {
		const struct ending_line *line = &ending->lines[i];

		if (ending->is_lost && line->is_request)
			continue;
		if (line->class >= ENDING_ERROR) {
			ending->error_line = line->number;
			if (line->is_exit)
				ending->is_success &= !is_exit;
			return;
		}
		if (i >= GOOD_LINES)
			continue;
		is_exit |= line->is_exit;
		ending->is_success |= line->class == ENDING_SUCCESS;
		ending->is_good |= line->class == ENDING_SUCCESS || line->class == ENDING_GOOD;
	}
}

struct ending find_ending(struct arena *arena, const struct error_finder *errors, struct span tail,
			  uint64_t lines)
{
	struct ending ending = { .lines = arena_alloc(arena,
						      ENDING_LINES_MAX * sizeof(*ending.lines)),
				 .is_raised = is_exception(tail) };

	while (tail.n && ending.count < ENDING_LINES_MAX) {
		const char *mark;
		struct span line;

		tail.n -= tail.p[tail.n - 1] == '\n';
		mark = tail.n ? memrchr(tail.p, '\n', tail.n) : NULL;
		line.p = mark ? mark + 1 : tail.p;
		line.n = (size_t)(tail.p + tail.n - line.p);
		tail.n -= line.n;
		if (span_trim(line).n)
			add_line(&ending, errors, line, lines);
		lines -= lines > 0;
	}
	find_good(&ending);
	find_bad(&ending);
	return ending;
}

/* ---- after a line ---- */

/* Returns true if the process of M printed this line. A line without a rank can be of any rank in the log. */
static bool is_own(const struct ending *ending, const struct ending_message *m,
		   const struct ending_line *line)
{
	if (m->rank != JOB_NOBODY && line->rank == m->rank)
		return true;
	return ending->is_one_rank && (ending->is_one_host || line->host == m->host);
}

static void count_after(struct ending_after *after, const struct ending *ending,
			const struct ending_message *m, const struct ending_line *line)
{
	bool is_plain = line->class != ENDING_IDLE && line->class < ENDING_ERROR;

	after->plain += is_plain;
	after->calm += is_plain && line->number > ending->error_line;
	after->progress += line->class == ENDING_PROGRESS;
	after->own += line->class == ENDING_PROGRESS && is_own(ending, m, line);
}

struct ending_after ending_after(const struct ending *ending, const struct ending_message *m)
{
	struct ending_after after = { 0 };
	int good = 0;

	for (uint32_t i = 0; i < ending->count && ending->lines[i].number >= m->first; i++) {
		const struct ending_line *line = &ending->lines[i];
		bool is_after = line->number > m->last;

		after.is_raised |= line->is_raised;
		if (line->number == m->first)
			break;
		after.overcome += line->is_overcome;
		if (is_after)
			count_after(&after, ending, m, line);
		if (after.progress)
			continue;
		after.is_very_bad |= line->class == ENDING_BAD ||
				     (line->class == ENDING_ERROR && is_after && !i);
		after.is_bad |= after.is_very_bad || (line->class == ENDING_ERROR && is_after &&
						      i < LAST_LINES && good < GOOD_AFTER);
		good += line->class == ENDING_GOOD;
	}
	return after;
}

uint32_t ending_progress(const struct ending *ending, const struct ending_message *m, uint64_t to)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ending->count && ending->lines[i].number > m->last; i++)
		count += ending->lines[i].class == ENDING_PROGRESS &&
			 ending->lines[i].number < to && is_own(ending, m, &ending->lines[i]);
	return count;
}
