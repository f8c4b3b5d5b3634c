/* SPDX-License-Identifier: GPL-2.0-or-later */
/* depmod.c - the index of a kernel's modules. */
#include <string.h>

#include "fixes/fix.h"

#define FOLDER "/lib/modules/"

/* The kernel of the subject's folder, or the running one. */
static const char *kernel_of(struct fixing *f)
{
	const char *at = strstr(fix_subject(f), FOLDER);

	if (at)
		return arena_strndup(f->arena, at + strlen(FOLDER),
				     strcspn(at + strlen(FOLDER), "/"));
	for_each(k, &f->node->modules.kernels)
		if (str_is(k->release, fix_subject(f)))
			return k->release.value;
	return is_known(f->node->os.kernel) ? f->node->os.kernel.value : NULL;
}

static void depmod_plan(struct fixing *f)
{
	const char *kernel = kernel_of(f);

	if (!kernel)
		return;
	fix_step(f, PLAN_DEPMOD, kernel, fix_argv(f, "/sbin/depmod", "-a", kernel));
	fix_does(f, ACTIVATION_NOW, "rebuild the module index of %s", kernel);
}

const struct fix fix_index_modules = {
	.name = "index-modules",
	.title = "The index of a kernel's modules rebuilt by depmod",
	.plan = depmod_plan,
};
