/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fix-unread.c - files that could not be read. The setting that a repair would change may be in
 * one of them, so that nothing need be changed in the others is no proof that all is right. */
#include <string.h>

#include "base/array.h"
#include "fixes/fix.h"

/* Whose facts say what a repair finds on disk. */
static const char *const options[] = { "modprobe", "initramfs", "cmdline", "boot", NULL };
static const char *const arguments[] = { "cmdline", "boot", NULL };
static const char *const limits[] = { "limits", "limit-settings", NULL };
static const char *const modules[] = { "modules", "module-files", "modprobe", "services", NULL };
static const char *const services[] = { "services", NULL };

/* Repairs that are not named here write what they change in any case. */
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
