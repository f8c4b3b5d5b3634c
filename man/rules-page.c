/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules-page.c - nvnodecheck-rules(7) and nothing else, for where the program is compiled for another machine. */
#include "evaluate/rule.h"
#include "render/render.h"

int main(void)
{
	size_t count;
	const struct rule *const *rules = rule_all(&count);

	return render_rules_man(rules, count);
}
