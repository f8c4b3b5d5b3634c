/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * initramfs-contents.c - keeps a part of an initramfs image while it is read as a stream, and makes facts of it at the
 * end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/siphash.h"
#include "parse/modname.h"
#include "probes/boot/initramfs-contents-private.h"
#include "probes/boot/initramfs-decompress.h"

/* Memory for each piece in the arena and the table, besides its own bytes. */
#define KEPT_OVERHEAD 32

void contents_begin(struct contents *c, struct arena *arena)
{
	memset(c, 0, sizeof(*c));
	c->arena = arena;
	c->table_size = 1024;
	siphash_secret(c->secret);
	c->table = arena_alloc(arena, c->table_size * sizeof(*c->table));
}

/* ---- items by path ---- */

/* The place of PATH in the table, or the free one where it would be. */
static uint32_t *find_slot(struct contents *c, const char *path)
{
	size_t at = siphash(c->secret, path, strlen(path));

	for (;; at++) {
		uint32_t *slot = &c->table[at & (c->table_size - 1)];

		if (!*slot || strcmp(c->items.items[*slot - 1].path, path) == 0)
			return slot;
	}
}

static void grow_table(struct contents *c)
{
	c->table_size *= 2;
	c->table = arena_alloc(c->arena, c->table_size * sizeof(*c->table));
	for (uint32_t i = 0; i < c->items.count; i++)
		*find_slot(c, c->items.items[i].path) = i + 1;
}

struct contents_item *contents_find(struct contents *c, const char *path)
{
	uint32_t number = *find_slot(c, path);

	return number ? &c->items.items[number - 1] : NULL;
}

/* False when the limit is reached: what is not kept then makes the image one that was not read
 * whole. */
static bool may_keep(struct contents *c, size_t bytes)
{
	bytes += KEPT_OVERHEAD;
	if (c->kept + bytes > CONTENTS_KEPT_MAX) {
		c->problem = "more links and configuration files than are kept";
		return false;
	}
	c->kept += bytes;
	return true;
}

/* A later entry replaces an earlier one of its path. */
static struct contents_item *put_item(struct contents *c, const char *path,
				      const struct newc_entry *entry)
{
	struct contents_item *item = contents_find(c, path);
	const char *copy;

	if (!item) {
		if (!may_keep(c, sizeof(*item) + strlen(path)))
			return NULL;
		copy = arena_strdup(c->arena, path);
		item = LIST_ADD(c->arena, &c->items);
		item->path = copy;
		*find_slot(c, path) = c->items.count;
		if (c->items.count * 2 > c->table_size)
			grow_table(c);
	}
	*item = (struct contents_item){
		.path = item->path,
		.linked = entry->nlink > 1 && S_ISREG(entry->mode),
		.archive = c->archive,
		.ino = entry->ino,
		.dev_major = entry->dev_major,
		.dev_minor = entry->dev_minor,
	};
	return item;
}

/* ---- what an entry is ---- */

/* The compressor of a module's file: "none" for .ko; NULL when it is no module's. */
static const char *module_compressor(const char *name)
{
	static const char *const suffixes[][2] = {
		{ ".ko", "none" }, { ".ko.xz", "xz" }, { ".ko.zst", "zstd" }, { ".ko.gz", "gzip" }
	};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (span_ends(span_of(name), suffixes[i][0]))
			return suffixes[i][1];
	return NULL;
}

void contents_module_name(const char *base, char name[NAME_MAX + 1])
{
	size_t n = strcspn(base, ".");

	if (n > NAME_MAX)
		n = NAME_MAX;
	memcpy(name, base, n);
	name[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (name[i] == '-')
			name[i] = '_';
}

static bool is_wanted_module(const char *path)
{
	return module_compressor(path) && modname_is_ours(span_of(span_base_name(path)));
}

/* Files that identify the generator, and images that hold the rest inside another image. */
static void note_marker(struct contents *c, const char *path)
{
	static const char *const markers[][2] = {
		{ "conf/initramfs.conf", "initramfs-tools" },
		{ "scripts/functions", "initramfs-tools" },
		{ "init_functions", "mkinitcpio" },
		{ "buildconfig", "mkinitcpio" },
		{ "etc/booster.init.yaml", "booster" },
	};
	static const char *const hidden[] = { "squashfs-root.img", "squash-root.img",
					      "erofs-root.img" };
	const char *name = span_base_name(path);

	for (size_t i = 0; i < ARRAY_SIZE(markers); i++)
		if (strcmp(path, markers[i][0]) == 0)
			c->generator = markers[i][1];
	if (span_search(span_of(path), "lib/dracut/") &&
	    (starts_with(name, "dracut-") || strcmp(name, "build-parameter.txt") == 0))
		c->generator = "dracut";
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		if (strcmp(name, hidden[i]) == 0)
			c->problem = "most of it is inside a squashfs or erofs image in it: "
				     "lsinitrd can list that";
}

/* ---- bodies ---- */

static void read_body(struct contents *c, struct newc *newc, struct contents_item *item,
		      size_t size)
{
	struct span block;
	size_t at = 0;
	char *body;
	int rc;

	if (size > CONTENTS_BODY_MAX || !may_keep(c, size))
		return;
	body = arena_alloc(c->arena, size + 1);
	while ((rc = newc_body(newc, &block)) == 1) {
		memcpy(body + at, block.p, block.n);
		at += block.n;
	}
	if (rc)
		return;
	item->body = body;
	item->size = at;
	item->known = true;
}

static int read_packed(void *user, struct span *block)
{
	return newc_body(user, block);
}

static bool scan_packed(struct contents *c, struct newc *newc, const char *compressor)
{
	struct decompress *d;
	uint64_t total = 0;
	struct span block;
	int rc = decompress_open(&d, compressor, read_packed, newc);

	while (rc == 0 || rc == 1) {
		rc = decompress_next(d, &block);
		if (rc != 1 || !modinfo_feed(&c->scan, block))
			break;
		total += block.n;
		if (total > CONTENTS_MODULE_MAX)
			rc = -EFBIG;
	}
	if (d)
		decompress_close(d);
	return rc >= 0;
}

static bool scan_plain(struct contents *c, struct newc *newc)
{
	struct span block;
	int rc;

	while ((rc = newc_body(newc, &block)) == 1)
		if (!modinfo_feed(&c->scan, block))
			return true;
	return rc == 0;
}

static void read_version(struct contents *c, struct newc *newc, struct contents_item *item)
{
	const char *compressor = module_compressor(item->path);
	bool whole;

	modinfo_begin(&c->scan);
	if (strcmp(compressor, "none") == 0)
		whole = scan_plain(c, newc);
	else
		whole = scan_packed(c, newc, compressor);
	if (!whole || !modinfo_end(&c->scan) || !may_keep(c, MODINFO_VERSION_MAX))
		return;
	item->version = FACT_NONE(fact_str);
	if (c->scan.version[0])
		item->version = fact_str(c->arena, c->scan.version);
	item->known = true;
}

/* ---- entries ---- */

static bool is_config(const char *path)
{
	return span_ends(span_of(path), ".conf") ||
	       strcmp(span_base_name(path), "modules.softdep") == 0;
}

/* A file with several names whose body may belong to one that is kept. */
static bool may_carry(const struct newc_entry *entry, const char *path)
{
	return entry->nlink > 1 && entry->size > 0 &&
	       (entry->size <= CONTENTS_BODY_MAX || module_compressor(path));
}

static void add_file(struct contents *c, struct newc *newc, const struct newc_entry *entry,
		     const char *path)
{
	bool wanted = is_wanted_module(path), module = wanted;
	struct contents_item *item;

	if (!module && !is_config(path) && may_carry(entry, path))
		module = module_compressor(path) != NULL;
	else if (!module && !is_config(path))
		return;
	item = put_item(c, path, entry);
	if (!item)
		return;
	item->kind = module ? ITEM_MODULE : ITEM_FILE;
	item->module_name = wanted;
	/* The body of a hard link stands with another of its names. */
	if (entry->size == 0 && item->linked)
		return;
	if (module)
		read_version(c, newc, item);
	else
		read_body(c, newc, item, entry->size);
}

static void add_link(struct contents *c, struct newc *newc, const struct newc_entry *entry,
		     const char *path)
{
	struct contents_item *item = put_item(c, path, entry);

	if (!item)
		return;
	item->kind = ITEM_LINK;
	item->module_name = is_wanted_module(path);
	if (entry->size < PATH_MAX)
		read_body(c, newc, item, entry->size);
}

void contents_add(struct contents *c, struct newc *newc, const struct newc_entry *entry)
{
	char path[PATH_MAX + 1] = "/";
	struct contents_item *before;

	memcpy(path + 1, entry->name, strlen(entry->name) + 1);
	note_marker(c, entry->name);
	if (c->each)
		c->each(c->each_user, entry->name);
	before = contents_find(c, path);
	if (before)
		before->kind = ITEM_GONE;
	if (S_ISREG(entry->mode))
		add_file(c, newc, entry, path);
	else if (S_ISLNK(entry->mode))
		add_link(c, newc, entry, path);
}

static int compare_links(const void *a, const void *b)
{
	const struct contents_item *x = *(const struct contents_item *const *)a;
	const struct contents_item *y = *(const struct contents_item *const *)b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->dev_major != y->dev_major)
		return x->dev_major < y->dev_major ? -1 : 1;
	if (x->dev_minor != y->dev_minor)
		return x->dev_minor < y->dev_minor ? -1 : 1;
	return x->known != y->known ? (x->known ? -1 : 1) : 0;
}

static bool same_file(const struct contents_item *x, const struct contents_item *y)
{
	return x->ino == y->ino && x->dev_major == y->dev_major && x->dev_minor == y->dev_minor;
}

/* Gives every name of a file what was read under one of them. */
void contents_end_archive(struct contents *c)
{
	_cleanup_free_ struct contents_item **links = NULL;
	const struct contents_item *first = NULL;
	size_t count = 0;

	for_each(item, &c->items)
		count += item->linked && item->archive == c->archive;
	links = count > 1 ? calloc(count, sizeof(*links)) : NULL;
	count = 0;
	if (links)
		for_each_mut(item, &c->items)
			if (item->linked && item->archive == c->archive)
				links[count++] = item;
	if (links)
		qsort(links, count, sizeof(*links), compare_links);
	for (size_t i = 0; i < count; i++) {
		if (!first || !same_file(first, links[i])) {
			first = links[i];
		} else if (first->known && !links[i]->known) {
			links[i]->body = first->body;
			links[i]->size = first->size;
			links[i]->version = first->version;
			links[i]->known = true;
		}
	}
	c->archive++;
}
