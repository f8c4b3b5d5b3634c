/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fnmatch.h>
#include <string.h>

#include "base/memory.h"
#include "base/output.h"
#include "cli/cmd.h"
#include "evaluate/rule.h"
#include "render/render.h"

/* WORD is a pattern, or an area: "pci" is all of pci/. */
static bool is_meant(const char *word, const char *id)
{
	size_t n = strlen(word);

	return fnmatch(word, id, 0) == 0 || (strncmp(word, id, n) == 0 && id[n] == '/');
}

static enum exit_status print(const struct rule *const *list, size_t count,
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

	for (size_t i = 0; i < count; i++) {
		if (options->args_count && !is_meant(options->args[0], rules[i]->id))
			continue;
		if (options->profiles && !(rules[i]->profiles & options->profiles))
			continue;
		list[chosen++] = rules[i];
	}
	if (!chosen) {
		complain("no rule matches '%s'", options->args_count ? options->args[0] : "");
		return EXIT_USAGE;
	}
	if (output_begin(&output, options->output, OUTPUT_MODE))
		return EXIT_CANNOT;
	status = print(list, chosen, options);
	return output_end(&output, !status) ? EXIT_CANNOT : status;
}
