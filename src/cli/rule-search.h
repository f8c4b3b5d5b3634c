/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule-search.h - finds rules by a part of the name, or by words of the text. */
#ifndef RULE_SEARCH_H
#define RULE_SEARCH_H

#include "evaluate/rule.h"

/* Fills LIST, which has room for all rules, and returns their number. The first of these that finds a rule is used: the
 * id itself; a shell pattern, or an area; all WORDS in the id; all of them in the texts. */
size_t rule_search(char *const *words, size_t count, const struct rule **list);

#endif
