/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module-block.c - finds the lines of modprobe's configuration, and the kernel arguments, that keep a module from being
 * loaded.
 */
#include "query/module-block.h"

#include <inttypes.h>
#include <string.h>

static const char *command_place(struct arena *arena, const struct modprobe_command *command)
{
	if (is_known(command->file) && is_known(command->line))
		return arena_printf(arena, "%s:%" PRIu64, command->file.value, command->line.value);
	return is_known(command->file) ? command->file.value : "a file that is not known";
}

/* An install line that runs modprobe itself loads the module after all, as those of Debian's packages do. */
static bool is_refusal(const struct modprobe_command *install)
{
	return is_known(install->text) && !strstr(install->text.value, "modprobe") &&
	       !strstr(install->text.value, "insmod");
}

/* Every line is named: without the others the one that was removed first changes nothing. */
struct found {
	struct arena *arena;
	const char *text; /* NULL: none yet */
	const char *fact; /* of the first */
};

static void add(struct found *found, const char *text, const char *fact)
{
	if (!found->text)
		found->fact = fact;
	found->text = found->text ? arena_printf(found->arena, "%s and %s", found->text, text)
				  : text;
}

const char *module_block_find(struct arena *arena, const struct node *node, const char *name,
			      const char **fact)
{
	const struct modprobe_facts *modprobe = &node->modprobe;
	struct found found = { .arena = arena };

	for_each(install, &modprobe->install) {
		if (str_is(install->module, name) && is_refusal(install))
			add(&found,
			    arena_printf(arena, "install %s %s in %s", name, install->text.value,
					 command_place(arena, install)),
			    ITEM_FACT(arena, node, modprobe.install, install, text));
	}
	for_each(line, &modprobe->blacklist) {
		if (str_is(line->module, name))
			add(&found,
			    is_known(line->text)
				    ? arena_printf(arena, "%s=%s on the kernel command line",
						   line->text.value, name)
				    : arena_printf(arena, "blacklist %s in %s", name,
						   command_place(arena, line)),
			    ITEM_FACT(arena, node, modprobe.blacklist, line, module));
	}
	if (found.text)
		*fact = found.fact;
	return found.text;
}
