/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.h - what is to be done about a report's problems, in the order in which it is done: what the program
 * repairs, what is done by hand, what belongs to firmware, then one reboot for all of it, then what others do.
 */
#ifndef RENDER_STEPS_H
#define RENDER_STEPS_H

#include "evaluate/problems.h"
#include "render/options.h"
#include "txn/plan.h"

enum step_kind {
	STEP_FIX,      /* nvnodecheck fix --apply */
	STEP_HAND,     /* as root on this node */
	STEP_JOB,      /* in the job's own environment */
	STEP_FIRMWARE, /* in the firmware setup, at the next boot */
	STEP_RESTART,  /* reload, reboot or power cycle: what waits for it takes effect */
	STEP_HARDWARE,
	STEP_HOST,
	STEP_PROVIDER,
};

struct step {
	enum step_kind kind;
	LIST(const struct problem *) problems;
};

struct steps {
	const struct report *report;
	const struct problems *problems;
	const struct plan *plan;  /* NULL: none could be made */
	LIST(struct step) items;  /* by kind; none is empty but STEP_RESTART */
	enum activation restart;  /* RELOAD, REBOOT, POWER_CYCLE, or NONE */
	const char *fix_command;  /* to paste */
	const char *show_command; /* the same without --apply: it only shows the changes */
	bool elsewhere;		  /* the node is not this machine: a copy, or below --root */
	const char *where;	  /* "On the node: ", or "" */
};

/* PLAN is one that repairs all of them, or NULL: where there are only facts. In the report's arena. */
const struct steps *steps_find(const struct report *report, const struct plan *plan,
			       const struct render_options *options);
/* Who does it, and how. */
enum step_kind steps_kind(const struct steps *steps, const struct problem *problem);
/* The program's answer for a finding; NULL: it has none. */
const struct plan_repair *steps_repair(const struct steps *steps, const struct finding *finding);
/* What is to be done about it, as a sentence. */
const char *steps_what(const struct steps *steps, const struct problem *problem);
enum activation steps_activation(const struct steps *steps, const struct problem *problem);

/* A word or two for a table: "fix, reboot". */
const char *steps_next(const struct steps *steps, const struct problem *problem);
/* "By hand on this node, as root" */
const char *steps_title(const struct steps *steps, const struct step *step);
/* What STEP_FIX does. */
const char *steps_fix_text(const struct steps *steps, const struct step *step);
/* The lines that carry out STEP_RESTART on this machine; NULL: none does. */
const char *steps_restart_command(const struct steps *steps);
/* When a change takes effect and whether it disturbs jobs that run; NULL: nothing takes effect. */
const char *effect_text(enum activation activation);

#endif
