/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-steps.c - which step is done how, and what all of them share. */
#include "txn-private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

int step_program(struct txn *t, const char *const *argv, unsigned int timeout_s,
		 const char **output)
{
	struct run run = { .argv = argv,
			   .root = t->options->root,
			   .timeout_s = timeout_s,
			   .lock = t->lock,
			   .stubborn = t->taking_back,
			   .arena = t->arena };
	int rc = run_program(&run);

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
	if (step->left || !kind->prepare)
		return 0;
	return kind->prepare(t, step);
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

/* What the running kernel or manager was told is forgotten then. */
static bool booted_since(struct txn *t)
{
	const char *now = txn_boot_id(t);

	return t->boot_id && now && strcmp(t->boot_id, now) != 0;
}

void step_undo(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const struct step_kind *kind = kinds[step->kind];

	if (kind->live && booted_since(t))
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
