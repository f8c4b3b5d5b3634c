/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kparam.c - splits a string of parameters as the kernel does: a module's, or its own command line. */
#include "parse/kparam.h"

#include <string.h>

/* lib/ctype.c: the characters with _S: ASCII white space and the no-break space of Latin-1. */
static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == '\xa0';
}

static bool ends_here(const struct kparam_iter *iter)
{
	return iter->at >= iter->text.n || iter->text.p[iter->at] == '\0';
}

/* One word as next_arg() finds it: quotes may open and close anywhere in it and cannot be escaped; an open quote
 * extends to the end. An "=" as the first character does not split it. */
struct word {
	size_t start; /* after a quote round the whole word */
	size_t end;
	size_t equals; /* 0: none */
	bool quoted;
};

static struct word find_word(struct kparam_iter *iter)
{
	const char *p = iter->text.p;
	struct word w = { .quoted = p[iter->at] == '"' };
	bool in_quote = w.quoted;

	if (w.quoted)
		iter->at++;
	w.start = iter->at;
	for (; !ends_here(iter); iter->at++) {
		char c = p[iter->at];

		if (is_space(c) && !in_quote)
			break;
		if (c == '=' && !w.equals && iter->at > w.start)
			w.equals = iter->at;
		if (c == '"')
			in_quote = !in_quote;
	}
	w.end = iter->at;
	return w;
}

bool kparam_next(struct kparam_iter *iter, struct kparam *param)
{
	const char *p = iter->text.p;
	size_t value, end;
	struct word w;
	bool unquote;

	while (!ends_here(iter) && is_space(p[iter->at]))
		iter->at++;
	if (ends_here(iter))
		return false;

	*param = (struct kparam){ .offset = iter->at };
	w = find_word(iter);
	value = w.equals + 1;
	unquote = w.quoted;
	if (w.equals && value < w.end && p[value] == '"') {
		value++;
		unquote = true;
	}
	/* A closing quote is taken off once, whichever of the two it closes. */
	end = unquote && w.end > w.start && p[w.end - 1] == '"' ? w.end - 1 : w.end;
	if (w.equals) {
		param->name = (struct span){ p + w.start, w.equals - w.start };
		param->value = (struct span){ p + value, value < end ? end - value : 0 };
		param->has_value = true;
	} else {
		param->name = (struct span){ p + w.start, end - w.start };
	}
	return true;
}

bool kparam_is_end(const struct kparam *param)
{
	return !param->has_value && span_is(param->name, "--");
}

static char with_underscore(char c)
{
	return c == '-' ? '_' : c;
}

bool kparam_name_is(struct span s, const char *name)
{
	if (s.n != strlen(name))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (with_underscore(s.p[i]) != with_underscore(name[i]))
			return false;
	return true;
}
