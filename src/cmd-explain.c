/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "cmd.h"
#include "render/render.h"
#include "rule.h"

/* The rule whose id shares the most with what was typed: "bar1" finds pci/bar1-too-small. */
static const struct rule *nearest(const char *word)
{
	size_t count;
	const struct rule *const *rules = rule_all(&count);

	for (size_t i = 0; i < count; i++)
		if (strstr(rules[i]->id, word))
			return rules[i];
	return NULL;
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
		complain("no rule is called '%s'; there is %s", id, other->id);
	else
		complain("no rule is called '%s'; 'nvnodecheck rules' lists them", id);
	return EXIT_USAGE;
}
