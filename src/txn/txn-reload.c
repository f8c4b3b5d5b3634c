/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-reload.c - unloads the NVIDIA driver's modules and loads them with the present options of the files. Its holders
 * are checked before anything is changed and again before the first module is unloaded. No holder is ended. A
 * transaction that is reverted loads them once more, with the previous options.
 */
#include "txn/driver-holders.h"
#include "txn/txn-private.h"

static bool is_loaded(struct txn *t, const char *module)
{
	return host_exists(t->host, arena_printf(t->arena, "/sys/module/%s", module));
}

/* The step remembers in which order they are unloaded: "nvidia_uvm nvidia". */
static bool was_loaded(const struct txn_step *step, const char *module)
{
	struct span rest = span_of(step->was ? step->was : ""), word;

	while (span_word(&rest, &word))
		if (span_is(word, module))
			return true;
	return false;
}

static int check_holders(struct txn *t)
{
	const char *why;
	int rc = driver_holders(t->host, t->arena, &why);

	return rc ? txn_fail(t, rc, "the driver stays loaded: %s", why) : 0;
}

static int prepare_reload(struct txn *t, struct txn_step *step)
{
	const char *was = "";
	int rc;

	for (size_t i = 0; driver_modules[i]; i++) {
		if (!is_loaded(t, driver_modules[i]))
			continue;
		rc = txn_check_module(t, driver_modules[i]);
		if (rc)
			return rc;
		was = arena_printf(t->arena, "%s%s%s", was, *was ? " " : "", driver_modules[i]);
	}
	step->was = was;
	if (!*was)
		step->left = "the driver is not loaded";
	return *was ? check_holders(t) : 0;
}

static int unload_all(struct txn *t)
{
	int rc = 0;

	for (size_t i = 0; driver_modules[i] && rc == 0; i++)
		if (is_loaded(t, driver_modules[i]))
			rc = txn_unload_module(t, driver_modules[i]);
	return rc;
}

/* Tries to load all modules and reports the first failure; WHAT lists those that are not loaded. */
static int load_all(struct txn *t, const struct txn_step *step)
{
	const char *first = NULL, *missing = "";
	size_t i = 0;
	int rc = 0;

	while (driver_modules[i])
		i++;
	while (i-- > 0) {
		int failed;

		if (!was_loaded(step, driver_modules[i]) || is_loaded(t, driver_modules[i]))
			continue;
		failed = txn_load_module(t, driver_modules[i]);
		if (failed == 0)
			continue;
		rc = rc ? rc : failed;
		first = first ? first : t->why;
		missing = arena_printf(t->arena, "%s %s", missing, driver_modules[i]);
	}
	return rc ? txn_fail(t, rc, "%s; not loaded now:%s", first, missing) : 0;
}

/* Reloads the driver. If a process holds it, nothing has been unloaded yet and there is nothing to revert. */
static int run_reload(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	int rc = check_holders(t);

	if (rc) {
		step->begun = false;
		return rc;
	}
	rc = unload_all(t);
	if (rc == 0)
		rc = load_all(t, step);
	if (rc == 0)
		item->text = step->was;
	return rc;
}

static bool all_loaded(struct txn *t, const struct txn_step *step)
{
	for (size_t i = 0; driver_modules[i]; i++)
		if (was_loaded(step, driver_modules[i]) && !is_loaded(t, driver_modules[i]))
			return false;
	return true;
}

/* Unloads the modules that have the reverted options. Returns NULL, or why they stay. */
static const char *unload_for_old_options(struct txn *t, const struct txn_step *step)
{
	if (t->files.count == 0 && all_loaded(t, step))
		return "the plan changes no file, so a reload would use the same options";
	if (!is_loaded(t, "nvidia") || (check_holders(t) == 0 && unload_all(t) == 0))
		return NULL;
	return arena_printf(
		t->arena,
		"%s. It keeps its present options until the next boot, which restores the earlier "
		"ones",
		t->why);
}

/* Loads the modules that are missing, in any case. */
static void redo_reload(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const char *stays;

	stays = unload_for_old_options(t, step);
	if (load_all(t, step))
		txn_set(item, TXN_FAILED, t->why);
	else
		txn_set(item, stays ? TXN_STAYS : TXN_RESTORED, stays);
}

const struct txn_step_ops txn_step_reload_driver = {
	.title = "NVIDIA driver loaded again",
	.live = true,
	.prepare = prepare_reload,
	.run = run_reload,
	.redo = redo_reload,
};
