/* SPDX-License-Identifier: GPL-2.0-or-later */
/* initramfs-finish.c - facts from what was kept of an image. Only now are all its links known, so only
 * now can two spellings of a path be compared. */
#include <errno.h>
#include <string.h>

#include "parse/links.h"
#include "parse/modprobe.h"
#include "probes/boot/initramfs-contents-private.h"

/* ---- paths ---- */

static int link_in_initramfs(void *user, const char *path, char target[PATH_MAX])
{
	const struct contents_item *item = contents_find(user, path);

	if (!item || item->kind != ITEM_LINK || !item->known)
		return -EINVAL;
	memcpy(target, item->body, item->size);
	target[item->size] = '\0';
	return 0;
}

/* The path without links in its folders; with LAST, also without one at its end. */
static bool resolve(struct contents *c, const char *path, char real[PATH_MAX], bool last)
{
	const char *name = span_base_name(path);
	char folder[PATH_MAX];

	if (last)
		return links_resolve(path, real, link_in_initramfs, c) == 0;
	if (name - path >= PATH_MAX)
		return false;
	memcpy(folder, path, (size_t)(name - path));
	folder[name - path] = '\0';
	if (links_resolve(folder, real, link_in_initramfs, c))
		return false;
	if (strlen(real) + strlen(name) + 2 > PATH_MAX)
		return false;
	if (strcmp(real, "/") != 0)
		strcat(real, "/");
	strcat(real, name);
	return true;
}

/* An item by the path that it has once the links are followed: the archive may spell it otherwise.
 */
static const struct contents_item *find_real(struct contents *c, const char *real)
{
	const struct contents_item *found = contents_find(c, real);
	char other[PATH_MAX];

	if (found && found->kind != ITEM_GONE)
		return found;
	found = NULL;
	for_each(item, &c->items)
		if (item->kind != ITEM_GONE &&
		    strcmp(span_base_name(item->path), span_base_name(real)) == 0 &&
		    resolve(c, item->path, other, false) && strcmp(other, real) == 0)
			found = item;
	return found;
}

/* ---- modules ---- */

static int compare_modules(const void *a, const void *b)
{
	const struct initramfs_module *x = a, *y = b;

	return strcmp(x->path.value, y->path.value);
}

static void list_modules(struct contents *c, struct initramfs_image *image, struct arena *arena)
{
	char real[PATH_MAX], target[PATH_MAX], name[NAME_MAX + 1];

	image->modules.state = FACT_KNOWN;
	for_each(item, &c->items) {
		const struct contents_item *file = item;
		struct initramfs_module *module = NULL;

		if (item->kind == ITEM_GONE || !item->module_name ||
		    !resolve(c, item->path, real, false))
			continue;
		if (item->kind == ITEM_LINK)
			file = resolve(c, item->path, target, true) ? find_real(c, target) : NULL;
		/* Two spellings of one path: the later one is there in the end. */
		for_each_mut(m, &image->modules)
			if (str_is(m->path, real))
				module = m;
		if (!module && image->modules.count == CONTENTS_MODULES_MAX) {
			c->problem = "more modules than are listed";
			break;
		}
		if (!module)
			module = LIST_ADD(arena, &image->modules);
		contents_module_name(span_base_name(real), name);
		module->path = fact_str(arena, real);
		module->name = fact_str(arena, name);
		module->version = (struct fact_str){ 0 };
		if (file && file->known && file->kind == ITEM_MODULE)
			module->version = is_known(file->version)
						  ? fact_str(arena, file->version.value)
						  : file->version;
	}
	fact_list_sort(&image->modules, sizeof(*image->modules.items), compare_modules);
}

/* ---- modprobe.d ---- */

struct reading {
	struct contents *c;
	LIST(struct modprobe_input) inputs;
	LIST(const char *) folders;
};

/* Reads the file that a link leads to. A file that was too large to keep, or has another name than *.conf, is
 * unknown; a link to /dev/null masks. */
static void read_config(struct reading *r, const struct contents_item *item, const char *path)
{
	struct modprobe_input *input = NULL;
	char real[PATH_MAX];

	/* Two spellings of one path, as above. */
	for_each_mut(i, &r->inputs)
		if (strcmp(i->path, path) == 0)
			input = i;
	if (!input)
		input = LIST_ADD(r->c->arena, &r->inputs);
	*input = (struct modprobe_input){ .path = arena_strdup(r->c->arena, path),
					  .kind = MODPROBE_UNREAD,
					  .mtime_s.state = FACT_ABSENT };
	if (item->kind == ITEM_LINK) {
		if (!resolve(r->c, item->path, real, true))
			return;
		if (strcmp(real, "/dev/null") == 0) {
			input->kind = MODPROBE_TEXT;
			return;
		}
		item = find_real(r->c, real);
	}
	if (!item || item->kind != ITEM_FILE || !item->known)
		return;
	input->kind = MODPROBE_TEXT;
	input->text = (struct span){ item->body, item->size };
}

/* The items right in FOLDER, which has no links in it. */
static void read_folder(struct reading *r, const char *folder)
{
	size_t n = strlen(folder);
	char real[PATH_MAX];

	for_each(item, &r->c->items) {
		const char *base = span_base_name(item->path);

		if (item->kind != ITEM_FILE && item->kind != ITEM_LINK)
			continue;
		if (!modprobe_is_config(span_of(base)) || !resolve(r->c, item->path, real, false))
			continue;
		if (strncmp(real, folder, n) == 0 && real[n] == '/' &&
		    strcmp(real + n + 1, base) == 0)
			read_config(r, item, real);
	}
}

static void read_folders(struct reading *r)
{
	char real[PATH_MAX];

	for (size_t i = 0; modprobe_folders[i]; i++) {
		bool seen = false;

		if (links_resolve(modprobe_folders[i], real, link_in_initramfs, r->c))
			continue;
		for_each(folder, &r->folders)
			seen |= strcmp(*folder, real) == 0;
		if (seen)
			continue;
		*LIST_ADD(r->c->arena, &r->folders) = arena_strdup(r->c->arena, real);
		read_folder(r, real);
	}
}

static void read_softdeps(struct reading *r)
{
	for_each(item, &r->c->items)
		if (item->kind == ITEM_FILE &&
		    strcmp(span_base_name(item->path), "modules.softdep") == 0)
			read_config(r, item, item->path);
}

static void read_modprobe(struct contents *c, struct modprobe_facts *facts, struct arena *arena)
{
	struct reading r = { .c = c };

	read_softdeps(&r);
	read_folders(&r);
	modprobe_select(r.inputs.items, r.inputs.count);
	for_each(input, &r.inputs)
		if (input->kind == MODPROBE_UNREAD && !input->masked_by)
			c->problem = arena_printf(c->arena, "%s could not be read", input->path);
	modprobe_parse(facts, arena, r.inputs.items, r.inputs.count, (struct span){ 0 });
	if (!c->problem && !known_is(facts->complete, true))
		c->problem = "more lines about GPU and RDMA modules in modprobe.d than are kept";
}

void contents_finish(struct contents *c, struct initramfs_image *image, struct arena *arena,
		     bool whole)
{
	if (c->generator)
		image->generator = fact_str(arena, c->generator);
	else if (whole && !c->problem)
		image->generator.state = FACT_ABSENT;
	list_modules(c, image, arena);
	if (whole && !c->problem)
		read_modprobe(c, &image->modprobe, arena);
}
