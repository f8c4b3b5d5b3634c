/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * used.c - whether the software that a rule is about is in use on the node: its module is loaded, or a variable of jobs
 * configures it.
 */
#include "evaluate/used.h"

#include <stdio.h>
#include <string.h>

/* What is not known is not in use: the profile then decides. */
static bool is_module_used(const struct node *node, struct span name)
{
	for_each(m, &node->modules.loaded)
		if (is_known(m->name) && span_is(name, m->name.value))
			return true;
	for_each(m, &node->modules.at_boot)
		if (is_known(m->name) && span_is(name, m->name.value))
			return true;
	return false;
}

/* NAME, the beginning of one and *, or NAME=VALUE. A variable with an empty value counts as not set. */
static bool matches(struct span pattern, const struct fact_str *name, const struct fact_str *value)
{
	struct span want = pattern, word;

	if (!is_known(*name) || !is_known(*value) || !*value->value)
		return false;
	if (span_cut(&want, '=', &word) && want.n)
		return span_is(word, name->value) && span_is(want, value->value);
	if (span_ends(pattern, "*"))
		return strncmp(pattern.p, name->value, pattern.n - 1) == 0;
	return span_is(pattern, name->value);
}

static bool is_variable_set(const struct node *node, struct span pattern)
{
	for_each(v, &node->env.variables)
		if (matches(pattern, &v->name, &v->value))
			return true;
	for_each(s, &node->env.nccl_conf)
		if (matches(pattern, &s->name, &s->value))
			return true;
	for_each(s, &node->env.nvshmem_conf)
		if (matches(pattern, &s->name, &s->value))
			return true;
	return false;
}

static bool any_variable(const struct node *node, const char *patterns)
{
	struct span rest = span_of(patterns), word;
	bool any = false;

	while (span_word(&rest, &word)) {
		bool without = span_starts(word, "!");
		struct span pattern = { word.p + without, word.n - without };

		if (!is_variable_set(node, pattern))
			continue;
		if (without)
			return false;
		any = true;
	}
	return any;
}

bool rule_is_used(const struct node *node, const struct rule *rule)
{
	struct span rest = span_of(rule->used_modules ? rule->used_modules : ""), word;

	while (span_word(&rest, &word))
		if (is_module_used(node, word))
			return true;
	return rule->used_variables && any_variable(node, rule->used_variables);
}

const char *rule_used_text(const struct rule *rule, char buffer[USED_TEXT_MAX])
{
	const char *lists[] = { rule->used_modules, rule->used_variables };
	size_t n = 0;

	for (size_t i = 0; i < 2; i++) {
		struct span rest = span_of(lists[i] ? lists[i] : ""), word;

		while (span_word(&rest, &word) && n < USED_TEXT_MAX)
			if (!span_starts(word, "!"))
				n += (size_t)snprintf(buffer + n, USED_TEXT_MAX - n, "%s%.*s",
						      n ? " or " : "", (int)word.n, word.p);
	}
	return n ? buffer : NULL;
}
