/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-units.c - systemd's units, through systemctl(1): enable and disable also work in a root that
 * does not run, the others ask the running manager. */
#include "txn/txn-private.h"

#include <errno.h>
#include <string.h>

/* sd_booted(3) */
#define SYSTEMD_RUNS "/run/systemd/system"

static int systemctl(struct txn *t, const char *verb, const char *unit, const char **output)
{
	const char *const argv[] = { run_find(t->host, "systemctl"), "--no-ask-password", verb,
				     unit, NULL };

	if (!argv[0])
		return txn_fail(t, -ENOENT, "systemctl is not installed");
	return step_program(t, argv, RUN_TIMEOUT_S, output);
}

/* The one word that is-enabled or is-active prints; they end with other statuses than 0 as well. */
static const char *ask(struct txn *t, const char *verb, const char *unit)
{
	const char *output = NULL;
	struct span rest, word = { "", 0 };
	int rc = systemctl(t, verb, unit, &output);

	if ((rc && rc != -EIO) || !output)
		return NULL;
	t->output = NULL;
	rest = span_of(output);
	if (!span_word(&rest, &word))
		return NULL;
	return arena_strndup(t->arena, word.p, word.n);
}

static int check_unit(struct txn *t, const struct txn_step *step)
{
	if (!step->subject || step->subject[0] == '-' || strchr(step->subject, '/'))
		return txn_fail(t, -EINVAL, "no unit is called that");
	return run_find(t->host, "systemctl")
		       ? 0
		       : txn_fail(t, -ENOENT, "%s: systemctl is not installed%s", step->subject,
				  t->options->root ? " in this root" : "");
}

/* ---- reload ---- */

static int prepare_reload(struct txn *t, struct txn_step *step)
{
	if (!host_exists(t->host, SYSTEMD_RUNS))
		step->left = "systemd does not run here";
	return 0;
}

static int run_reload(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	(void)step, (void)item;
	return systemctl(t, "daemon-reload", NULL, NULL);
}

static void redo_reload(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	int rc = run_reload(t, step, item);

	txn_set(item, rc ? TXN_FAILED : TXN_RESTORED, rc ? t->why : NULL);
}

/* ---- enable, disable ---- */

static int prepare_enable(struct txn *t, struct txn_step *step)
{
	int rc = check_unit(t, step);

	/* A unit whose file the plan brings is not known yet. */
	if (rc == 0)
		step->was = ask(t, "is-enabled", step->subject);
	if (rc == 0 && step->was && strncmp(step->was, "masked", 6) == 0)
		return txn_fail(t, -EPERM,
				"%s is masked: somebody did not want it (systemctl unmask %s)",
				step->subject, step->subject);
	return rc;
}

/* "enabled-runtime" too */
static bool is_enabled(const char *word)
{
	return word && strncmp(word, "enabled", 7) == 0;
}

static bool was_enabled(const struct txn_step *step)
{
	return is_enabled(step->was);
}

static int run_enable(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	(void)item;
	return was_enabled(step) ? 0 : systemctl(t, "enable", step->subject, NULL);
}

static int run_disable(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	(void)item;
	return was_enabled(step) ? systemctl(t, "disable", step->subject, NULL) : 0;
}

static void taken_back(struct txn *t, struct txn_item *item, int rc)
{
	txn_set(item, rc ? TXN_FAILED : TXN_RESTORED, rc ? t->why : NULL);
	item->output = rc ? t->output : item->output;
}

static void undo_enable(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	bool undo = !was_enabled(step) && is_enabled(ask(t, "is-enabled", step->subject));

	taken_back(t, item, undo ? systemctl(t, "disable", step->subject, NULL) : 0);
}

static void undo_disable(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	bool undo = was_enabled(step) && !is_enabled(ask(t, "is-enabled", step->subject));

	taken_back(t, item, undo ? systemctl(t, "enable", step->subject, NULL) : 0);
}

/* ---- start, stop ---- */

static int prepare_start(struct txn *t, struct txn_step *step)
{
	int rc = check_unit(t, step);

	if (rc == 0 && !host_exists(t->host, SYSTEMD_RUNS))
		step->left = "systemd does not run here";
	else if (rc == 0)
		step->was = ask(t, "is-active", step->subject);
	return rc;
}

static bool was_active(const struct txn_step *step)
{
	return step->was && strcmp(step->was, "active") == 0;
}

static int run_start(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	(void)item;
	return was_active(step) ? 0 : systemctl(t, "start", step->subject, NULL);
}

static int run_stop(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	(void)item;
	return was_active(step) ? systemctl(t, "stop", step->subject, NULL) : 0;
}

static void undo_start(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const char *now = was_active(step) ? NULL : ask(t, "is-active", step->subject);

	if (!now || strcmp(now, "active") != 0)
		txn_set(item, TXN_RESTORED, NULL);
	else
		txn_set(item, TXN_STAYS,
			arena_printf(t->arena,
				     "stays started, as jobs may use it by now: systemctl "
				     "stop %s",
				     step->subject));
}

static void undo_stop(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	taken_back(t, item, was_active(step) ? systemctl(t, "start", step->subject, NULL) : 0);
}

const struct step_kind step_daemon_reload = {
	.title = "systemd's unit files read again",
	.live = true,
	.program = true,
	.prepare = prepare_reload,
	.run = run_reload,
	.redo = redo_reload,
};
const struct step_kind step_unit_enable = {
	.title = "%s enabled",
	.program = true,
	.prepare = prepare_enable,
	.run = run_enable,
	.undo = undo_enable,
};
const struct step_kind step_unit_disable = {
	.title = "%s disabled",
	.program = true,
	.prepare = prepare_enable,
	.run = run_disable,
	.undo = undo_disable,
};
const struct step_kind step_unit_start = {
	.title = "%s started",
	.live = true,
	.program = true,
	.prepare = prepare_start,
	.run = run_start,
	.undo = undo_start,
};
const struct step_kind step_unit_stop = {
	.title = "%s stopped",
	.live = true,
	.program = true,
	.prepare = prepare_start,
	.run = run_stop,
	.undo = undo_stop,
};
