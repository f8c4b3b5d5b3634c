/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-loader.c - the boot loader's menu. grub-mkconfig writes one file and is given another name
 * for it, as a generator of images is. grubby and its like edit several files in place and take
 * options away that they replace (grubby --args=iommu=pt removes iommu=force), so that taking back
 * means to put those files back, not to call them again.
 */
#include "txn/txn-private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

#define MENU_MAX (8u << 20)
#define DEBIAN_MENU "/boot/grub/grub.cfg"

/* What tools other than grub-mkconfig write to, apart from the entries. */
static const char *const edited[] = {
	"/etc/default/grub",
	"/etc/kernel/cmdline",
	"/boot/grub2/grubenv",
	"/boot/grub2/grub.cfg",
	"/boot/efi/EFI/redhat/grubenv",
	"/boot/efi/EFI/centos/grubenv",
	"/boot/efi/EFI/rocky/grubenv",
	"/boot/efi/EFI/almalinux/grubenv",
	"/boot/efi/EFI/fedora/grubenv",
};
static const char *const entry_folders[] = { "/boot/loader/entries", "/boot/efi/loader/entries",
					     "/efi/loader/entries" };

static const char *program_name(const struct txn_step *step)
{
	const char *slash = step->argv && step->argv[0] ? strrchr(step->argv[0], '/') : NULL;

	return slash ? slash + 1 : "";
}

/* The menu that is to be written, or NULL when the tool is of the other kind. */
static const char *menu_of(const struct txn_step *step)
{
	const char *name = program_name(step);

	if (strcmp(name, "update-grub") == 0)
		return DEBIAN_MENU;
	if (strcmp(name, "grub-mkconfig") != 0 && strcmp(name, "grub2-mkconfig") != 0)
		return NULL;
	for (const char *const *a = step->argv + 1; *a; a++) {
		if ((strcmp(*a, "-o") == 0 || strcmp(*a, "--output") == 0) && a[1])
			return a[1];
		if (strncmp(*a, "--output=", 9) == 0)
			return *a + 9;
	}
	return NULL;
}

/* The command of the plan, writing to SIDE instead. */
static const char *const *side_command(struct txn *t, const struct txn_step *step, const char *side)
{
	LIST(const char *) argv = { 0 };
	bool update_grub = strcmp(program_name(step), "update-grub") == 0;

	*LIST_ADD(t->arena, &argv) = update_grub ? run_find(t->host, "grub-mkconfig")
						 : step->argv[0];
	*LIST_ADD(t->arena, &argv) = "-o";
	*LIST_ADD(t->arena, &argv) = side;
	for (const char *const *a = step->argv + 1; *a; a++) {
		if (strcmp(*a, "-o") == 0 || strcmp(*a, "--output") == 0)
			a++;
		else if (strncmp(*a, "--output=", 9) != 0)
			*LIST_ADD(t->arena, &argv) = *a;
	}
	*LIST_ADD(t->arena, &argv) = NULL;
	return argv.items;
}

/* ---- keeping what may be written ---- */

static void note_written(struct txn *t, struct txn_step *step, const char *path)
{
	struct file_seen seen;

	/* A link is written through, to a file that is in the list itself. */
	if (write_see(&t->w, path, &seen) == 0 && seen.there)
		step_writes(t, step, path);
}

static void note_entries(struct txn *t, struct txn_step *step)
{
	for (size_t i = 0; i < sizeof(entry_folders) / sizeof(entry_folders[0]); i++) {
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

static void note_edited(struct txn *t, struct txn_step *step, const char *menu)
{
	for (size_t i = 0; i < sizeof(edited) / sizeof(edited[0]); i++)
		if (!menu || strcmp(menu, edited[i]) != 0)
			note_written(t, step, edited[i]);
	note_entries(t, step);
}

static int prepare(struct txn *t, struct txn_step *step)
{
	const char *menu = menu_of(step);
	struct file_seen seen;

	if (!step->argv || !run_may(step->argv[0]))
		return txn_fail(t, -EINVAL,
				"the boot loader's menu: no command that this program runs");
	if (!run_find(t->host, program_name(step)) ||
	    (menu && strcmp(program_name(step), "update-grub") == 0 &&
	     !run_find(t->host, "grub-mkconfig")))
		return txn_fail(t, -ENOENT,
				"%s is not installed%s: --no-regenerate changes the files "
				"alone",
				program_name(step), t->options->root ? " in this root" : "");
	if (menu) {
		if (write_see(&t->w, menu, &seen))
			return txn_fail(t, -EINVAL, NULL);
		if (generate_check_place(t, menu))
			return -ENODEV;
		step_writes(t, step, menu);
	}
	/* grub2-mkconfig of RHEL 8 and 9 writes grubenv and entries as well. */
	if (!menu || strcmp(program_name(step), "grub2-mkconfig") == 0)
		note_edited(t, step, menu);
	step->path = menu;
	return 0;
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

	if (size < 0 || size > MENU_MAX)
		return -EFBIG;
	text->data = malloc((size_t)size + 1);
	if (!text->data || pread(fd, text->data, (size_t)size, 0) != size)
		return -EIO;
	text->size = (size_t)size;
	text->data[size] = '\0';
	return 0;
}

/* A menu without a kernel is one that starts nothing. grub-mkconfig has run grub-script-check. */
static int check_menu(struct txn *t, struct txn_step *step, int side)
{
	_cleanup_text_ struct text new = { 0 }, old = { 0 };
	_cleanup_close_ int fd = write_open(&t->w, step->path, 0);
	size_t kernels, before;

	if (read_menu(side, &new))
		return txn_fail(t, -EIO, "the new menu cannot be read back");
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

/* What the tool made of the files that it edits. */
static int note_after(struct txn *t, struct txn_step *step, uint32_t first)
{
	for (uint32_t i = first; i < step->kept.count; i++) {
		struct kept *kept = &step->kept.items[i];
		int rc = write_see(&t->w, kept->path, &kept->after);

		if (rc)
			return txn_fail(t, rc, NULL);
		kept->after_known = true;
		rc = state_event(t, "MADE %u %u %s", (unsigned int)(step - t->steps.items),
				 (unsigned int)i, kept->after.there ? kept->after.sha256 : "-");
		if (rc)
			return rc;
	}
	return 0;
}

static int run(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const char *menu = menu_of(step);
	int rc;

	(void)item;
	if (menu)
		rc = generate(t, step, &step->kept.items[0],
			      side_command(t, step, write_side_path(t->arena, menu)), check_menu);
	else
		rc = step_program(t, step->argv, RUN_TIMEOUT_S, NULL);
	return rc ? rc : note_after(t, step, menu != NULL);
}

/* The menu is the only one that can be made anew; an entry that somebody changed is theirs. */
static void redo(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const char *menu = menu_of(step);

	step->must_hold = NULL;
	if (menu)
		generate_redo(t, step, item, side_command(t, step, write_side_path(t->arena, menu)),
			      check_menu);
}

const struct step_kind step_boot_loader = {
	.title = "the boot loader's menu",
	.program = true,
	.prepare = prepare,
	.run = run,
	.undo = generate_undo,
	.redo = redo,
};
