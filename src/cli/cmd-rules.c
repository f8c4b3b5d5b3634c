/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-rules.c - rules: the list of all rules. */
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/cmd.h"
#include "cli/rule-search.h"
#include "evaluate/rule.h"
#include "render/render.h"

static enum exit_status rules_print(const struct rule *const *list, size_t count,
				    const struct options *options)
{
	switch (options->format) {
	case FORMAT_JSON:
		return render_rules_json(list, count);
	case FORMAT_MAN:
		return render_rules_man(list, count);
	default:
		return render_rules_text(list, count, &options->render);
	}
}

enum exit_status cmd_rules(const struct options *options)
{
	size_t count, chosen = 0;
	const struct rule *const *rules = rule_all(&count);
	_cleanup_free_ const struct rule **list = memory_need(calloc(count, sizeof(*list)));
	enum exit_status status;
	struct output output;

	if (options->args_count)
		count = rule_search(options->args, options->args_count, list);
	else
		memcpy(list, rules, count * sizeof(*list));
	for (size_t i = 0; i < count; i++)
		if (!options->profiles || list[i]->profiles & options->profiles)
			list[chosen++] = list[i];
	if (!chosen) {
		complain("no rule matches '%s'", options->args_count ? options->args[0] : "");
		return EXIT_USAGE;
	}
	if (output_begin(&output, options->output, OUTPUT_MODE))
		return EXIT_CANNOT;
	status = rules_print(list, chosen, options);
	return output_end(&output, !status) ? EXIT_CANNOT : status;
}
