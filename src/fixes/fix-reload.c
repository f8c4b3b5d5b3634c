/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fix-reload.c - loads the driver again with its new options instead of a reboot, only with --reload, because it ends
 * every job on the node. All parameters of the driver are read when it is loaded (kernel-open/nvidia/nv-linux.h:
 * permission 0).
 */
#include <string.h>

#include "fixes/fix.h"
#include "query/node-find.h"
#include "txn/driver-holders.h"

static bool waits_for_driver(const struct fixing *f)
{
	const struct fix_call *call = finding_fix(f->finding);
	const struct fix *fix = call ? fix_find(call->kind) : NULL;

	return fix && fix->reloads_driver &&
	       (f->repair->activation == ACTIVATION_RELOAD ||
		f->repair->activation == ACTIVATION_REBOOT);
}

void fix_reload(struct fixing *f)
{
	struct plan_repair *r = f->repair;

	if (!f->reload || !waits_for_driver(f) || !known_is(f->node->driver.loaded, true))
		return;
	if (r->refused && !f->waits)
		return;
	if (f->waits || !f->repair->changes) {
		r->refused = r->what = NULL;
		f->waits = false;
		fix_does(f, ACTIVATION_NOW,
			 "reload the driver; the configuration on disk is complete");
	}
	if (!r->cost && f->finding->rule->cost)
		fix_costs(f, "%s", f->finding->rule->cost);
	fix_costs(f,
		  "Settings made by nvidia-smi since the driver was loaded (MIG instances, clocks, "
		  "power limits, persistence mode) can be lost.");
	fix_risks(f);
	r->activation = ACTIVATION_NOW;
	fix_step(f, PLAN_RELOAD_DRIVER, NULL, NULL);
}

static const char *refuse_install(const struct fixing *f, const char *module)
{
	for_each(c, &f->node->modprobe.install)
		if (str_is(c->module, module))
			return arena_printf(f->arena, "%s:%llu loads %s with an install command",
					    c->file.value, (unsigned long long)c->line.value,
					    module);
	for_each(c, &f->node->modprobe.remove)
		if (str_is(c->module, module))
			return arena_printf(f->arena, "%s:%llu unloads %s with a remove command",
					    c->file.value, (unsigned long long)c->line.value,
					    module);
	return NULL;
}

/* Returns why the driver cannot be reloaded, as far as the plan can see; the transaction checks again. */
static const char *refuse_reload(const struct fixing *f)
{
	const struct finding *differs = fix_failing(f, "driver/module-on-disk-differs");
	const char *why = NULL;

	if (differs)
		return arena_printf(
			f->arena,
			"a reload would start another version of the driver than the running one "
			"(%s, %s)",
			differs->rule->id, differs->answer.observed);
	for (size_t i = 0; driver_modules[i] && !why; i++)
		if (node_module(f->node, driver_modules[i]))
			why = refuse_install(f, driver_modules[i]);
	/* The facts have no list of processes, and a capture has only those that were requested. */
	if (!why && f->host && host_kind(f->host) != HOST_CAPTURE)
		driver_holders(f->host, f->arena, &why);
	return why && *why ? why : NULL;
}

void fix_check_reload(struct fixing *f)
{
	const char *why;

	for_each(step, &f->plan->steps)
		if (step->kind == PLAN_RELOAD_DRIVER) {
			why = refuse_reload(f);
			if (why && !f->plan->refused)
				f->plan->refused = arena_printf(
					f->arena,
					"the driver cannot be reloaded now: %s. Without --reload "
					"the changes take effect at the next boot",
					why);
		}
}
