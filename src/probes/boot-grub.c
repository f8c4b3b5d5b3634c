/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-grub.c - GRUB's menu: grub.cfg, its grubenv, and the entries in /boot/loader/entries where
 * the distribution's GRUB reads those (blscfg). */

#include "parse/bls.h"
#include "parse/grub.h"
#include "probes/boot-find.h"

#define GRUBENV_MAX (64u << 10)
#define BLS_FOLDER "/boot/loader/entries"
#define BLS_FILE_MAX (16u << 10)

struct reading {
	struct probe_context *ctx;
	struct grub_env env;
	struct grub_menu menu;
	const char *file; /* grub.cfg */
	const struct grub_entry *chosen;
	uint32_t chosen_index;
	bool chosen_found;
};

/* ---- files ---- */

/* 0, -ENOENT when there is none, or why it could not be read. */
static int read_in(struct reading *r, const char *folder)
{
	struct probe_context *ctx = r->ctx;
	_cleanup_text_ struct text text = { 0 }, env = { 0 };
	const char *path = arena_printf(ctx->arena, "%s/grub.cfg", folder);
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s", path);

	if (rc)
		return rc;
	r->file = path;
	rc = host_read(ctx->host, &env, GRUBENV_MAX, "%s/grubenv", folder);
	if (rc && rc != -ENOENT)
		return rc;
	r->env = (struct grub_env){ .arena = ctx->arena };
	r->menu = (struct grub_menu){ .env = &r->env };
	grub_read_env(&r->env, text_span(&env));
	grub_read_menu(&r->menu, text_span(&text));
	return 0;
}

/* The distribution's folder on the EFI system partition, where RHEL 8 and before have it. */
static int read_in_efi(struct reading *r)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(r->ctx->host, &names, "/boot/efi/EFI");

	for (size_t i = 0; i < names.count; i++) {
		rc = read_in(r, arena_printf(r->ctx->arena, "/boot/efi/EFI/%s", names.items[i]));
		if (rc != -ENOENT)
			return rc;
	}
	return rc;
}

/* ---- entries in files of their own ---- */

static void add_bls_file(struct reading *r, void *list, const char *name)
{
	typeof(&(LIST(struct bls_entry)){ 0 }) entries = list;
	struct probe_context *ctx = r->ctx;
	_cleanup_text_ struct text text = { 0 };
	struct bls_entry entry;

	if (entries->count == GRUB_ENTRIES_MAX ||
	    host_read(ctx->host, &text, BLS_FILE_MAX, BLS_FOLDER "/%s", name)) {
		r->menu.overflow = true;
		return;
	}
	if (!bls_read(&entry, ctx->arena, span_of(name), text_span(&text), BLS_GRUB) ||
	    !entry.kernel)
		return;
	entry.file = arena_printf(ctx->arena, BLS_FOLDER "/%s", name);
	*LIST_ADD(ctx->arena, entries) = entry;
}

/* blscfg makes a script of each entry, so its options go through the script language, too. */
static struct grub_entry as_grub_entry(struct reading *r, const struct bls_entry *bls)
{
	const char *options = bls->options ? bls->options : grub_get(&r->env, "default_kernelopts");

	return (struct grub_entry){
		.title = bls->title ? bls->title : bls->kernel,
		.id = bls->id,
		.kernel = bls->kernel,
		.initrd = bls->initrd,
		.cmdline = grub_command_line(&r->env, span_of(options)),
		.file = bls->file,
		.release = bls->version,
	};
}

/* Puts them where blscfg stands. */
static void insert_bls(struct reading *r)
{
	struct probe_context *ctx = r->ctx;
	_cleanup_names_ struct names names = { 0 };
	LIST(struct bls_entry) entries = { 0 };
	typeof(r->menu.entries) merged = { 0 };
	int rc = host_list(ctx->host, &names, BLS_FOLDER);
	size_t count;

	r->menu.overflow |= rc && rc != -ENOENT;
	for (size_t i = 0; i < names.count; i++)
		if (names.items[i][0] != '.' && span_ends(span_of(names.items[i]), ".conf"))
			add_bls_file(r, &entries, names.items[i]);
	count = bls_sort(entries.items, entries.count, BLS_GRUB);
	for_each(entry, &r->menu.entries) {
		if (!entry->blscfg)
			*LIST_ADD(ctx->arena, &merged) = *entry;
		for (size_t i = 0; i < count && entry->blscfg; i++)
			*LIST_ADD(ctx->arena, &merged) = as_grub_entry(r, &entries.items[i]);
	}
	r->menu.entries = merged;
}

/* ---- facts ---- */

static void add_entries(struct reading *r, const struct grub_entry *items, uint32_t count,
			const char *outer)
{
	struct probe_context *ctx = r->ctx;

	for (uint32_t i = 0; i < count; i++) {
		const struct grub_entry *e = &items[i];
		const char *id = e->id ? e->id : e->title ? e->title : "";
		uint32_t index;

		if (outer)
			id = arena_printf(ctx->arena, "%s>%s", outer, id);
		if (e->submenu)
			add_entries(r, e->entries.items, e->entries.count, id);
		if (e->submenu || !e->kernel || ctx->node->boot.entries.count == BOOT_ENTRIES_MAX)
			continue;
		index = boot_add(ctx, &(struct boot_line){
					      .id = id,
					      .title = e->title,
					      .release = e->release,
					      .kernel = e->kernel,
					      .initrd = e->initrd,
					      .cmdline = e->cmdline,
					      .file = e->file ? e->file : r->file,
					      .line = e->line,
				      });
		if (e == r->chosen) {
			r->chosen_index = index;
			r->chosen_found = true;
		}
	}
}

static void fill(struct reading *r)
{
	struct probe_context *ctx = r->ctx;
	const char *id;

	ctx->node->boot.loader = fact_enum(r->menu.blscfg ? BOOT_GRUB_BLS : BOOT_GRUB);
	if (r->menu.blscfg)
		insert_bls(r);
	if (r->menu.overflow) {
		host_gap_note(ctx->host, r->file, -EOVERFLOW,
			      "its menu could not be read whole, so the next entry is not known");
		return;
	}
	r->chosen = grub_choose(&r->menu, grub_get(&r->env, "default"), ctx->arena, &id);
	ctx->node->boot.entries.state = FACT_KNOWN;
	add_entries(r, r->menu.entries.items, r->menu.entries.count, NULL);
	if (r->chosen_found)
		boot_set_next(ctx, r->chosen_index);
	else
		host_gap_note(ctx->host, r->file, -ENODATA,
			      "the entry that boots next starts no Linux kernel");
}

bool boot_read_grub(struct probe_context *ctx)
{
	struct reading r = { .ctx = ctx };
	int rc = read_in(&r, "/boot/grub");

	if (rc == -ENOENT)
		rc = read_in(&r, "/boot/grub2");
	if (rc == -ENOENT)
		rc = read_in_efi(&r);
	if (rc == -ENOENT)
		return false;
	if (rc == 0)
		fill(&r);
	else if (rc != -ENODATA)
		ctx->node->boot.loader = fact_enum(BOOT_GRUB);
	return rc != -ENODATA;
}
