/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fnmatch.h>
#include <string.h>

#include "base/memory.h"
#include "cmd.h"
#include "render/render.h"
#include "rule.h"

/* WORD is a pattern, or an area: "pci" is all of pci/. */
static bool is_meant(const char *word, const char *id)
{
	size_t n = strlen(word);

	return fnmatch(word, id, 0) == 0 || (strncmp(word, id, n) == 0 && id[n] == '/');
}

enum exit_status cmd_rules(const struct options *options)
{
	size_t count, chosen = 0;
	const struct rule *const *rules = rule_all(&count);
	_cleanup_free_ const struct rule **list =
		memory_need(calloc(count, sizeof(*list)));

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
	switch (options->format) {
	case FORMAT_JSON:
		return render_rules_json(list, chosen);
	case FORMAT_MAN:
		return render_rules_man(list, chosen);
	default:
		return render_rules_text(list, chosen, options);
	}
}
