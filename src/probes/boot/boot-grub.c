/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-grub.c - GRUB's menu: grub.cfg, the files that it reads, and the entries in
 * /boot/loader/entries where the distribution's GRUB reads those (blscfg). */
#include <string.h>
#include <sys/stat.h>

#include "parse/bls.h"
#include "parse/grub.h"
#include "probes/boot/boot-find.h"

#define BLS_FOLDER "/boot/loader/entries"
#define BLS_FILE_MAX (16u << 10)
#define GRUBENV_MAX (64u << 10)

/* ---- what the script asks for ---- */

/* Returns the path on the host of a file that GRUB names; NULL: it depends on values that only GRUB has. */
static const char *place_of(struct probe_context *ctx, const char *path)
{
	const char *close = *path == '(' ? strchr(path, ')') : NULL;

	if (strchr(close ? close : path, '\1'))
		return NULL;
	if (starts_with(path, GRUB_HOST))
		return close + 1;
	return boot_path(ctx, NULL, path);
}

static int read_file(void *user, const char *path, struct arena *arena, struct span *span)
{
	struct probe_context *ctx = user;
	_cleanup_text_ struct text text = { 0 };
	const char *place = place_of(ctx, path);
	int rc = place ? host_read(ctx->host, &text, HOST_FILE_MAX, "%s", place) : -ENODATA;

	if (rc == 0)
		*span = (struct span){ arena_strndup(arena, text.data, text.size), text.size };
	return rc;
}

static int stat_path(void *user, const char *path, bool *folder, uint64_t *size)
{
	struct probe_context *ctx = user;
	const char *place = place_of(ctx, path);
	struct host_stat stat;
	int rc;

	if (!place)
		return -ENODATA;
	/* GRUB asks only for its size, and load_env reads it anyway. */
	if (span_ends(span_of(place), "/grubenv")) {
		_cleanup_text_ struct text text = { 0 };

		*folder = false;
		rc = host_read(ctx->host, &text, GRUBENV_MAX, "%s", place);
		*size = text.size;
		/* The file exists but cannot be read: load_env will report that. */
		return rc == -EACCES ? (int)(*size = 1024, 0) : rc;
	}
	rc = host_stat(ctx->host, &stat, "%s", place);
	*folder = rc == 0 && S_ISDIR(stat.mode);
	*size = rc == 0 ? stat.size : 0;
	return rc;
}

/* ---- entries in files of their own ---- */

typedef LIST(struct bls_entry) bls_entries;

static bool add_bls_file(struct probe_context *ctx, bls_entries *entries, const char *folder,
			 const char *name)
{
	_cleanup_text_ struct text text = { 0 };
	struct bls_entry entry;

	if (entries->count == GRUB_ENTRIES_MAX ||
	    host_read(ctx->host, &text, BLS_FILE_MAX, "%s/%s", folder, name))
		return false;
	if (!bls_read(&entry, ctx->arena, span_of(name), text_span(&text), BLS_GRUB) ||
	    !entry.kernel)
		return true;
	entry.file = arena_printf(ctx->arena, "%s/%s", folder, name);
	*LIST_ADD(ctx->arena, entries) = entry;
	return true;
}

static bool add_bls(void *user, struct grub_run *run, const char *folder)
{
	struct probe_context *ctx = user;
	_cleanup_names_ struct names names = { 0 };
	bls_entries entries = { 0 };
	bool whole = true;
	size_t count;
	int rc;

	folder = *folder ? boot_path(ctx, NULL, folder) : BLS_FOLDER;
	rc = host_list(ctx->host, &names, "%s", folder);
	if (rc && rc != -ENOENT)
		return false;
	for (size_t i = 0; i < names.count; i++)
		if (names.items[i][0] != '.' && span_ends(span_of(names.items[i]), ".conf"))
			whole &= add_bls_file(ctx, &entries, folder, names.items[i]);
	count = bls_sort(entries.items, entries.count, BLS_GRUB);
	for (size_t i = 0; i < count; i++)
		grub_add_bls(run, &entries.items[i]);
	return whole;
}

/* ---- which GRUB it is ---- */

/* The firmware's interface tells which of the two GRUBs of a PC starts this node. */
static void find_platform(struct probe_context *ctx, struct grub_menu *menu)
{
	struct host_stat stat;
	int rc = host_stat(ctx->host, &stat, "/sys/firmware/efi");
	bool pc = str_is(ctx->node->os.machine, "x86_64");

	if (rc == 0)
		menu->platform = "efi";
	else if (rc == -ENOENT && pc && host_exists(ctx->host, "/sys/firmware"))
		menu->platform = "pc";
	if (menu->platform && pc)
		menu->cpu = rc == 0 ? "x86_64" : "i386";
	else if (str_is(ctx->node->os.machine, "aarch64"))
		menu->cpu = "arm64";
}

/* ---- facts ---- */

struct reading {
	struct probe_context *ctx;
	struct grub_menu menu;
	const char *file; /* grub.cfg */
	bool found;
	uint32_t next; /* its place in boot.entries */
};

static void add_entries(struct reading *r, const struct grub_entry *items, uint32_t count,
			const char *outer)
{
	struct probe_context *ctx = r->ctx;

	for (uint32_t i = 0; i < count; i++) {
		const struct grub_entry *e = &items[i];
		const char *id = e->id ? e->id : e->title;
		uint32_t index;

		if (outer)
			id = arena_printf(ctx->arena, "%s>%s", outer, id);
		if (e->submenu)
			add_entries(r, e->entries.items, e->entries.count, id);
		if (e->submenu || (!e->kernel && !e->doubt) ||
		    ctx->node->boot.entries.count == BOOT_ENTRIES_MAX)
			continue;
		index = boot_add(ctx, &(struct boot_line){
					      .id = id,
					      .title = e->title,
					      .release = e->release,
					      .kernel = e->kernel,
					      .initrd = e->initrd,
					      .cmdline = e->cmdline,
					      .file = boot_path(ctx, NULL, e->file),
					      .line = e->line,
					      .doubt = e->doubt,
				      });
		if (e == r->menu.next) {
			r->next = index;
			r->found = true;
		}
	}
}

static void boot_grub_fill(struct reading *r, struct span text)
{
	struct probe_context *ctx = r->ctx;
	const struct grub_files files = { read_file, stat_path, add_bls, ctx };
	struct grub_menu *menu = &r->menu;

	menu->arena = ctx->arena;
	menu->files = &files;
	find_platform(ctx, menu);
	grub_read_menu(menu, r->file, text);
	ctx->node->boot.loader = fact_enum(menu->blscfg ? BOOT_GRUB_BLS : BOOT_GRUB);
	if (!menu->lost) {
		ctx->node->boot.entries.state = FACT_KNOWN;
		add_entries(r, menu->entries.items, menu->entries.count, NULL);
	}
	if (r->found)
		boot_set_next(ctx, r->next);
	else if (menu->problem)
		host_gap_note(
			ctx->host, r->file, -ENODATA,
			arena_printf(ctx->arena, "the next entry is not known: %s", menu->problem));
	else
		host_gap_note(ctx->host, r->file, -ENODATA,
			      "the entry that boots next starts no Linux kernel");
}

/* ---- files ---- */

/* 0, -ENOENT when there is none, or why it could not be read. */
static int read_in(struct reading *r, const char *folder)
{
	struct probe_context *ctx = r->ctx;
	_cleanup_text_ struct text text = { 0 };
	const char *path = arena_printf(ctx->arena, "%s/grub.cfg", folder);
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s", path);

	if (rc)
		return rc;
	r->file = path;
	boot_grub_fill(r, text_span(&text));
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

bool boot_read_grub(struct probe_context *ctx)
{
	struct reading r = { .ctx = ctx };
	int rc = read_in(&r, "/boot/grub");

	if (rc == -ENOENT)
		rc = read_in(&r, "/boot/grub2");
	if (rc == -ENOENT)
		rc = read_in_efi(&r);
	if (rc && rc != -ENOENT && rc != -ENODATA)
		ctx->node->boot.loader = fact_enum(BOOT_GRUB);
	return rc != -ENOENT && rc != -ENODATA;
}
