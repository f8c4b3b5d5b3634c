/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fix-initramfs.c - the initramfs images that a plan must rebuild: those that have a module whose options change, of
 * the running kernel and of the kernel that boots next. The images of other kernels stay unchanged: one known-good
 * entry. */
#include <string.h>

#include "fixes/fix.h"
#include "query/distribution.h"
#include "query/setting.h"
#include "txn/txn.h"

static bool initramfs_has(const struct fixing *f, const struct initramfs_image *image,
			  const char *module)
{
	const char *names[NVIDIA_NAMES_MAX + 1];

	if (strcmp(module, "nvidia") != 0)
		return initramfs_has_module(image, module);
	setting_nvidia_names(f->node, names);
	for (size_t i = 0; names[i]; i++)
		if (initramfs_has_module(image, names[i]))
			return true;
	return false;
}

/* 0600 is usual for images of dracut: as an ordinary user one plans without having seen them. */
static bool was_not_opened(const struct initramfs_image *image)
{
	return is_unknown(image->complete);
}

static bool may_have(const struct fixing *f, const struct initramfs_image *image,
		     const char *module)
{
	return initramfs_has(f, image, module) || !known_is(image->complete, true);
}

static const char *tool_of(const struct fixing *f, const struct initramfs_image *image)
{
	const char *usual = distribution_generator(f->node);

	if (is_known(image->generator))
		return image->generator.value;
	return usual ? usual : "dracut";
}

bool fix_initramfs_allows(struct fixing *f, const char *module)
{
	for_each(image, &f->node->initramfs.images) {
		if (!may_have(f, image, module))
			continue;
		if (span_ends(span_of(image->path.value), ".efi"))
			return fix_refuse(
				f,
				"the initramfs is part of %s, a signed image; rebuild and sign "
				"that image",
				image->path.value);
		if (!known_is(image->complete, true) && !was_not_opened(image))
			return fix_refuse(
				f,
				"%s could not be read completely (%s), so it is not known whether "
				"it loads %s and with which options",
				image->path.value, image->problem.value, module);
		if (strcmp(tool_of(f, image), "booster") == 0)
			return fix_refuse(
				f, "%s was made by booster, which reads modprobe.d differently",
				image->path.value);
	}
	return true;
}

bool fix_has_dracut(const struct fixing *f)
{
	const struct initramfs_image *image = setting_next_initramfs(f->node);

	return image && strcmp(tool_of(f, image), "dracut") == 0;
}

/* ---- a generic dracut image has no /etc/modprobe.d ---- */

static bool is_etc(const char *path)
{
	return starts_with(path, "/etc/modprobe.d/");
}

static bool lacks_etc(const struct initramfs_image *image)
{
	if (!str_is(image->generator, "dracut") || !known_is(image->complete, true))
		return false;
	for_each(file, &image->modprobe.files)
		if (is_etc(file->path.value))
			return false;
	return true;
}

static const char *files_with_options(struct fixing *f, const struct initramfs_image *image)
{
	const struct modprobe_facts *m = fix_modprobe(f);
	const char *list = "";

	for_each(file, &m->files) {
		bool counts = false;

		for_each(o, &m->options)
			counts |= str_is(o->file, file->path.value) &&
				  initramfs_has(f, image, o->module.value);
		for_each(b, &m->blacklist)
			counts |= str_is(b->file, file->path.value) &&
				  initramfs_has(f, image, b->module.value);
		if (counts && is_etc(file->path.value))
			list = arena_printf(f->arena, "%s %s", list, file->path.value);
	}
	return list;
}

/* dracut copies /etc/modprobe.d only into an image for this host; dracut.conf(5). */
static void name_files_to_dracut(struct fixing *f, const struct initramfs_image *image)
{
	const char *list = files_with_options(f, image);
	struct draft *draft;

	if (!*list)
		return;
	draft = draft_open(f, OWN_DRACUT, "a generic image includes no file of /etc/modprobe.d");
	if (draft)
		draft_line(f, draft, "install_items+=",
			   arena_printf(f->arena, "install_items+=\"%s \"", list));
}

/* ---- steps ---- */

/* Files of /run and /usr/local never reach an image. */
static bool reaches_initramfs(const char *file)
{
	return is_etc(file) || starts_with(file, "/usr/lib/") || starts_with(file, "/lib/");
}

/* "nvidia" means all names of that driver. */
static bool is_in(const struct fixing *f, const struct initramfs_image *image, const char *module)
{
	const char *names[NVIDIA_NAMES_MAX + 1];

	setting_nvidia_names(f->node, names);
	for (size_t i = 0; names[i]; i++)
		if (strcmp(names[i], module) == 0)
			return initramfs_has(f, image, "nvidia");
	return initramfs_has_module(image, module);
}

static const char *const *must_hold(struct fixing *f, const struct initramfs_image *image)
{
	const struct modprobe_facts *m = fix_modprobe(f);
	size_t most = m->assignments.count + m->blacklist.count + 1, n = 0;
	const char **list = arena_alloc(f->arena, most * sizeof(*list));

	for_each(a, &m->assignments)
		if (known_is(a->effective, true) && reaches_initramfs(a->file.value) &&
		    is_in(f, image, a->module.value) && is_known(a->value))
			list[n++] = arena_printf(f->arena, "%s %s=%s", a->module.value,
						 a->param.value, a->value.value);
	for_each(b, &m->blacklist)
		if (!is_known(b->text) && reaches_initramfs(b->file.value) &&
		    is_in(f, image, b->module.value))
			list[n++] = arena_printf(f->arena, "blacklist %s", b->module.value);
	return n ? list : NULL;
}

static bool blocks(const struct modprobe_facts *m, const char *module)
{
	for_each(b, &m->blacklist)
		if (str_is(b->module, module) && !is_known(b->text))
			return true;
	return false;
}

static bool same_value(const struct modprobe_assignment *a, const struct modprobe_assignment *b)
{
	return b && a->value.state == b->value.state &&
	       (!is_known(a->value) || str_is(a->value, b->value.value));
}

/* Returns true if A sets something for the image's modules that B does not set. */
static bool says_more(const struct fixing *f, const struct initramfs_image *image,
		      const struct modprobe_facts *a, const struct modprobe_facts *b)
{
	for_each(x, &a->assignments)
		if (known_is(x->effective, true) && reaches_initramfs(x->file.value) &&
		    is_in(f, image, x->module.value) &&
		    !same_value(x, setting_assignment(b, x->module.value, x->param.value)))
			return true;
	for_each(x, &a->blacklist)
		if (!is_known(x->text) && reaches_initramfs(x->file.value) &&
		    is_in(f, image, x->module.value) && !blocks(b, x->module.value))
			return true;
	return false;
}

static bool needs_build(struct fixing *f, const struct initramfs_image *image)
{
	const struct modprobe_facts *m = fix_modprobe(f);

	for_each(path, &f->rebuild)
		if (str_is(image->path, *path))
			return true;
	for_each(module, &f->touched)
		if (may_have(f, image, *module) &&
		    (!known_is(image->complete, true) || says_more(f, image, m, &image->modprobe) ||
		     says_more(f, image, &image->modprobe, m)))
			return true;
	return false;
}

void fix_each_initramfs(struct fixing *f)
{
	for_each(image, &f->node->initramfs.images) {
		struct plan_step *step;

		if (!needs_build(f, image) || !is_known(image->kernel))
			continue;
		/* A document of facts can have any text there; its image would be built beside it. */
		if (image->path.value[0] != '/') {
			fix_refuse(f, "the path of an initramfs image is not absolute: %s",
				   image->path.value);
			continue;
		}
		if (lacks_etc(image))
			name_files_to_dracut(f, image);
		step = fix_step(f, PLAN_INITRAMFS, image->kernel.value, NULL);
		step->path = image->path.value;
		step->tool = tool_of(f, image);
		step->argv = txn_initramfs_command(f->arena, step->tool, step->subject, step->path);
		step->must_hold = must_hold(f, image);
	}
}
