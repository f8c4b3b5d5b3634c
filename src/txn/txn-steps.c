/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-steps.c - which step is done how, and what all of them share. */
#include "txn/txn-private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

static int prepare_depmod(struct txn *t, struct txn_step *step);
static int run_depmod(struct txn *t, struct txn_step *step, struct txn_item *item);
static void redo_depmod(struct txn *t, struct txn_step *step, struct txn_item *item);

static const struct step_kind step_depmod = {
	.title = "module index of %s",
	.program = true,
	.prepare = prepare_depmod,
	.run = run_depmod,
	.redo = redo_depmod,
};

static const struct step_kind *const kinds[] = {
	[PLAN_INITRAMFS] = &step_initramfs,	    [PLAN_BOOT_LOADER] = &step_boot_loader,
	[PLAN_DAEMON_RELOAD] = &step_daemon_reload, [PLAN_LOAD_MODULE] = &step_load_module,
	[PLAN_UNLOAD_MODULE] = &step_unload_module, [PLAN_UNIT_ENABLE] = &step_unit_enable,
	[PLAN_UNIT_DISABLE] = &step_unit_disable,   [PLAN_UNIT_START] = &step_unit_start,
	[PLAN_UNIT_STOP] = &step_unit_stop,	    [PLAN_SYSCTL] = &step_sysctl,
	[PLAN_DEVICE_NODE] = &step_device_node,	    [PLAN_DEPMOD] = &step_depmod,
	[PLAN_RELOAD_DRIVER] = &step_reload_driver,
};

const char *step_title(struct arena *arena, const struct txn_step *step)
{
	const char *title = kinds[step->kind]->title, *hole = strstr(title, "%s");

	if (!hole)
		return title;
	return arena_printf(arena, "%.*s%s%s", (int)(hole - title), title,
			    step->subject ? step->subject : "", hole + 2);
}

const char *step_command(struct arena *arena, const char *const *argv)
{
	const char *text = "";

	for (; argv && *argv; argv++)
		text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", *argv);
	return text;
}

/* Where FD's file is in the transaction's root, links followed, or NULL. */
static const char *path_in_root(struct txn *t, int fd)
{
	char root[PATH_MAX], path[PATH_MAX], link[32];
	ssize_t n, m;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", t->w.root);
	n = readlink(link, root, sizeof(root) - 1);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	m = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || m <= 0)
		return NULL;
	if (n == 1)
		n = 0; /* "/" */
	path[m] = '\0';
	return m > n && memcmp(root, path, (size_t)n) == 0 && path[n] == '/'
		       ? arena_strdup(t->arena, path + n)
		       : NULL;
}

/* What root runs must be root's: in a tree that somebody else made it need not be. */
static int check_program(struct txn *t, const char *path)
{
	_cleanup_close_ int fd = host_open(t->host, path), folder = -1;
	const char *real = fd < 0 ? NULL : path_in_root(t, fd);
	char name[NAME_MAX + 1];
	struct stat st;

	if (!real || fstat(fd, &st) < 0)
		return txn_fail(t, -ENOENT, "%s: cannot be looked at", path);
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & S_IWOTH) ||
	    ((st.st_mode & S_IWGRP) && st.st_gid != 0))
		return txn_fail(t, -EACCES, "%s is not run: others than root can change it", path);
	folder = write_open_folder(&t->w, real, name);
	return folder < 0 ? txn_fail(t, folder, NULL) : 0;
}

int step_program(struct txn *t, const char *const *argv, unsigned int timeout_s,
		 const char **output)
{
	struct run run = { .argv = argv,
			   .root = t->options->root,
			   .timeout_s = timeout_s,
			   .lock = t->lock,
			   .stubborn = t->taking_back,
			   .arena = t->arena };
	int rc = check_program(t, argv[0]);

	if (rc)
		return rc;
	rc = run_program(&run);
	if (output)
		*output = run.output;
	if (rc) {
		t->output = run.output;
		return txn_fail(t, rc, "%s", run.why);
	}
	return 0;
}

/* Why a step is not done although nothing is wrong with it. */
static const char *why_left(struct txn *t, const struct txn_step *step)
{
	const struct step_kind *kind = kinds[step->kind];
	const char *command = step_command(t->arena, step->argv);

	if (kind->live && t->options->root)
		return "only on the host when it runs: its next boot sees to it";
	if (kind->program && t->options->no_regenerate)
		return *command ? arena_printf(t->arena, "not run, as asked (--no-regenerate): %s",
					       command)
				: "not run, as asked (--no-regenerate)";
	return NULL;
}

int step_prepare(struct txn *t, struct txn_step *step)
{
	const struct step_kind *kind = kinds[step->kind];

	step->left = why_left(t, step);
	if (step->left)
		return 0;
	if (kind->prepare) {
		int rc = kind->prepare(t, step);

		if (rc)
			return rc;
	}
	return kind->program && step->argv && !step->left ? check_program(t, step->argv[0]) : 0;
}

void step_writes(struct txn *t, struct txn_step *step, const char *path)
{
	LIST_ADD(t->arena, &step->kept)->path = path;
}

int step_keep(struct txn *t, struct txn_step *step)
{
	for_each_mut(kept, &step->kept) {
		int rc = state_keep(t, kept, kept->path);

		if (rc)
			return rc;
	}
	return 0;
}

int step_run(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	txn_tell(t, "%s", step_title(t->arena, step));
	return kinds[step->kind]->run(t, step, item);
}

bool txn_booted_since(struct txn *t)
{
	const char *now = txn_boot_id(t);

	return t->boot_id && now && strcmp(t->boot_id, now) != 0;
}

void step_undo(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const struct step_kind *kind = kinds[step->kind];

	if (kind->live && txn_booted_since(t))
		txn_set(item, TXN_RESTORED, "the host has booted since");
	else if (kind->undo)
		kind->undo(t, step, item);
	else
		txn_set(item, TXN_RESTORED, NULL); /* or it is done again by step_redo() */
}

void step_redo(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const struct step_kind *kind = kinds[step->kind];

	if (kind->redo)
		kind->redo(t, step, item);
}

/* ---- depmod: what it writes follows from the files alone ---- */

static int prepare_depmod(struct txn *t, struct txn_step *step)
{
	const char *path = run_find(t->host, "depmod");
	const char *const argv[] = { path, "-a", step->subject, NULL };

	if (!path)
		return txn_fail(t, -ENOENT, "depmod is not installed");
	step->argv = memcpy(arena_alloc(t->arena, sizeof(argv)), argv, sizeof(argv));
	return 0;
}

static int run_depmod(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	(void)item;
	return step_program(t, step->argv, RUN_TIMEOUT_S, NULL);
}

static void redo_depmod(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	int rc = step_program(t, step->argv, RUN_TIMEOUT_S, NULL);

	txn_set(item, rc ? TXN_FAILED : TXN_RESTORED, rc ? t->why : NULL);
}
