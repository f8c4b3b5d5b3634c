/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan-unread.c - files that could not be read. What a repair would change may stand in one of them, so
 * that nothing need be changed in the others is no proof that all is right. */
#include <string.h>

#include "fixes/fix.h"

#define PROBES_MAX 5

/* Whose facts say what each kind of repair finds on disk. */
static const struct {
	const char *fix;
	const char *probes[PROBES_MAX];
} sources[] = {
	{ "acs", { "cmdline", "boot" } },
	{ "blacklist", { "modprobe", "initramfs", "cmdline", "boot" } },
	{ "cmdline", { "cmdline", "boot" } },
	{ "initramfs", { "modprobe", "initramfs", "cmdline", "boot" } },
	{ "limits", { "limits", "limit-settings" } },
	{ "modprobe-option", { "modprobe", "initramfs", "cmdline", "boot" } },
	{ "modules-load", { "modules", "module-files", "modprobe" } },
	{ "peermem", { "modules", "module-files", "modprobe", "services" } },
	{ "service", { "services" } },
};

static bool concerns(const char *fix, const struct gap *gap)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		for (size_t k = 0; strcmp(sources[i].fix, fix) == 0 && k < PROBES_MAX; k++)
			if (sources[i].probes[k] && str_is(gap->probe, sources[i].probes[k]))
				return true;
	return false;
}

const struct gap *fix_unread(const struct fixing *f, const char *fix)
{
	for_each(gap, &f->node->gaps)
		if (concerns(fix, gap))
			return gap;
	return NULL;
}
