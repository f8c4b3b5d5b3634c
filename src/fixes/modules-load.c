/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-load.c - modules loaded, now and at every boot. */
#include <string.h>

#include "fixes/fix.h"

static bool is_module_name(const char *name)
{
	return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == strlen(name);
}

/* Arguments: the module, or "" for the finding's subject; "boot" if nothing else loads it at boot. */
static void modules_load_plan(struct fixing *f)
{
	const char *module = fix_arg(f, 0);

	if (!module || !*module)
		module = fix_subject(f);
	if (is_module_name(module) && fix_load_now(f, module) && fix_arg(f, 1))
		fix_load_at_boot(f, module);
}

const struct fix fix_load_module = {
	.name = "load-module",
	.title = "A module loaded now, and at boot by /etc/modules-load.d/nvnodecheck.conf; with "
		 "dracut by a systemd unit, so that the initramfs does not include the module",
	.plan = modules_load_plan,
};
