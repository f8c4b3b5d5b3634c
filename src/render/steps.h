/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.h - what is to be done about a report's problems, in the order in which it is done: the node is drained, the
 * program repairs, an administrator changes the rest, one reboot makes all of it take effect, others do their part, and
 * the node is checked again.
 */
#ifndef RENDER_STEPS_H
#define RENDER_STEPS_H

#include "evaluate/problems.h"
#include "render/options.h"
#include "txn/plan.h"

enum step_kind {
	STEP_FINAL, /* no change of this node solves the problem, so the other steps can be pointless */
	STEP_LOOK,     /* run doctor again as root, because deciding facts were not read */
	STEP_DRAIN,    /* before a step that ends jobs */
	STEP_SAVE,     /* save the kernel log, which a power cycle erases */
	STEP_FIX,      /* nvnodecheck fix --apply */
	STEP_HAND,     /* as root on this node */
	STEP_JOB,      /* in the job's own environment */
	STEP_SITE,     /* cables, switch ports, the fabric: before a restart that cannot help */
	STEP_BOOT,     /* as root, after all other changes, or the next boot fails */
	STEP_FIRMWARE, /* in the firmware setup, during the boot of STEP_RESTART */
	STEP_RESTART,  /* reload, reboot or power cycle: what waits for it takes effect */
	STEP_AFTER,    /* as root after the restart, because it needs the driver or a link */
	STEP_HARDWARE,
	STEP_CONTAINER, /* change how the container is started */
	STEP_HOST,
	STEP_PROVIDER,
	STEP_CHECK, /* run doctor again */
};

struct step {
	enum step_kind kind;
	LIST(const struct problem *) problems;
	/* Of STEP_HARDWARE: problems that are for it only if the power cycle does not help. */
	LIST(const struct problem *) then;
};

struct steps {
	const struct report *report;
	const struct problems *problems; /* in the order of the steps */
	const struct plan *plan;	 /* NULL if none could be made */
	LIST(struct step)
	items; /* by kind; only STEP_LOOK, STEP_DRAIN, STEP_RESTART and STEP_CHECK can be without problems */
	enum activation restart;  /* RELOAD, REBOOT, POWER_CYCLE, or NONE */
	const char *fix_command;  /* the shell command that repairs */
	const char *show_command; /* the same without --apply, which only shows the changes */
	const char *check_command;
	const char *letter_command; /* prints the request for those who can act */
	bool elsewhere;		    /* the node is not this machine: a copy, or below --root */
	const char *where;	    /* "On the node: ", or "" */
};

/* Returns the steps, in the report's arena. PLAN repairs all problems; it is NULL if there are only facts. */
const struct steps *steps_find(const struct report *report, const struct plan *plan,
			       const struct render_options *options);
/* Returns the step that solves PROBLEM. */
enum step_kind steps_kind(const struct steps *steps, const struct problem *problem);
/* Returns what the plan has for FINDING, or NULL. */
const struct plan_repair *steps_repair(const struct steps *steps, const struct finding *finding);
/* Returns true if A and B have the same instruction. */
bool steps_is_same(const struct steps *steps, const struct problem *a, const struct problem *b);
/* Returns true if the restart alone solves PROBLEM. */
bool steps_is_restart_alone(const struct steps *steps, const struct problem *problem);
/* Returns the instruction for PROBLEM. */
const char *steps_what(const struct steps *steps, const struct problem *problem);
enum activation steps_activation(const struct steps *steps, const struct problem *problem);

/* Columns of a table: who acts ("you", "root", "host", ...), and the next action in a word or two. */
const char *steps_who(const struct steps *steps, const struct problem *problem);
const char *steps_next(const struct steps *steps, const struct problem *problem);
/* Return the gravest rule that only root can check, or NULL; and how many there are. */
const struct rule *steps_gravest_for_root(const struct report *report);
size_t steps_count_for_root(const struct report *report);
/* steps_is_blind(): the plan refuses the repair because this user could not read all files. There is no command then. */
const char *steps_command_of(const struct steps *steps, const struct problem *problem);
bool steps_is_blind(const struct steps *steps, const struct problem *problem);
/* Returns "GPU3 needs repair" for devices that need a power cycle, the firmware setup or a replacement; or NULL. */
const char *steps_lost(const struct steps *steps);
/* Returns the problem that makes the next boot fail, or NULL. */
const struct problem *steps_stops_boot(const struct steps *steps);
/* Returns true if a later instruction rebuilds the initramfs, so that PROBLEM's need not. */
bool steps_makes_image(const struct steps *steps, const struct problem *problem);
/* Returns what a later step does for PROBLEM (enum then): the reboot or the initramfs. */
unsigned int steps_done_later(const struct steps *steps, const struct problem *problem);
/* Returns the instruction for FINDING, a member of PROBLEM, without what a later step does. */
const char *steps_remedy(const struct steps *steps, const struct problem *problem,
			 const struct finding *finding);
/* Returns the first step that changes something, or NULL. */
const struct step *steps_first(const struct steps *steps);
/* Returns the number of PROBLEM, from 1; 0 if it is the only one. */
unsigned int steps_number(const struct steps *steps, const struct problem *problem);
/* Returns true if STEP_HAND comes before STEP_FIX, because it removes what keeps fix from a repair. */
bool steps_is_hand_first(const struct steps *steps);
/* Puts the problems in the order of the steps; in one step the gravest is first. */
void steps_sort(struct steps *steps);
/* "By hand on this node, as root" */
const char *steps_title(const struct steps *steps, const struct step *step);
/* Returns the title of STEP_FIX. */
const char *steps_fix_text(const struct steps *steps, const struct step *step);
/* Returns the commands of STEP, one a line, or NULL. */
const char *steps_command(const struct steps *steps, const struct step *step);
/* Returns when the change of PROBLEM takes effect; NULL if that is at once or a step says it. */
const char *steps_effect(const struct steps *steps, const struct problem *problem);
/* Returns when a change takes effect and whether it disturbs running jobs; NULL for ACTIVATION_NONE. */
const char *effect_text(enum activation activation);

#endif
