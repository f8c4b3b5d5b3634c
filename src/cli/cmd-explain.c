/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-explain.c - explain: one rule, with its reasons and sources. */
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/spelling.h"
#include "cli/cmd.h"
#include "cli/rule-search.h"
#include "evaluate/rule.h"
#include "render/render.h"

/* The rule whose id is nearest to the typed word; without an area, in any area: "bar1-to-small" finds
 * pci/bar1-too-small. */
static const struct rule *nearest(const char *word)
{
	size_t count;
	const struct rule *const *rules = rule_all(&count);
	const struct rule *found = NULL;
	struct spelling spelling;

	spelling_begin(&spelling, word);
	for (size_t i = 0; i < count; i++) {
		const char *id = rules[i]->id;

		if (spelling_offer(&spelling, strchr(word, '/') ? id : strchr(id, '/') + 1))
			found = rules[i];
	}
	return found;
}

enum exit_status refuse_rule(const char *id)
{
	const struct rule *other = nearest(id);

	if (other)
		complain("no rule is called '%s'; did you mean %s?", id, other->id);
	else
		complain("no rule is called '%s'; 'nvnodecheck rules' lists them", id);
	return EXIT_USAGE;
}

static enum exit_status explain_print(const struct rule *const *list, size_t count,
				      const struct options *options)
{
	if (options->format == FORMAT_JSON)
		return render_rules_json(list, count);
	return count == 1 ? render_rule_text(list[0], &options->render)
			  : render_rules_titles(list, count, &options->render);
}

enum exit_status cmd_explain(const struct options *options)
{
	size_t all, count;
	struct output output;
	enum exit_status status;

	rule_all(&all);
	_cleanup_free_ const struct rule **list = memory_need(calloc(all, sizeof(*list)));

	count = rule_search(options->args, options->args_count, list);
	if (!count)
		return refuse_rule(options->args[0]);
	if (output_begin(&output, options->output, OUTPUT_MODE))
		return EXIT_CANNOT;
	status = explain_print(list, count, options);
	return output_end(&output, !status) ? EXIT_CANNOT : status;
}
