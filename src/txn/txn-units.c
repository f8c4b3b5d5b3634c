/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-units.c - systemd's units. They are enabled and disabled by links, which are files of the transaction. All else
 * is done by the running manager through systemctl(1). */
#include <errno.h>
#include <string.h>

#include "base/shell.h"
#include "txn/txn-private.h"

/* sd_booted(3) */
#define SYSTEMD_RUNS "/run/systemd/system"

static int systemctl(struct txn *t, const char *verb, const char *unit, const char **output)
{
	const char *const argv[] = { run_find(t->host, "systemctl"), "--no-ask-password", verb,
				     unit, NULL };

	if (!argv[0])
		return txn_fail(t, -ENOENT, "systemctl is not installed");
	return txn_step_program(t, argv, RUN_TIMEOUT_S, output);
}

/* The one word that is-active prints; it ends with other statuses than 0 as well. */
static const char *ask(struct txn *t, const char *unit)
{
	const char *output = NULL;
	struct span rest, word = { "", 0 };
	int rc = systemctl(t, "is-active", unit, &output);

	if ((rc && rc != -EIO) || !output)
		return NULL;
	t->output = NULL;
	rest = span_of(output);
	if (!span_word(&rest, &word))
		return NULL;
	return arena_strndup(t->arena, word.p, word.n);
}

static int check_systemctl(struct txn *t)
{
	const char *path = run_find(t->host, "systemctl");

	return path ? txn_check_program(t, path)
		    : txn_fail(t, -ENOENT, "systemctl is not installed");
}

/* ---- reload ---- */

static int prepare_reload(struct txn *t, struct txn_step *step)
{
	if (host_exists(t->host, SYSTEMD_RUNS))
		return check_systemctl(t);
	step->left = "systemd is not running here";
	return 0;
}

static int run_reload(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	(void)step, (void)item;
	return systemctl(t, "daemon-reload", NULL, NULL);
}

static void redo_reload(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	txn_set_reverted(t, item, run_reload(t, step, item));
}

/* The links count from the next boot on without it. */
static int reload_units(struct txn *t)
{
	int rc;

	if (t->options->root || !host_exists(t->host, SYSTEMD_RUNS))
		return 0;
	rc = systemctl(t, "daemon-reload", NULL, NULL);
	if (rc == -ECANCELED)
		txn_note(t, "%s", t->why);
	return rc == -ECANCELED ? 0 : rc;
}

/* ---- enable, disable ---- */

static int run_links(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	int rc = txn_links_change(t, step);

	(void)item;
	return rc ? rc : reload_units(t);
}

static void undo_links(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	txn_restore_kept(t, step, item);
	if (reload_units(t))
		txn_note(t, "%s", t->why);
}

/* ---- start, stop ---- */

static bool was_active(const struct txn_step *step)
{
	return step->was && strcmp(step->was, "active") == 0;
}

static bool stops(const struct txn *t, const char *unit)
{
	for_each(step, &t->steps)
		if (step->kind == PLAN_UNIT_STOP && strcmp(step->subject, unit) == 0)
			return true;
	return false;
}

static int prepare_state(struct txn *t, struct txn_step *step)
{
	int rc = prepare_reload(t, step);

	if (rc || step->left)
		return rc;
	step->was = ask(t, step->subject);
	step->idle = was_active(step) ? step->kind == PLAN_UNIT_START && !stops(t, step->subject)
				      : step->kind == PLAN_UNIT_STOP;
	return 0;
}

/* Starts a unit. It may have been active before, because a restart is two steps. */
static int run_start(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	(void)item;
	return systemctl(t, "start", step->subject, NULL);
}

static int run_stop(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	(void)item;
	return was_active(step) ? systemctl(t, "stop", step->subject, NULL) : 0;
}

static void undo_start(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	if (was_active(step))
		txn_set(item, TXN_RESTORED, NULL);
	else
		txn_set(item, TXN_STAYS,
			arena_printf(t->arena,
				     "left running, because jobs can be using it; to stop it: "
				     "systemctl stop %s",
				     shell_name(step->subject, "UNIT")));
}

static void undo_stop(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	txn_set_reverted(t, item,
			 was_active(step) ? systemctl(t, "start", step->subject, NULL) : 0);
}

const struct txn_step_ops txn_step_daemon_reload = {
	.title = "systemd unit files reloaded",
	.live = true,
	.program = true,
	.prepare = prepare_reload,
	.run = run_reload,
	.redo = redo_reload,
};
const struct txn_step_ops txn_step_unit_enable = {
	.title = "%s enabled",
	.prepare = txn_links_enable,
	.run = run_links,
	.undo = undo_links,
};
const struct txn_step_ops txn_step_unit_disable = {
	.title = "%s disabled",
	.prepare = txn_links_disable,
	.run = run_links,
	.undo = undo_links,
};
const struct txn_step_ops txn_step_unit_start = {
	.title = "%s started",
	.live = true,
	.program = true,
	.prepare = prepare_state,
	.run = run_start,
	.undo = undo_start,
};
const struct txn_step_ops txn_step_unit_stop = {
	.title = "%s stopped",
	.live = true,
	.program = true,
	.prepare = prepare_state,
	.run = run_stop,
	.undo = undo_stop,
};
