/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule-search.c - finds rules by a part of the name, or by words of the text. */
#include "cli/rule-search.h"

#include <fnmatch.h>
#include <string.h>

#include "base/array.h"

typedef bool is_meant(const struct rule *rule, char *const *words, size_t count);

static bool has_name(const struct rule *rule, char *const *words, size_t count)
{
	return count == 1 && strcmp(rule->id, words[0]) == 0;
}

/* "pci" is all of pci/. */
static bool fits_pattern(const struct rule *rule, char *const *words, size_t count)
{
	size_t n = strlen(words[0]);

	return count == 1 && (fnmatch(words[0], rule->id, 0) == 0 ||
			      (strncmp(words[0], rule->id, n) == 0 && rule->id[n] == '/'));
}

static bool has_in_id(const struct rule *rule, char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcasestr(rule->id, words[i]))
			return false;
	return true;
}

static bool has_word(const struct rule *rule, const char *word)
{
	const char *const texts[] = { rule->id,	   rule->title, rule->impact, rule->remedy,
				      rule->reads, rule->why,	rule->check };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i] && strcasestr(texts[i], word))
			return true;
	return false;
}

static bool has_in_texts(const struct rule *rule, char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!has_word(rule, words[i]))
			return false;
	return true;
}

size_t rule_search(char *const *words, size_t count, const struct rule **list)
{
	static is_meant *const ways[] = { has_name, fits_pattern, has_in_id, has_in_texts };
	size_t all, found = 0;
	const struct rule *const *rules = rule_all(&all);

	for (size_t way = 0; way < ARRAY_SIZE(ways) && !found; way++)
		for (size_t i = 0; i < all; i++)
			if (ways[way](rules[i], words, count))
				list[found++] = rules[i];
	return found;
}
