/* SPDX-License-Identifier: GPL-2.0-or-later */
/* initramfs.c - an image whose driver, or whose options of the driver, differ from those on disk. */
#include <string.h>

#include "fixes/fix.h"
#include "query/setting.h"

static void build(struct fixing *f, const struct initramfs_image *image)
{
	if (!fix_initramfs_allows(f, "nvidia"))
		return;
	*LIST_ADD(f->arena, &f->rebuild) = image->path.value;
	f->repair->changes = f->repair->lasts = true;
	fix_does(f, ACTIVATION_REBOOT, "rebuild %s from the files on disk", image->path.value);
	fix_costs(f, "The new image is read back and compared before it replaces the old one.");
}

static void plan_stale(struct fixing *f)
{
	for_each(image, &f->node->initramfs.images)
		if (str_is(image->path, fix_subject(f)))
			build(f, image);
}

/* Configured and not live: the image may lack it. Otherwise it is configured on disk. */
static void plan_not_live(struct fixing *f)
{
	const struct initramfs_image *image = setting_next_initramfs(f->node);
	const char *name = setting_param_name(fix_subject(f));
	const struct gap *unread = fix_unread(f, "activate-option");
	struct setting s;

	if (!name)
		return;
	s = setting_nvreg(f->node, name, f->arena);
	if (s.early_counts && !(s.early.state == FACT_KNOWN && s.configured.state == FACT_KNOWN &&
				strcmp(s.early.value, s.configured.value) == 0))
		build(f, image);
	else if (unread)
		fix_refuse_unread(f, unread);
	else
		fix_waits(f, ACTIVATION_REBOOT,
			  "configured on disk already; it takes effect when the driver is loaded "
			  "again or at the next boot");
}

const struct fix fix_rebuild_initramfs = {
	.name = "rebuild-initramfs",
	.title = "The initramfs rebuilt by the generator that made it, beside the old one; for "
		 "dracut's generic images, which leave modprobe.d out, also " OWN_DRACUT,
	.plan = plan_stale,
};

const struct fix fix_activate_option = {
	.name = "activate-option",
	.title = "The initramfs rebuilt if it lacks a configured option; otherwise the option "
		 "takes effect when the driver is loaded again",
	.plan = plan_not_live,
};
