/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "cmd.h"
#include "render/render.h"
#include "rule.h"

#define ID_MAX 64 /* bytes of a rule id that are compared */
#define NEAR 3	  /* letters that a misspelt id may differ in */

/* The rule whose id shares the most with what was typed: "bar1" finds pci/bar1-too-small. */
/* How many letters have to be put in, taken out or changed (Levenshtein). */
static size_t distance(const char *a, const char *b)
{
	size_t row[ID_MAX + 1], n = strlen(b);

	for (size_t k = 0; k <= n; k++)
		row[k] = k;
	for (size_t i = 1; *a; a++, i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t k = 1; k <= n; k++) {
			size_t change = diagonal + (*a != b[k - 1]);

			diagonal = row[k];
			row[k] = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;
			row[k] = change < row[k] ? change : row[k];
		}
	}
	return row[n];
}

static const struct rule *nearest(const char *word)
{
	/* Of a short word every letter counts. */
	size_t count, least = 1 + (strlen(word) / 3 < NEAR ? strlen(word) / 3 : NEAR);
	const struct rule *const *rules = rule_all(&count);
	const struct rule *found = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *id = rules[i]->id;
		const char *name = strchr(word, '/') ? id : strchr(id, '/') + 1;
		size_t far = strlen(word) > ID_MAX || strlen(id) > ID_MAX ? least
									    : distance(word, name);

		if (far < least) {
			least = far;
			found = rules[i];
		}
	}
	return found;
}

enum exit_status cmd_explain(const struct options *options)
{
	const char *id = options->args[0];
	const struct rule *rule = rule_find(id);
	const struct rule *other;

	if (rule)
		return options->format == FORMAT_JSON ? render_rules_json(&rule, 1)
						      : render_rule_text(rule, options);
	other = nearest(id);
	if (other)
		complain("no rule is called '%s'; did you mean %s?", id, other->id);
	else
		complain("no rule is called '%s'; 'nvnodecheck rules' lists them", id);
	return EXIT_USAGE;
}
