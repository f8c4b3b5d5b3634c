/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-steps.c - the table of the kinds of steps, and the code that all of them share. */
#include <errno.h>
#include <string.h>

#include "base/shell.h"
#include "txn/txn-private.h"

static int prepare_depmod(struct txn *t, struct txn_step *step);
static int run_depmod(struct txn *t, struct txn_step *step, struct txn_item *item);
static void redo_depmod(struct txn *t, struct txn_step *step, struct txn_item *item);

static const struct txn_step_ops txn_step_depmod = {
	.title = "module index of %s",
	.program = true,
	.prepare = prepare_depmod,
	.run = run_depmod,
	.redo = redo_depmod,
};

static const struct txn_step_ops *const ops_by_kind[] = {
	[PLAN_INITRAMFS] = &txn_step_initramfs,		[PLAN_BOOT_LOADER] = &txn_step_boot_loader,
	[PLAN_DAEMON_RELOAD] = &txn_step_daemon_reload, [PLAN_LOAD_MODULE] = &txn_step_load_module,
	[PLAN_UNLOAD_MODULE] = &txn_step_unload_module, [PLAN_UNIT_ENABLE] = &txn_step_unit_enable,
	[PLAN_UNIT_DISABLE] = &txn_step_unit_disable,	[PLAN_UNIT_START] = &txn_step_unit_start,
	[PLAN_UNIT_STOP] = &txn_step_unit_stop,		[PLAN_SYSCTL] = &txn_step_sysctl,
	[PLAN_DEVICE_NODE] = &txn_step_device_node,	[PLAN_DEPMOD] = &txn_step_depmod,
	[PLAN_RELOAD_DRIVER] = &txn_step_reload_driver,
};

const char *txn_step_title(struct arena *arena, const struct txn_step *step)
{
	const char *title = ops_by_kind[step->kind]->title, *hole = strstr(title, "%s");

	if (!hole)
		return title;
	return arena_printf(arena, "%.*s%s%s", (int)(hole - title), title,
			    step->subject ? step->subject : "", hole + 2);
}

static const char *command_text(struct arena *arena, const char *const *argv)
{
	const char *text = "";

	for (; argv && *argv; argv++)
		text = arena_printf(arena, "%s%s%s", text, *text ? " " : "", *argv);
	return text;
}

int txn_step_program(struct txn *t, const char *const *argv, unsigned int timeout_s,
		     const char **output)
{
	struct run run = { .argv = argv,
			   .root = t->options->root ? t->options->root->fd : -1,
			   .timeout_s = timeout_s,
			   .lock = t->lock,
			   .stubborn = t->taking_back,
			   .arena = t->arena };
	int rc;

	if (t->options->no_regenerate)
		return txn_fail(t, -ECANCELED,
				"not run because of --no-regenerate; run by hand: %s",
				command_text(t->arena, argv));
	rc = txn_check_program(t, argv[0]);
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

static const char *command_of(struct txn *t, const struct txn_step *step)
{
	const char *subject = step->subject;

	switch (step->kind) {
	case PLAN_INITRAMFS:
		if (strcmp(step->tool, "initramfs-tools") == 0)
			return shell_printf(t->arena, "update-initramfs -u -k %s", subject);
		if (strcmp(step->tool, "dracut") == 0)
			return shell_printf(t->arena, "dracut --force %s %s", step->path, subject);
		return shell_printf(t->arena, "mkinitcpio -k %s -g %s", subject, step->path);
	case PLAN_BOOT_LOADER:
		return shell_printf(t->arena, "%s -o %s", step->tool, step->path);
	case PLAN_DAEMON_RELOAD:
		return "systemctl daemon-reload";
	case PLAN_UNIT_START:
		return shell_printf(t->arena, "systemctl start %s", subject);
	case PLAN_UNIT_STOP:
		return shell_printf(t->arena, "systemctl stop %s", subject);
	case PLAN_DEPMOD:
		return shell_printf(t->arena, "depmod -a %s", subject);
	default:
		return NULL;
	}
}

/* Returns the command for an administrator. */
static const char *by_hand(struct txn *t, const struct txn_step *step)
{
	const char *command = command_of(t, step);

	return command ? command : txn_step_title(t->arena, step);
}

/* Why a step is not done although nothing is wrong with it. */
static const char *why_left(struct txn *t, const struct txn_step *step)
{
	const struct txn_step_ops *ops = ops_by_kind[step->kind];

	if (ops->live && t->options->root)
		return "possible only on the running host; it happens at its next boot";
	if (ops->live && !t->boot_id)
		return "the boot ID is not known (/proc is not mounted), so this step could not "
		       "be undone";
	if (ops->program && t->options->no_regenerate)
		return arena_printf(t->arena, "not run because of --no-regenerate; run by hand: %s",
				    by_hand(t, step));
	return NULL;
}

bool txn_step_is_live(const struct txn_step *step)
{
	return ops_by_kind[step->kind]->live;
}

int txn_step_prepare(struct txn *t, struct txn_step *step)
{
	const struct txn_step_ops *ops = ops_by_kind[step->kind];
	const char *wrong = txn_step_problem(t->arena, step);
	int rc;

	if (wrong)
		return txn_fail(t, -EINVAL, "%s: %s", txn_step_title(t->arena, step), wrong);
	step->left = why_left(t, step);
	if (step->left)
		return 0;
	rc = ops->prepare ? ops->prepare(t, step) : 0;
	if (rc == 0 && ops->live && !step->left)
		step->boot = t->boot_id;
	return rc;
}

struct kept *txn_step_writes(struct txn *t, struct txn_step *step, const char *path)
{
	struct kept *kept = LIST_ADD(t->arena, &step->kept);

	kept->path = path;
	return kept;
}

int txn_step_keep(struct txn *t, struct txn_step *step)
{
	for_each_mut(kept, &step->kept) {
		int rc = txn_state_keep(t, kept, kept->path);

		if (rc)
			return rc;
	}
	return 0;
}

int txn_step_run(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	txn_print_progress(t, "%s", txn_step_title(t->arena, step));
	return ops_by_kind[step->kind]->run(t, step, item);
}

/* A step is undone only on the same machine and in the same boot, or not at all. False: ITEM has the reason. */
static bool is_here(struct txn *t, const struct txn_step *step, struct txn_item *item)
{
	const char *now = txn_boot_id(t);

	if (!txn_step_is_live(step) || (now && step->boot && strcmp(now, step->boot) == 0))
		return true;
	if (now)
		txn_set(item, TXN_RESTORED, "not needed: the host has booted since");
	else
		txn_set(item, TXN_LEFT,
			"it was done on the running system and not in these files; it is gone "
			"after the next boot of that system");
	return false;
}

void txn_step_undo(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const struct txn_step_ops *ops = ops_by_kind[step->kind];

	if (!is_here(t, step, item))
		return;
	if (ops->undo)
		ops->undo(t, step, item);
	/* otherwise txn_step_redo() does it again */
	else
		txn_set(item, TXN_RESTORED, NULL);
}

void txn_step_redo(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const struct txn_step_ops *ops = ops_by_kind[step->kind];

	if (ops->redo && is_here(t, step, item))
		ops->redo(t, step, item);
}

/* ---- depmod: its output depends on the files only ---- */

static int prepare_depmod(struct txn *t, struct txn_step *step)
{
	const char *path = run_find(t->host, "depmod");

	(void)step;
	return path ? txn_check_program(t, path) : txn_fail(t, -ENOENT, "depmod is not installed");
}

static int run_depmod(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const char *const argv[] = { run_find(t->host, "depmod"), "-a", step->subject, NULL };

	(void)item;
	if (!argv[0])
		return txn_fail(t, -ENOENT, "depmod is not installed");
	return txn_step_program(t, argv, RUN_TIMEOUT_S, NULL);
}

static void redo_depmod(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	txn_set_reverted(t, item, run_depmod(t, step, item));
}
