/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits.c - limits of locked memory and open files for daemons that start jobs. systemd's services do not read
 * limits.conf, but logins do, so both are written. */
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "base/span.h"
#include "fixes/fix.h"
#include "probes/jobs/limit-launchers.h"

struct limit {
	const char *key; /* of a unit */
	const char *unit_value;
	const char *item; /* of limits.conf */
	const char *value;
};

static const struct limit limits[] = {
	{ "LimitMEMLOCK", "infinity", "memlock", "unlimited" },
	{ "LimitNOFILE", "1048576", "nofile", "1048576" },
};

static const struct process_limits *launcher_named(const struct fixing *f, const char *name)
{
	for_each(p, &f->node->limits.launchers)
		if (str_is(p->name, name))
			return p;
	return NULL;
}

/* A launcher in a scope, or started by another daemon, has the limits of the daemon's unit. */
static const char *unit_of(const struct process_limits *p)
{
	const struct launcher *l = launcher_of(p->name.value);

	if (is_known(p->unit) && span_ends(span_of(p->unit.value), ".service"))
		return p->unit.value;
	if (str_is(p->name, "slurmstepd"))
		return "slurmd.service";
	if (str_is(p->name, "containerd-shim"))
		return "containerd.service";
	return l ? l->unit : NULL;
}

/* A user's own manager and its services belong to the user: a process that only has a launcher's
 * name gets nothing by it. */
static bool is_system_unit(const char *unit)
{
	size_t n = strspn(unit,
			  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:@-");

	return unit[n] == '\0' && unit[0] != '.' && unit[0] != '-' && !starts_with(unit, "user@");
}

/* A drop-in whose name sorts after ours would win. */
static bool check_later(struct fixing *f, const struct limit *limit, const char *scope,
			const char *folder)
{
	for_each(s, &f->node->limits.settings)
		if (str_is(s->item, limit->item) && str_is(s->scope, scope) &&
		    strstr(s->file.value, folder) &&
		    strcmp(span_base_name(s->file.value), span_base_name(OWN_LIMITS)) > 0)
			return fix_refuse(
				f,
				"%s:%llu is read after zz-nvnodecheck.conf and sets it to %s, "
				"which "
				"would override this repair; change that line first",
				s->file.value, (unsigned long long)s->line.value, s->value.value);
	return true;
}

static bool starts_logins(const char *unit)
{
	return strcmp(unit, "ssh.service") == 0 || strcmp(unit, "sshd.service") == 0;
}

static bool drop_in(struct fixing *f, const struct limit *limit, const char *unit)
{
	struct draft *draft;

	if (!check_later(f, limit, unit, ".d/"))
		return false;
	draft = draft_open(f, arena_printf(f->arena, OWN_DROP_IN, unit),
			   "limits of the processes that it starts");
	if (!draft)
		return false;
	draft_begin(f, draft, "[Service]\n");
	draft_line(f, draft, arena_printf(f->arena, "%s=", limit->key),
		   arena_printf(f->arena, "%s=%s", limit->key, limit->unit_value));
	if (draft_differs(draft))
		fix_step(f, PLAN_DAEMON_RELOAD, NULL, NULL);
	fix_does(f, ACTIVATION_RESTART, "set %s=%s for %s", limit->key, limit->unit_value, unit);
	fix_then_run(f, "systemctl restart %s", shell_name(unit, "UNIT"));
	fix_costs(f, starts_logins(unit)
			     ? "Log in again: open sessions stay and keep the old limit."
			     : "Running jobs keep the old limit.");
	return true;
}

static bool logins_have(const struct fixing *f, const struct limit *limit)
{
	bool soft = false, hard = false;

	for_each(s, &f->node->limits.settings) {
		bool enough = str_is(s->item, limit->item) && str_is(s->scope, "*") &&
			      (str_is(s->value, "unlimited") || str_is(s->value, "infinity") ||
			       str_is(s->value, "-1") || str_is(s->value, limit->value));

		soft |= enough && !str_is(s->kind, "hard");
		hard |= enough && !str_is(s->kind, "soft");
	}
	return soft && hard;
}

/* "*" is everybody but root: limits.conf(5). */
static bool for_logins(struct fixing *f, const struct limit *limit)
{
	static const char *const who[] = { "*", "root" };
	struct draft *draft;

	if (logins_have(f, limit))
		return true;
	if (!check_later(f, limit, "*", "/limits.d/"))
		return false;
	draft = draft_open(f, OWN_LIMITS, "limits of login sessions");
	for (size_t i = 0; draft && i < 2; i++) {
		const char *prefix = arena_printf(f->arena, "%s - %s", who[i], limit->item);

		draft_line(f, draft, prefix, arena_printf(f->arena, "%s %s", prefix, limit->value));
	}
	if (draft)
		fix_does(f, ACTIVATION_NOW, "set %s %s for new login sessions", limit->item,
			 limit->value);
	return draft != NULL;
}

static void plan_limit(struct fixing *f, const struct limit *limit)
{
	const struct process_limits *launcher = launcher_named(f, fix_subject(f));
	const char *unit = launcher ? unit_of(launcher) : NULL;

	if (launcher && !unit) {
		fix_refuse(
			f,
			"%s does not run in a systemd service; raise the limit in the script that "
			"starts it",
			launcher->name.value);
		return;
	}
	if (unit && !is_system_unit(unit)) {
		fix_refuse(
			f,
			"%s runs in %s, which belongs to a user; this user has to raise the limit",
			fix_subject(f), unit);
		return;
	}
	if (unit && !drop_in(f, limit, unit))
		return;
	if (for_logins(f, limit) && !f->repair->what)
		fix_refuse(f,
			   "limits.conf is high enough for login sessions; raise the limit in the "
			   "service or script that started this process");
}

/* Argument: memlock or nofile. */
static void limits_plan(struct fixing *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (same_text(fix_arg(f, 0), limits[i].item))
			plan_limit(f, &limits[i]);
}

const struct fix fix_raise_limit = {
	.name = "raise-limit",
	.title = "Drop-ins with LimitMEMLOCK= or LimitNOFILE= for the units that start jobs, "
		 "and " OWN_LIMITS " for logins",
	.plan = limits_plan,
};
