/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule-search.h - the rules that a person means who types a part of a name, or words of the text. */
#ifndef RULE_SEARCH_H
#define RULE_SEARCH_H

#include "evaluate/rule.h"

/* Fills LIST, which has room for all rules, and returns how many there are. The first of these that finds any: the id
 * itself; a shell pattern, or an area; all WORDS in the id; all of them in the texts. */
size_t rule_search(char *const *words, size_t count, const struct rule **list);

#endif
