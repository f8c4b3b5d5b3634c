/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boot loaders' files: the first byte says which reader. */
#include "fuzz.h"

#include <errno.h>

#include "parse/bls.h"
#include "parse/grub.h"
#include "parse/shellvars.h"

/* Byte 1 divides grub.cfg, grubenv, custom.cfg and an entry of the Boot Loader Specification. */
struct grub_pieces {
	struct span text[4];
	struct arena *arena;
};

static int read_piece(void *user, const char *path, struct arena *arena, struct span *text)
{
	struct grub_pieces *pieces = user;

	(void)arena;
	if (strstr(path, "nothing"))
		return -ENOENT;
	*text = pieces->text[strstr(path, "grubenv") ? 1 : 2];
	return 0;
}

static int look_at_piece(void *user, const char *path, bool *folder, uint64_t *size)
{
	struct grub_pieces *pieces = user;

	*folder = strstr(path, ".d") != NULL;
	*size = pieces->text[1].n;
	return strstr(path, "nothing") ? -ENOENT : strchr(path, '\1') ? -ENODATA : 0;
}

static bool add_bls_piece(void *user, struct grub_run *run, const char *folder)
{
	struct grub_pieces *pieces = user;
	struct bls_entry entry;

	if (bls_read(&entry, pieces->arena, SPAN("x.conf"), pieces->text[3], BLS_GRUB) &&
	    entry.kernel) {
		entry.file = "/x.conf";
		grub_add_bls(run, &entry);
	}
	return !*folder;
}

static void check_entries(const struct grub_menu *menu, const struct grub_entry *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert(items[i].title && items[i].file);
		assert(!items[i].kernel || items[i].cmdline || items[i].doubt);
		assert(!items[i].cmdline || !strchr(items[i].cmdline, '\1'));
		check_entries(menu, items[i].entries.items, items[i].entries.count);
	}
}

static void read_grub(struct arena *arena, struct span text)
{
	struct grub_pieces pieces = { .arena = arena };
	const struct grub_files files = { read_piece, look_at_piece, add_bls_piece, &pieces };
	struct grub_menu menu = { .arena = arena, .files = &files };

	for (size_t i = 0; i < 4; i++)
		if (!span_cut(&text, '\1', &pieces.text[i]))
			pieces.text[i] = SPAN("");
	grub_read_menu(&menu, "/boot/grub/grub.cfg", pieces.text[0]);
	assert(menu.count <= GRUB_ENTRIES_MAX && menu.stored <= GRUB_STORED_MAX);
	assert(!menu.next || (menu.next_id && !menu.next->submenu && !menu.lost));
	check_entries(&menu, menu.entries.items, menu.entries.count);
}

static void assigned(void *user, struct span name, const char *value, uint64_t line)
{
	size_t *lines = user;

	assert(name.n && value && line >= 1 && line <= *lines);
}

static void read_shell(struct arena *arena, struct span text)
{
	struct shellvars vars = { .arena = arena };
	size_t lines = 1;

	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	shellvars_read(&vars, text, assigned, &lines);
	assert(vars.known.count <= SHELL_VARIABLES_MAX);
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

static void read_bls(struct arena *arena, struct span text, enum bls_reader reader)
{
	struct bls_entry entries[4];
	struct span piece, name;
	size_t count = 0;

	while (count < 4 && span_cut(&text, '\1', &piece)) {
		name = (struct span){ 0 };
		span_cut(&piece, '\n', &name);
		count += bls_read(&entries[count], arena, name,
				  piece.p ? piece : (struct span){ "", 0 }, reader);
	}
	for (size_t i = 0; i < count; i++) {
		struct span a = span_of(entries[i].id), b = span_of(entries[0].id);

		assert(sign(bls_compare_rpm(a, b)) == -sign(bls_compare_rpm(b, a)));
		assert(sign(bls_compare_uapi(a.p, b.p)) == -sign(bls_compare_uapi(b.p, a.p)));
		assert(bls_compare_rpm(a, a) == 0 && bls_compare_uapi(a.p, a.p) == 0);
	}
	assert(bls_sort(entries, count, reader) <= count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = fuzz_arena();
	struct span text;

	if (!size)
		return 0;
	text = (struct span){ (const char *)data + 1, size - 1 };
	if (data[0] % 4 == 0)
		read_grub(arena, text);
	else if (data[0] % 4 == 1)
		read_shell(arena, text);
	else
		read_bls(arena, text, data[0] % 4 == 2 ? BLS_GRUB : BLS_SYSTEMD);
	(void)bls_default(text, arena);
	return 0;
}
