/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl.c - kernel settings, now and at boot. */

#include "fixes/fix.h"

static const struct {
	const char *rule;
	const char *name;
	const char *value;
} settings[] = {
	{ "sysctl/numa-balancing-enabled", "kernel.numa_balancing", "0" },
	{ "net/arp-flux", "net.ipv4.conf.all.arp_ignore", "1" },
	{ "net/arp-flux", "net.ipv4.conf.all.arp_announce", "2" },
};

static void plan(struct fixing *f)
{
	struct draft *draft = draft_open(f, OWN_SYSCTL, "kernel settings");

	for (size_t i = 0; draft && i < sizeof(settings) / sizeof(settings[0]); i++) {
		const char *name = settings[i].name, *value = settings[i].value;

		if (!fix_rule_is(f, settings[i].rule) ||
		    !fix_is_last(f, OWN_SYSCTL, "sysctl.d", name))
			continue;
		draft_line(f, draft, arena_printf(f->arena, "%s =", name),
			   arena_printf(f->arena, "%s = %s", name, value));
		fix_step(f, PLAN_SYSCTL, arena_printf(f->arena, "%s=%s", name, value), NULL);
		fix_does(f, ACTIVATION_NOW, "set %s to %s", name, value);
	}
}

const struct fix fix_sysctl = {
	.name = "sysctl",
	.title = "Kernel settings, now and by " OWN_SYSCTL,
	.plan = plan,
};
