/* SPDX-License-Identifier: GPL-2.0-or-later */
/* udev.c - rules of udev(7): KEY{ATTRIBUTE}OPERATOR"VALUE", with commas between, one rule a line. */
#include "parse/udev.h"

#include <ctype.h>
#include <string.h>

static struct span after(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

bool udev_rule_next(struct udev_reader *r, struct span *rule)
{
	struct span line;

	while (span_cut(&r->rest, '\n', &line)) {
		struct span trimmed = span_trim(line);

		r->line = ++r->next;
		if (!trimmed.n || trimmed.p[0] == '#')
			continue;
		*rule = line;
		while (line.n && line.p[line.n - 1] == '\\' && span_cut(&r->rest, '\n', &line)) {
			r->next++;
			rule->n = (size_t)(line.p + line.n - rule->p);
		}
		return true;
	}
	return false;
}

static bool is_between(char c)
{
	return c == ',' || c == '\\' || isspace((unsigned char)c);
}

static size_t count_in(struct span s, const char *set)
{
	size_t n = 0;

	while (n < s.n && s.p[n] && strchr(set, s.p[n]))
		n++;
	return n;
}

bool udev_token_next(struct span *rule, struct udev_token *token)
{
	size_t n;

	*token = (struct udev_token){ 0 };
	while (rule->n && is_between(rule->p[0]))
		*rule = after(*rule, 1);
	n = count_in(*rule, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	token->key = (struct span){ rule->p, n };
	*rule = after(*rule, n);
	if (rule->n && rule->p[0] == '{') {
		n = span_find(*rule, '}');
		if (n == rule->n)
			return false;
		token->attribute = (struct span){ rule->p + 1, n - 1 };
		*rule = after(*rule, n + 1);
	}
	while (rule->n && (rule->p[0] == ' ' || rule->p[0] == '\t'))
		*rule = after(*rule, 1);
	n = count_in(*rule, "=!+-:");
	token->op = (struct span){ rule->p, n };
	*rule = after(*rule, n);
	while (rule->n && (rule->p[0] == ' ' || rule->p[0] == '\t'))
		*rule = after(*rule, 1);
	/* e"..." and i"..." are strings with escapes, and without regard to case. */
	if (rule->n && (rule->p[0] == 'e' || rule->p[0] == 'i'))
		*rule = after(*rule, 1);
	if (!token->key.n || !token->op.n || !rule->n || rule->p[0] != '"')
		return false;
	*rule = after(*rule, 1);
	n = span_find(*rule, '"');
	if (n == rule->n)
		return false;
	token->value = (struct span){ rule->p, n };
	*rule = after(*rule, n + 1);
	return true;
}

bool udev_is_match(const struct udev_token *token)
{
	return span_is(token->op, "==");
}
