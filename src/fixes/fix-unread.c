/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fix-unread.c - files that could not be read. One of them may have the setting that a repair would change. So if the
 * other files need no change, this proves nothing. */
#include <string.h>

#include "base/array.h"
#include "fixes/fix.h"

/* The kinds of repair that read files for their decision, and the facts about these files. */
static const char *const options[] = { "modprobe", "initramfs", "cmdline", "boot", NULL };
static const char *const arguments[] = { "cmdline", "boot", NULL };
static const char *const limits[] = { "limits", "limit-settings", NULL };
static const char *const modules[] = { "modules", "module-files", "modprobe", "services", NULL };
static const char *const services[] = { "services", NULL };

/* Repairs without a row write their changes in any case. */
static const struct {
	const char *fix;
	const char *const *probes;
} sources[] = {
	{ "activate-option", options },	     { "block-nouveau", options },
	{ "block-nvidia-drm", options },     { "clear-acs-redirect", arguments },
	{ "iommu-passthrough", arguments },  { "keep-live-option", options },
	{ "load-module", modules },	     { "merge-registry", options },
	{ "raise-limit", limits },	     { "rebuild-initramfs", options },
	{ "remove-argument", arguments },    { "remove-option", options },
	{ "remove-refused-value", options }, { "remove-unknown-option", options },
	{ "rename-option-module", options }, { "replace-nv-peer-mem", modules },
	{ "set-option", options },	     { "set-registry-key", options },
	{ "set-resizable-bar", options },    { "start-service", services },
	{ "unmask-file", options },
};

static const char *const *probes_of(const char *fix)
{
	for (size_t i = 0; fix && i < ARRAY_SIZE(sources); i++)
		if (strcmp(sources[i].fix, fix) == 0)
			return sources[i].probes;
	return NULL;
}

static bool is_of(const struct gap *gap, const char *const *probes)
{
	for (; probes && *probes; probes++)
		if (str_is(gap->probe, *probes))
			return true;
	return false;
}

const struct gap *fix_unread(const struct fixing *f, const char *fix)
{
	for_each(gap, &f->node->gaps)
		if (is_of(gap, probes_of(fix)))
			return gap;
	return NULL;
}
