/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps-private.h - what the files of the steps share. */
#ifndef STEPS_PRIVATE_H
#define STEPS_PRIVATE_H

#include "advice/steps.h"
#include "base/span.h"

/* Puts the problems in the order of the steps; in one step the worst is first. */
void steps_sort(struct steps *steps);
/* Adds the commands, with the options that the user gave. */
void steps_add_commands(struct steps *steps, const struct steps_request *request);
#define STEPS_UNITS_READ "sudo systemctl daemon-reload"
/* Returns true if LINE, a command of PROBLEM, restarts a unit that a later step or problem restarts. */
bool steps_is_restarted_later(const struct steps *steps, const struct problem *problem,
			      struct span line);
/* Returns true if a restart of a unit is all that PROBLEM needs. */
bool steps_is_unit_restart(const struct problem *problem);
/* Returns true if fix rebuilds an initramfs. */
bool steps_plan_makes_initramfs(const struct steps *steps);
/* Fills the order of the kinds of steps: of the problems, and of the steps. */
void steps_order(struct steps *steps);
bool steps_is_not_root(const struct steps *steps);
/* The repair was made, and waits for the restart. */
bool steps_is_done_already(const struct steps *steps, const struct problem *p);

#endif
