/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-boot-loader.c - the boot loader's menu. grub-mkconfig writes one file and gets another name for it, like a
 * generator of images. That of RHEL 8 and 9 also edits grubenv and the boot entries in place.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "txn/txn-private.h"

#define MENU_MAX (8u << 20)

/* Files that grub2-mkconfig writes in addition to the entries. */
static const char *const edited[] = {
	"/boot/grub2/grubenv",
	"/boot/efi/EFI/redhat/grubenv",
	"/boot/efi/EFI/centos/grubenv",
	"/boot/efi/EFI/rocky/grubenv",
	"/boot/efi/EFI/almalinux/grubenv",
	"/boot/efi/EFI/fedora/grubenv",
};
static const char *const entry_folders[] = { "/boot/loader/entries", "/boot/efi/loader/entries",
					     "/efi/loader/entries" };

/* Writing beside the menu; NULL with a reason. */
static const char *const *find_command(struct txn *t, const struct txn_step *step)
{
	const char *const argv[] = { txn_generate_program(t, step->tool), "-o",
				     write_side_path(t->arena, step->path), NULL };

	return argv[0] ? memcpy(arena_alloc(t->arena, sizeof(argv)), argv, sizeof(argv)) : NULL;
}

/* ---- copies of the files that it may write ---- */

static void note_written(struct txn *t, struct txn_step *step, const char *path)
{
	struct file_seen seen;

	/* A link is written through, to a file that is in the list itself. */
	if (write_see(&t->w, path, &seen) == 0 && seen.there)
		txn_step_writes(t, step, path);
}

static void note_entries(struct txn *t, struct txn_step *step)
{
	for (size_t i = 0; i < ARRAY_SIZE(entry_folders); i++) {
		_cleanup_names_ struct names names = { 0 };

		if (host_list(t->host, &names, "%s", entry_folders[i]) < 0)
			continue;
		for (size_t n = 0; n < names.count; n++)
			if (span_ends(span_of(names.items[n]), ".conf"))
				note_written(t, step,
					     arena_printf(t->arena, "%s/%s", entry_folders[i],
							  names.items[n]));
	}
}

static void note_edited(struct txn *t, struct txn_step *step)
{
	for (size_t i = 0; i < ARRAY_SIZE(edited); i++)
		note_written(t, step, edited[i]);
	note_entries(t, step);
}

static int prepare(struct txn *t, struct txn_step *step)
{
	const char *const *argv = find_command(t, step);
	int rc = argv ? txn_generate_prepare(t, step, argv[0], NULL) : -ENOENT;

	if (argv && strcmp(step->tool, "grub2-mkconfig") == 0)
		note_edited(t, step);
	return rc;
}

/* ---- doing ---- */

static size_t count_lines(struct span text, const char *first)
{
	struct span line, word;
	size_t n = 0;

	while (span_cut(&text, '\n', &line))
		n += span_word(&line, &word) &&
		     (span_is(word, first) ||
		      (first[0] == 'l' && (span_is(word, "linuxefi") || span_is(word, "linux16"))));
	return n;
}

static int read_menu(int fd, struct text *text)
{
	off_t size = lseek(fd, 0, SEEK_END);
	ssize_t n;

	if (size < 0)
		return -errno;
	if (size > MENU_MAX)
		return -EFBIG;
	text->data = malloc((size_t)size + 1);
	if (!text->data)
		return -ENOMEM;
	n = pread(fd, text->data, (size_t)size, 0);
	if (n != size)
		return n < 0 ? -errno : -EIO;
	text->size = (size_t)size;
	text->data[size] = '\0';
	return 0;
}

/* A menu without a kernel is one that starts nothing. grub-mkconfig has run grub-script-check. */
static int check_menu(struct txn *t, struct txn_step *step, int side)
{
	_cleanup_text_ struct text new = { 0 }, old = { 0 };
	_cleanup_close_ int fd = write_open(&t->w, step->path);
	size_t kernels, before;
	int rc = read_menu(side, &new);

	if (rc)
		return txn_fail(t, rc, "the new menu cannot be read back: %s", strerror(-rc));
	if (fd < 0 || read_menu(fd, &old))
		old = (struct text){ .data = calloc(1, 1) };
	kernels = count_lines(text_span(&new), "linux");
	before = count_lines(text_span(&old), "linux");
	if (before && kernels < before)
		return txn_fail(t, -ENODATA, "the new menu starts %zu kernels, and the old one %zu",
				kernels, before);
	for (const char *const *want = step->must_hold; want && *want; want++)
		if (!span_search(text_span(&new), *want))
			return txn_fail(t, -ENODATA, "the new menu does not hold \"%s\"", *want);
	return 0;
}

/* Notes the state of the files after the tool has edited them. */
static int note_after(struct txn *t, struct txn_step *step, uint32_t first)
{
	for (uint32_t i = first; i < step->kept.count; i++) {
		struct kept *kept = &step->kept.items[i];
		int rc = write_see(&t->w, kept->path, &kept->after);

		if (rc)
			return txn_fail(t, rc, NULL);
		kept->after_known = true;
		rc = txn_journal_write(t, JOURNAL_MADE, "%u %u %s",
				       (unsigned int)(step - t->steps.items), (unsigned int)i,
				       kept->after.there ? kept->after.sha256 : "-");
		if (rc)
			return rc;
	}
	return 0;
}

static int run(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const char *const *argv = find_command(t, step);
	int rc = argv ? txn_generate(t, step, &step->kept.items[0], argv, check_menu) : -ENOENT;

	(void)item;
	return rc ? rc : note_after(t, step, 1);
}

/* Rebuilds the menu. An entry that was changed is left as it is. */
static void redo(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	step->must_hold = NULL;
	txn_generate_redo(t, step, item, find_command(t, step), check_menu);
}

const struct txn_step_ops txn_step_boot_loader = {
	.title = "the boot loader's menu",
	.program = true,
	.prepare = prepare,
	.run = run,
	.undo = txn_restore_kept,
	.redo = redo,
};
