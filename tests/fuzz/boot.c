/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boot loaders' files: the first byte says which reader, byte 1 divides a grubenv from a grub.cfg.
 */
#include "fuzz.h"

#include "parse/bls.h"
#include "parse/grub.h"
#include "parse/shellvars.h"

static void read_grub(struct arena *arena, struct span text)
{
	struct grub_env env = { .arena = arena };
	struct grub_menu menu = { .env = &env };
	const struct grub_entry *entry;
	struct span grubenv = { 0 };
	const char *id;

	span_cut(&text, '\1', &grubenv);
	grub_read_env(&env, grubenv);
	grub_read_menu(&menu, text.p ? text : (struct span){ "", 0 });
	assert(menu.count <= GRUB_ENTRIES_MAX && menu.stored <= GRUB_STORED_MAX);
	entry = grub_choose(&menu, grub_get(&env, "default"), arena, &id);
	assert(!entry || (id && !entry->submenu));
	(void)grub_command_line(&env, grubenv);
}

static void assigned(void *user, struct span name, const char *value, uint64_t line)
{
	size_t *lines = user;

	assert(name.n && value && line >= 1 && line <= *lines);
}

static void read_shell(struct arena *arena, struct span text)
{
	struct shell_variables vars = { .arena = arena };
	size_t lines = 1;

	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	shell_read(&vars, text, assigned, &lines);
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
