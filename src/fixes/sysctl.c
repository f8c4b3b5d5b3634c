/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl.c - kernel settings, now and at boot. */

#include "fixes/fix.h"

static void set_sysctl(struct fixing *f, struct draft *draft, const char *name, const char *value)
{
	if (!fix_is_last(f, OWN_SYSCTL, "sysctl.d", name))
		return;
	draft_line(f, draft, arena_printf(f->arena, "%s =", name),
		   arena_printf(f->arena, "%s = %s", name, value));
	fix_step(f, PLAN_SYSCTL, arena_printf(f->arena, "%s=%s", name, value), NULL);
	fix_does(f, ACTIVATION_NOW, "set %s to %s", name, value);
}

/* Arguments: name and value, once or twice. */
static void sysctl_plan(struct fixing *f)
{
	struct draft *draft = draft_open(f, OWN_SYSCTL, "kernel settings");

	for (size_t i = 0; draft && i < FIX_ARGS_MAX && fix_arg(f, i); i += 2)
		set_sysctl(f, draft, fix_arg(f, i), fix_arg(f, i + 1));
}

const struct fix fix_set_sysctl = {
	.name = "set-sysctl",
	.title = "Kernel settings, now and by " OWN_SYSCTL,
	.plan = sysctl_plan,
};
