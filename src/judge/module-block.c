/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "judge/module-block.h"

static const char *say_place(struct judge *j, const struct modprobe_command *command)
{
	if (is_known(command->file) && is_known(command->line))
		return say(j, "%s:%" PRIu64, command->file.value, command->line.value);
	return is_known(command->file) ? command->file.value : "a file that is not known";
}

/* An install line that runs modprobe itself loads the module after all, as those of Debian's packages do. */
static bool is_refusal(const struct modprobe_command *install)
{
	return is_known(install->text) && !strstr(install->text.value, "modprobe") &&
	       !strstr(install->text.value, "insmod");
}

const char *say_module_block(struct judge *j, const char *name, const char **fact)
{
	const struct modprobe_facts *modprobe = &j->node->modprobe;
	size_t i = 0;

	for_each(install, &modprobe->install) {
		if (str_is(install->module, name) && is_refusal(install)) {
			*fact = say(j, "modprobe.install[#%zu].text", i);
			return say(j, "install %s %s in %s", name, install->text.value,
				   say_place(j, install));
		}
		i++;
	}
	i = 0;
	for_each(line, &modprobe->blacklist) {
		if (str_is(line->module, name)) {
			*fact = say(j, "modprobe.blacklist[#%zu].module", i);
			if (is_known(line->text))
				return say(j, "%s=%s on the kernel command line", line->text.value, name);
			return say(j, "blacklist %s in %s", name, say_place(j, line));
		}
		i++;
	}
	return NULL;
}
