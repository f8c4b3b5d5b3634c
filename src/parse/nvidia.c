/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvidia.c - the text of the NVIDIA driver: its version line, its parameters, the RegistryDwords string. */
#include "parse/nvidia.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

/* A driver version: digits and dots, at least one dot, begins and ends with a digit. */
static bool is_version(struct span word)
{
	bool dot = false;

	if (!word.n || !isdigit((unsigned char)word.p[0]) ||
	    !isdigit((unsigned char)word.p[word.n - 1]))
		return false;
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] == '.')
			dot = true;
		else if (!isdigit((unsigned char)word.p[i]))
			return false;
	}
	return dot;
}

int nvidia_banner_parse(struct span text, struct nvidia_banner *banner)
{
	static const char prefix[] = "NVRM version:";
	struct span line, word, rest;

	*banner = (struct nvidia_banner){ 0 };
	while (span_cut(&text, '\n', &line)) {
		if (!span_starts(line, prefix))
			continue;
		banner->line = span_trim((struct span){ line.p + sizeof(prefix) - 1,
							line.n - (sizeof(prefix) - 1) });
		rest = banner->line;
		while (span_word(&rest, &word)) {
			if (!banner->version.n && is_version(word))
				banner->version = word;
			else if (span_is(word, "Open") && !banner->version.n)
				banner->open = true;
			else if (word.n > 2 && word.p[0] == '(' && word.p[word.n - 1] == ')')
				banner->builder = (struct span){ word.p + 1, word.n - 2 };
		}
		return banner->version.n ? 0 : -EINVAL;
	}
	return -EINVAL;
}

size_t nvidia_params_parse(struct span text, nvidia_param *param, void *user)
{
	size_t number = 0, bad = 0;
	struct span line;

	while (span_cut(&text, '\n', &line)) {
		size_t colon = span_find(line, ':');
		struct span name = { line.p, colon }, value;

		number++;
		if (!span_trim(line).n)
			continue;
		if (colon == line.n || colon == 0 || span_find(name, ' ') < name.n) {
			bad = bad ? bad : number;
			continue;
		}
		value = span_trim((struct span){ line.p + colon + 1, line.n - colon - 1 });
		if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
			value = (struct span){ value.p + 1, value.n - 2 };
		param(user, name, value, number);
	}
	return bad;
}

static struct span cut_at(struct span s, char c, struct span *tail)
{
	size_t at = span_find(s, c);

	*tail = at < s.n ? (struct span){ s.p + at + 1, s.n - at - 1 } : (struct span){ 0 };
	return (struct span){ s.p, at };
}

bool registry_next(struct span *rest, struct registry_entry *entry)
{
	struct span value, more, piece;
	size_t equals;

	do {
		if (!span_cut(rest, ';', &piece))
			return false;
		piece = span_trim(piece);
	} while (!piece.n);

	*entry = (struct registry_entry){ .text = piece };
	entry->key = span_trim(cut_at(piece, '=', &value));
	equals = span_find(piece, '=');
	entry->value = span_trim(cut_at(value, '=', &more));
	entry->skipped = true;
	if (equals == piece.n)
		entry->problem = "has no \"=\": the driver ignores it";
	else if (more.p)
		entry->problem = "has more than one \"=\": the driver ignores it";
	else if (!entry->value.n)
		entry->problem = "has no value: the driver ignores it";
	else
		entry->skipped = false;
	if (entry->problem)
		return true;
	if (span_find(piece, '\'') < piece.n || span_find(piece, '"') < piece.n)
		entry->problem =
			"has a quote in it: the driver takes it as part of the key or value";
	else if (span_u64(entry->value, 0, &entry->number))
		entry->problem = "has a value that is not a number: the driver takes it as 0";
	return true;
}

bool registry_find(struct span text, const char *key, struct registry_entry *found)
{
	struct registry_entry entry;
	bool any = false;

	while (registry_next(&text, &entry)) {
		if (entry.skipped || entry.key.n != strlen(key) ||
		    strncasecmp(entry.key.p, key, entry.key.n) != 0)
			continue;
		*found = entry;
		any = true;
	}
	return any;
}
