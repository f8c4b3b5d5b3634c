/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sign.c - words that show the kind of a line of a log: the table data/signs.tsv. */
#include "why/sign.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/packed.h"
#include "signs.inc"

static struct sign signs[SIGNS];

static bool has_capital(const char *text)
{
	return text[strcspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] != '\0';
}

static void take_signs(void)
{
	const char *at = sign_texts;

	for (size_t i = 0; i < SIGNS; i++) {
		const char *text = packed_text(&at);

		signs[i] = (struct sign){ .text = text,
					  .n = strlen(text),
					  .form = sign_forms[i],
					  .is_exact = has_capital(text) };
	}
}

struct sign_list sign_all(enum sign_kind kind)
{
	if (!signs[0].text)
		take_signs();
	return (struct sign_list){ signs + sign_places[kind].first, sign_places[kind].count };
}

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "step 7", "loss: 2.1", "epoch [3/10]", "'loss': 2.1" */
static bool has_number(const char *at, const char *end)
{
	const char *from = at;

	while (at < end && strchr(" :=#[('\"/", *at) && *at)
		at++;
	return at > from && at < end && isdigit((unsigned char)*at);
}

/* Returns true if TEXT has a sign of this form at AT. */
static bool has_form(const struct sign *sign, struct span text, const char *at)
{
	const char *end = at + sign->n;
	bool is_first = at == text.p, is_last = end == text.p + text.n;

	switch (sign->form) {
	case SIGN_FORM_ANY:
		return true;
	case SIGN_FORM_START:
		return is_first;
	case SIGN_FORM_BEGIN:
		return is_first || !is_word_char(at[-1]);
	case SIGN_FORM_WORD:
		return (is_first || !is_word_char(at[-1])) && (is_last || !is_word_char(*end));
	case SIGN_FORM_NUMBER:
		return (is_first || !is_word_char(at[-1])) && has_number(end, text.p + text.n);
	case SIGN_FORM_LEVEL:
		return (is_first || (!is_word_char(at[-1]) && at[-1] != '=')) &&
		       (is_last || (!is_word_char(*end) && *end != '='));
	}
	return false;
}

static bool has_sign(const struct sign *sign, struct span text)
{
	const char *at = text.p, *end = text.p + text.n;

	for (; (at = memmem(at, (size_t)(end - at), sign->text, sign->n)); at++)
		if (has_form(sign, text, at))
			return true;
	return false;
}

static unsigned int pair_of(const char *small)
{
	return ((unsigned char)small[0] * 31u ^ (unsigned char)small[1] * 8u) % SIGN_PAIRS;
}

void sign_line_make(struct sign_line *line, struct span text)
{
	line->text = text;
	line->n = text.n < SIGN_LINE_MAX ? text.n : SIGN_LINE_MAX;
	for (size_t i = 0; i < line->n; i++)
		line->small[i] = (char)tolower((unsigned char)text.p[i]);
	/* Of a longer line not all pairs are known. */
	memset(line->pairs, text.n > line->n ? 0xff : 0, sizeof(line->pairs));
	for (size_t i = 1; i < line->n; i++) {
		unsigned int pair = pair_of(line->small + i - 1);

		line->pairs[pair / 64] |= 1ull << pair % 64;
	}
}

static bool has_pair(const struct sign_line *line, const char *at)
{
	const char small[2] = { (char)tolower((unsigned char)at[0]),
				(char)tolower((unsigned char)at[1]) };
	unsigned int pair = pair_of(small);

	return line->pairs[pair / 64] >> pair % 64 & 1;
}

/* False: the line does not have the sign. */
static bool can_have(const struct sign_line *line, const struct sign *sign)
{
	return sign->n < 2 || (has_pair(line, sign->text) &&
			       has_pair(line, sign->text + sign->n / 2 - 1 + sign->n % 2) &&
			       has_pair(line, sign->text + sign->n - 2));
}

bool sign_is_in(enum sign_kind kind, const struct sign_line *line)
{
	struct sign_list list = sign_all(kind);
	struct span small = { line->small, line->n };

	for (size_t i = 0; i < list.count; i++)
		if (can_have(line, &list.items[i]) &&
		    has_sign(&list.items[i], list.items[i].is_exact ? line->text : small))
			return true;
	return false;
}

bool sign_is_in_text(enum sign_kind kind, struct span text)
{
	struct sign_line line;

	sign_line_make(&line, text);
	return sign_is_in(kind, &line);
}
