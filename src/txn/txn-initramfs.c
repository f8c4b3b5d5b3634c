/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-initramfs.c - the image of one kernel. The generator is called directly, with a side file as
 * its output. update-initramfs does nothing and exits 0 when its configuration says no, when /boot is
 * read-only, and inside a package's maintainer script (initramfs-tools 0.142, update-initramfs). dracut
 * overwrites its default output in place, and deletes it when there is no room (dracut 059, dracut.sh,
 * "Creation of $outfile failed").
 *
 * The old image is kept whole for an undo, not only its hash: a rebuilt one is never the same byte
 * by byte, and a node whose packages changed since might not even give one that boots.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "parse/field.h"
#include "parse/kparam.h"
#include "probes/boot/initramfs-image.h"
#include "txn/txn-private.h"

#define HOOKS "/etc/initramfs/post-update.d"
#define POLICY_FILE "/etc/initramfs-tools/update-initramfs.conf"
#define LOST_NAMED 5 /* so many modules are named, the rest counted */

/* ---- the command ---- */

static const struct {
	const char *tool, *program, *usual;
} generators[] = {
	{ "initramfs-tools", "mkinitramfs", "/usr/sbin/mkinitramfs" },
	{ "dracut", "dracut", "/usr/bin/dracut" },
	{ "mkinitcpio", "mkinitcpio", "/usr/bin/mkinitcpio" },
};
#define GENERATORS (ARRAY_SIZE(generators))

static size_t find_generator(const char *tool)
{
	for (size_t i = 0; tool && i < GENERATORS; i++)
		if (strcmp(generators[i].tool, tool) == 0)
			return i;
	return GENERATORS;
}

static const char *const *command(struct arena *arena, size_t generator, const char *program,
				  const char *kernel, const char *side)
{
	const char *const forms[GENERATORS][7] = {
		{ program, "-o", side, kernel },
		{ program, "--force", "--kver", kernel, side },
		{ program, "-k", kernel, "-g", side },
	};
	size_t size = sizeof(forms[0]);

	return memcpy(arena_alloc(arena, size), forms[generator], size);
}

const char *const *txn_initramfs_command(struct arena *arena, const char *tool, const char *kernel,
					 const char *image)
{
	size_t g = find_generator(tool);

	return g == GENERATORS ? NULL
			       : command(arena, g, generators[g].usual, kernel,
					 write_side_path(arena, image));
}

/* ---- which modules an image has ---- */

struct module_names {
	struct arena *arena;
	LIST(const char *) names; /* sorted by compare() once all are there */
};

/* lib/modules/VER/kernel/a-b.ko.xz is a_b. */
static void note_module(void *user, const char *path)
{
	struct module_names *all = user;
	const char *base = span_base_name(path);
	const char *end = strstr(base, ".ko");
	char *name;

	if (!end || (end[3] && end[3] != '.'))
		return;
	name = arena_strndup(all->arena, base, (size_t)(end - base));
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	*LIST_ADD(all->arena, &all->names) = name;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void read_initramfs(struct txn *t, int fd, struct initramfs_image *image,
			   struct module_names *modules)
{
	*image = (struct initramfs_image){ 0 };
	*modules = (struct module_names){ .arena = t->arena };
	initramfs_read_each(fd, image, t->arena, note_module, modules);
	fact_list_sort(&modules->names, sizeof(*modules->names.items), compare);
}

static bool has_module(const struct module_names *all, const char *name)
{
	return all->names.count && bsearch(&name, all->names.items, all->names.count,
					   sizeof(*all->names.items), compare);
}

/* A repair may well be meant to keep these out; the root file system has them. */
static bool is_gpu_driver(const char *name)
{
	struct span s = span_of(name);

	return span_starts(s, "nvidia") || span_starts(s, "nova") || span_is(s, "nouveau") ||
	       span_is(s, "gdrdrv") || span_is(s, "nv_peer_mem");
}

/* The first word of each line of /proc/modules. Without it every module may be one that is needed.
 */
static bool is_loaded(struct span proc_modules, const char *name)
{
	struct span line, word;

	if (!proc_modules.p)
		return true;
	while (span_cut(&proc_modules, '\n', &line))
		if (span_word(&line, &word) && span_is(word, name))
			return true;
	return false;
}

/* A host-only image leaves out modules that its generator considers unnecessary on this machine. Modules in use are
 * necessary, such as the driver of the root file system's disk. */
static int check_lost(struct txn *t, const struct txn_step *step, const struct module_names *old,
		      const struct module_names *new)
{
	_cleanup_text_ struct text loaded = { 0 };
	const char *needed = "", *others = "", *last = "";
	unsigned int lost = 0, missed = 0;

	if (t->options->root || host_read(t->host, &loaded, HOST_FILE_MAX, "/proc/modules") < 0)
		loaded.data = NULL;
	for_each(name, &old->names) {
		bool need = is_loaded(text_span(&loaded), *name);

		if (strcmp(*name, last) == 0 || has_module(new, *name) || is_gpu_driver(*name))
			continue;
		last = *name;
		if (need && missed++ < LOST_NAMED)
			needed = arena_printf(t->arena, "%s %s", needed, *name);
		if (!need && lost++ < LOST_NAMED)
			others = arena_printf(t->arena, "%s %s", others, *name);
	}
	if (lost)
		txn_note(t,
			 "the new image of %s lacks %u modules of the old one, none of them "
			 "loaded:%s%s",
			 step->subject, lost, others, lost > LOST_NAMED ? " ..." : "");
	if (!missed)
		return 0;
	return txn_fail(t, -ENODATA, "the new image lacks %u modules that the old one has%s:%s%s",
			missed, loaded.data ? " and that are loaded" : "", needed,
			missed > LOST_NAMED ? " ..." : "");
}

/* ---- required contents of an image ---- */

static struct span unquoted(struct span value)
{
	if (value.n >= 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
		return (struct span){ value.p + 1, value.n - 2 };
	return value;
}

/* "nvidia NVreg_X=1", "blacklist nouveau" */
static bool holds(const struct initramfs_image *image, const char *wanted)
{
	struct span rest = span_of(wanted), module, param;

	if (!span_word(&rest, &module))
		return true;
	rest = span_trim(rest);
	if (span_is(module, "blacklist")) {
		for_each(line, &image->modprobe.blacklist)
			if (kparam_name_is(rest, line->module.value))
				return true;
		return false;
	}
	param = (struct span){ rest.p, span_find(rest, '=') };
	rest.p += param.n + (param.n < rest.n);
	rest.n -= param.n + (param.n < rest.n);
	for_each(a, &image->modprobe.assignments)
		if (known_is(a->effective, true) && kparam_name_is(module, a->module.value) &&
		    kparam_name_is(param, a->param.value) && is_known(a->value) &&
		    span_is(unquoted(rest), a->value.value))
			return true;
	return false;
}

static int check_initramfs(struct txn *t, struct txn_step *step, int side)
{
	_cleanup_close_ int old_fd = write_open(&t->w, step->path);
	struct initramfs_image image, old;
	struct module_names modules, before;

	read_initramfs(t, side, &image, &modules);
	if (!known_is(image.complete, true))
		return txn_fail(t, -EBADMSG, "the new image cannot be read back: %s",
				is_known(image.problem) ? image.problem.value
							: "it is not complete");
	if (is_known(image.generator) && !str_is(image.generator, step->tool))
		return txn_fail(t, -EBADMSG, "the new image was made by %s, not %s",
				image.generator.value, step->tool);
	for (const char *const *want = step->must_hold; want && *want; want++)
		if (!holds(&image, *want))
			return txn_fail(t, -ENODATA, "the new image does not hold \"%s\"", *want);
	if (old_fd < 0)
		return 0;
	read_initramfs(t, old_fd, &old, &before);
	return check_lost(t, step, &before, &modules);
}

/* ---- the step ---- */

static int check_old_initramfs(struct txn *t, const struct txn_step *step)
{
	_cleanup_close_ int fd = write_open(&t->w, step->path);
	struct initramfs_image image = { 0 };

	if (fd < 0)
		return txn_fail(t, fd, NULL);
	initramfs_read(fd, &image, t->arena);
	if (!known_is(image.complete, true))
		return txn_fail(
			t, -EBADMSG,
			"%s: the present image cannot be read, so a new one cannot be compared "
			"with it: %s",
			step->path,
			is_known(image.problem) ? image.problem.value : "it is not complete");
	if (is_known(image.generator) && !str_is(image.generator, step->tool))
		return txn_fail(t, -EINVAL, "%s was made by %s, and the plan builds it with %s",
				step->path, image.generator.value, step->tool);
	return 0;
}

static int check_initramfs_room(struct txn *t, const struct txn_step *step, uint64_t size)
{
	uint64_t need = size + size / 2, room;

	if (write_room(&t->w, step->path, &room))
		return txn_fail(t, -EROFS, NULL);
	if (room >= need)
		return 0;
	return txn_fail(
		t, -ENOSPC,
		"%s: not enough space for a new image: %llu MiB needed, %llu MiB free. Remove "
		"kernels that are no longer used",
		step->path, (unsigned long long)need >> 20, (unsigned long long)room >> 20);
}

static int check_kernel(struct txn *t, const struct txn_step *step)
{
	const char *path = arena_printf(t->arena, "/lib/modules/%s/modules.dep", step->subject);

	return host_exists(t->host, path)
		       ? 0
		       : txn_fail(t, -ENOENT,
				  "%s does not exist, so no image can be built for kernel %s", path,
				  step->subject);
}

static void note_policy(struct txn *t)
{
	_cleanup_text_ struct text text = { 0 };
	char value[16];

	if (host_read(t->host, &text, HOST_FILE_MAX, POLICY_FILE) == 0 &&
	    field_shell(text_span(&text), "update_initramfs", value, sizeof(value)) &&
	    strcmp(value, "no") == 0)
		txn_note(t,
			 "update_initramfs=no in %s: the image was rebuilt now, but packages will "
			 "not rebuild it later",
			 POLICY_FILE);
}

/* Returns the command to run, or NULL with a reason. */
static const char *const *find_command(struct txn *t, const struct txn_step *step)
{
	size_t g = find_generator(step->tool);
	const char *program;

	if (g == GENERATORS) {
		txn_fail(t, -EINVAL, "\"%s\" is no known generator", step->tool);
		return NULL;
	}
	program = txn_generate_program(t, generators[g].program);
	return program ? command(t->arena, g, program, step->subject,
				 write_side_path(t->arena, step->path))
		       : NULL;
}

static int check_initramfs_now(struct txn *t, const struct txn_step *step,
			       const struct file_seen *seen)
{
	int rc;

	if (!seen->there)
		return txn_fail(t, -ENOENT, "%s: there is no such image", step->path);
	rc = check_kernel(t, step);
	if (rc == 0)
		rc = check_initramfs_room(t, step, seen->size);
	return rc ? rc : check_old_initramfs(t, step);
}

static int prepare(struct txn *t, struct txn_step *step)
{
	const char *const *argv = find_command(t, step);
	int rc = argv ? txn_generate_prepare(t, step, argv[0], check_initramfs_now) : -ENOENT;

	if (argv && strcmp(step->tool, "initramfs-tools") == 0)
		note_policy(t);
	return rc;
}

static bool has_hooks(struct txn *t)
{
	_cleanup_names_ struct names names = { 0 };

	if (host_list(t->host, &names, HOOKS) < 0)
		return false;
	/* The names that run-parts(8) takes. */
	for (size_t i = 0; i < names.count; i++)
		if (strspn(names.items[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-") == strlen(names.items[i]))
			return true;
	return false;
}

/* Copies to an EFI partition, zipl, flash-kernel: whatever else has to know of a new image, as
 * update-initramfs does. */
static int run_hooks(struct txn *t, const struct txn_step *step)
{
	const char *const argv[] = { run_find(t->host, "run-parts"),
				     arena_printf(t->arena, "--arg=%s", step->subject),
				     arena_printf(t->arena, "--arg=%s", step->path), HOOKS, NULL };

	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = -1;

	if (strcmp(step->tool, "initramfs-tools") != 0 || !argv[0] || !has_hooks(t))
		return 0;
	/* Opening it so verifies that only root can write to the hook and its path. */
	folder = write_open_folder(&t->w, HOOKS "/hook", name);
	return folder < 0 ? txn_fail(t, folder, NULL)
			  : txn_step_program(t, argv, RUN_TIMEOUT_S, NULL);
}

static int run(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const char *const *argv = find_command(t, step);
	int rc = argv ? txn_generate(t, step, &step->kept.items[0], argv, check_initramfs)
		      : -ENOENT;

	(void)item;
	return rc ? rc : run_hooks(t, step);
}

static void undo(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	txn_restore_kept(t, step, item);
	if (item->state == TXN_RESTORED && run_hooks(t, step))
		txn_note(t, "%s: %s", HOOKS, t->why);
}

/* Rebuilds the image. It may lack settings that the files no longer have. */
static void redo(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	step->must_hold = NULL;
	txn_generate_redo(t, step, item, find_command(t, step), check_initramfs);
	if (item->state == TXN_REBUILT && run_hooks(t, step))
		txn_note(t, "%s: %s", HOOKS, t->why);
}

const struct txn_step_ops txn_step_initramfs = {
	.title = "initramfs of %s",
	.program = true,
	.prepare = prepare,
	.run = run,
	.undo = undo,
	.redo = redo,
};
