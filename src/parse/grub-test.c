/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grub-test.c - the commands "test" and "[": commands/test.c. Unlike a shell's, it goes from left to right: "-a" has no
 * effect, because two tests in a row are both required, and "-o" starts a new group.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "parse/grub-private.h"

#define NESTING_MAX 100 /* of parentheses, as GRUB has it */

/* Parses a number like grub_strtoul(): the prefix selects the base, and the text after the number is ignored. */
static uint64_t number_after_sign(const char *s, bool *none, const char **end)
{
	unsigned int base = 10;
	uint64_t number = 0;

	*none = true;
	if (s[0] == '0' && s[1] == 'x') {
		base = 16;
		s += 2;
	} else if (s[0] == '0' && s[1] >= '0' && s[1] <= '7') {
		base = 8;
	}
	for (;; s++) {
		int digit = isxdigit((unsigned char)*s) ? span_digit(*s) : -1;

		if (digit < 0 || digit >= (int)base)
			break;
		number = number > (UINT64_MAX - (unsigned int)digit) / base
				 ? UINT64_MAX
				 : number * base + (unsigned int)digit;
		*none = false;
	}
	*end = s;
	return number;
}

int64_t grub_number(const char *s, bool *none, const char **end)
{
	bool minus;
	uint64_t number;

	s += strspn(s, " \t\r\n");
	minus = *s == '-';
	number = number_after_sign(s + minus, none, end);
	if (number > INT64_MAX)
		number = INT64_MAX;
	return minus ? -(int64_t)number : (int64_t)number;
}

static enum grub_truth truth_from_bool(bool yes)
{
	return yes ? GRUB_YES : GRUB_NO;
}

static enum grub_truth both(enum grub_truth a, enum grub_truth b)
{
	if (a == GRUB_NO || b == GRUB_NO)
		return GRUB_NO;
	return a == GRUB_YES && b == GRUB_YES ? GRUB_YES : GRUB_MAYBE;
}

static enum grub_truth negated(enum grub_truth a)
{
	return a == GRUB_MAYBE ? a : truth_from_bool(a == GRUB_NO);
}

static enum grub_truth either(enum grub_truth a, enum grub_truth b)
{
	return negated(both(negated(a), negated(b)));
}

/* ---- single tests ---- */

struct testing {
	struct grub_run *run;
	const char *const *words;
	size_t count;
	size_t at;
	unsigned int depth;
	bool unsure; /* a word, of which a part is unknown, can be an operator */
};

/* Notes a word that is looked at as an operator. */
static void take_operator(struct testing *t, const char *word)
{
	t->unsure |= !grub_is_sure(word) && strchr(GRUB_UNKNOWN_TEXT "=!<>()-", *word);
}

static enum grub_truth has_text(const char *s)
{
	return *s == GRUB_UNKNOWN && !s[strspn(s, GRUB_UNKNOWN_TEXT)] ? GRUB_MAYBE
								      : truth_from_bool(*s);
}

static int64_t value_of(const char *s)
{
	bool none;
	const char *end;

	return grub_number(s, &none, &end);
}

/* Compares numbers after the common beginning: vmlinuz-2 -plt vmlinuz-11. */
static int compare_versions(const char *a, const char *b)
{
	size_t i = 0;
	int64_t x, y;

	while (a[i] && a[i] == b[i])
		i++;
	/* Back to the start of the number; one at the very beginning loses its first digit. */
	if (i) {
		for (i--; i > 0 && isdigit((unsigned char)a[i]); i--)
			;
		i++;
	}
	x = a[i] == '-' ? 0 : value_of(a + i);
	y = b[i] == '-' ? 0 : value_of(b + i);
	return (x > y) - (x < y);
}

static bool compare(const char *a, const char *op, const char *b, bool *result)
{
	static const struct {
		const char *op;
		enum { TEXT, NUMBER, VERSION } kind;
		int least, most; /* of the order */
		bool not ;
	} table[] = {
		{ "=", TEXT, 0, 0, false },	    { "==", TEXT, 0, 0, false },
		{ "!=", TEXT, 0, 0, true },	    { "<", TEXT, -1, -1, false },
		{ "<=", TEXT, -1, 0, false },	    { ">", TEXT, 1, 1, false },
		{ ">=", TEXT, 0, 1, false },	    { "-eq", NUMBER, 0, 0, false },
		{ "-ne", NUMBER, 0, 0, true },	    { "-lt", NUMBER, -1, -1, false },
		{ "-le", NUMBER, -1, 0, false },    { "-gt", NUMBER, 1, 1, false },
		{ "-ge", NUMBER, 0, 1, false },	    { "-pgt", VERSION, 1, 1, false },
		{ "-plt", VERSION, -1, -1, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		int64_t x, y;
		int order;

		if (strcmp(op, table[i].op) != 0)
			continue;
		x = table[i].kind == NUMBER ? value_of(a) : strcmp(a, b);
		y = table[i].kind == NUMBER ? value_of(b) : 0;
		order = table[i].kind == VERSION ? compare_versions(a, b) : (x > y) - (x < y);
		*result = (order >= table[i].least && order <= table[i].most) != table[i].not ;
		return true;
	}
	return false;
}

/* "a = b" and similar tests. False: another form. */
static bool test_two(struct testing *t, enum grub_truth *truth)
{
	const char *const *w = t->words + t->at;
	bool result;

	if (t->at + 2 >= t->count)
		return false;
	take_operator(t, w[1]);
	if (starts_with(w[1], "-nt") || starts_with(w[1], "-ot"))
		*truth = GRUB_MAYBE;
	else if (!compare(w[0], w[1], w[2], &result))
		return false;
	else if (grub_is_sure(w[0]) && grub_is_sure(w[2]))
		*truth = truth_from_bool(result);
	else
		*truth = GRUB_MAYBE;
	t->at += 3;
	return true;
}

static enum grub_truth test_file(struct testing *t, char kind, const char *path)
{
	const struct grub_files *files = t->run->menu->files;
	bool folder = false;
	uint64_t size = 0;
	int rc = files->look(files->user, path, &folder, &size);

	if (rc)
		return rc == -ENOENT ? GRUB_NO : GRUB_MAYBE;
	switch (kind) {
	case 'd':
		return truth_from_bool(folder);
	case 'f':
		return truth_from_bool(!folder);
	case 's':
		return truth_from_bool(!folder && size);
	default:
		return GRUB_YES;
	}
}

/* "-n a" and similar tests. False: another form. */
static bool test_one(struct testing *t, enum grub_truth *truth)
{
	const char *const *w = t->words + t->at;

	if (t->at + 1 >= t->count || w[0][0] != '-' || !w[0][1] || w[0][2] ||
	    !strchr("defsnz", w[0][1]))
		return false;
	if (w[0][1] == 'n')
		*truth = has_text(w[1]);
	else if (w[0][1] == 'z')
		*truth = negated(has_text(w[1]));
	else
		*truth = test_file(t, w[0][1], w[1]);
	t->at += 2;
	return true;
}

/* ---- all of them ---- */

struct result {
	enum grub_truth or, and;
	bool invert;
};

static void add(struct result *r, enum grub_truth truth)
{
	r->and = both(r->and, r->invert ? negated(truth) : truth);
	r->invert = false;
}

static enum grub_truth test_all(struct testing *t)
{
	struct result r = { GRUB_NO, GRUB_YES, false };
	enum grub_truth truth;

	while (t->at < t->count) {
		const char *word = t->words[t->at];

		if (test_two(t, &truth) || test_one(t, &truth)) {
			add(&r, truth);
			continue;
		}
		t->at++;
		take_operator(t, word);
		if (strcmp(word, ")") == 0) {
			t->depth -= t->depth > 0;
			break;
		}
		if (strcmp(word, "(") == 0 && ++t->depth <= NESTING_MAX) {
			add(&r, test_all(t));
		} else if (strcmp(word, "!") == 0) {
			r.invert = !r.invert;
		} else if (strcmp(word, "-o") == 0) {
			r.or = either(r.or, r.and);
			r.and = GRUB_YES;
		} else if (strcmp(word, "-a") != 0) {
			add(&r, has_text(word));
		}
	}
	return either(r.or, r.and);
}

enum grub_truth grub_test(struct grub_run *run, const char *const *words, size_t count)
{
	struct testing t = { .run = run, .words = words, .count = count };
	enum grub_truth truth;

	if (count && strcmp(words[count - 1], "]") == 0)
		t.count--;
	truth = test_all(&t);
	return t.unsure ? GRUB_MAYBE : truth;
}
