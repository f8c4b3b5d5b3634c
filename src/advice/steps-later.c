/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps-later.c - what one step must know of the later ones: the reboot that comes once, the initramfs that is built
 * once, and the devices that only a repair brings back. */
#include <string.h>

#include "advice/steps-private.h"

bool steps_needs_repair(const struct finding *f, enum severity severity)
{
	enum action action = finding_action(f);

	if (!f->answer.subject || action == ACTION_NONE)
		return false;
	return severity >= SEVERITY_CRIT
		       ? finding_repaired_by(f) == BY_FIRMWARE ||
				 finding_repaired_by(f) == BY_HARDWARE ||
				 action == ACTION_POWER_CYCLE
		       : severity >= SEVERITY_ERR && (action == ACTION_POWER_CYCLE ||
						      action == ACTION_REPLACE_HARDWARE);
}

const struct problem *steps_stops_boot(const struct steps *steps)
{
	for_each(p, &steps->problems->items)
		if (p->first->rule->stops_boot)
			return p;
	return NULL;
}

bool steps_plan_makes_initramfs(const struct steps *steps)
{
	if (!steps->plan || steps->plan->refused)
		return false;
	for_each(step, &steps->plan->steps)
		if (step->kind == PLAN_INITRAMFS)
			return true;
	return false;
}

/* Returns true if a problem below in STEP_HAND rebuilds the initramfs. */
static bool is_built_below(const struct steps *steps, const struct problem *problem)
{
	bool below = false;

	for_each(p, &steps->problems->items) {
		if (below && steps_kind(steps, p) == STEP_HAND &&
		    finding_then(p->first) & THEN_INITRAMFS)
			return true;
		below |= p == problem;
	}
	return false;
}

/* Returns true if a later instruction rebuilds the initramfs, so that PROBLEM's need not. */
static bool makes_initramfs(const struct steps *steps, const struct problem *p)
{
	if (steps_kind(steps, p) != STEP_HAND)
		return false;
	return steps_stops_boot(steps) || is_built_below(steps, p) ||
	       (steps_is_hand_first(steps) && steps_plan_makes_initramfs(steps));
}

/* ---- units that are restarted once ---- */

#define RESTART "sudo systemctl restart "

static bool is_restart(struct span line)
{
	return span_starts(line, RESTART);
}

static bool has_command(const struct problem *p, struct span wanted)
{
	for_each(member, &p->members) {
		struct span rest = span_of((*member)->command ? (*member)->command : ""), line;

		while (span_cut(&rest, '\n', &line))
			if (line.n == wanted.n && memcmp(line.p, wanted.p, line.n) == 0)
				return true;
	}
	return false;
}

bool steps_is_unit_restart(const struct problem *p)
{
	return p->first->answer.is_unit_restart;
}

bool steps_is_restarted_by_boot(const struct steps *steps, const struct problem *p)
{
	return steps->restart >= ACTIVATION_REBOOT && steps_kind(steps, p) == STEP_RESTART &&
	       steps_is_unit_restart(p);
}

bool steps_is_restarted_later(const struct steps *steps, const struct problem *problem,
			      struct span line)
{
	enum step_kind kind = steps_kind(steps, problem);
	bool below = false;

	if (!is_restart(line))
		return false;
	if (steps->restart >= ACTIVATION_REBOOT && (kind == STEP_HAND || kind == STEP_RESTART))
		return true;
	for_each(p, &steps->problems->items) {
		if (below && steps_kind(steps, p) == kind && has_command(p, line))
			return true;
		below |= p == problem;
	}
	return false;
}

unsigned int steps_done_later(const struct steps *steps, const struct problem *p)
{
	unsigned int then = makes_initramfs(steps, p) ? THEN_INITRAMFS : 0;

	if (steps->power_first || steps->restart == ACTIVATION_POWER_CYCLE)
		then |= FIRST_POWER_CYCLE;
	if (steps_kind(steps, p) == STEP_POWER)
		return then | THEN_RELOAD | THEN_REBOOT | THEN_LOADER;
	/* These steps come after the restart of this node. */
	if (steps_kind(steps, p) > STEP_FIRMWARE && !steps_is_host_first(steps))
		return then;
	if (steps->restart >= ACTIVATION_RELOAD)
		then |= THEN_RELOAD;
	if (steps->restart >= ACTIVATION_REBOOT)
		then |= THEN_REBOOT | THEN_LOADER;
	return then;
}
