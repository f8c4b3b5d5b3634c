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
	STEP_FINAL,    /* nothing on this node repairs it, which can make the rest pointless */
	STEP_LOOK,     /* doctor again as root: what decides was not read */
	STEP_DRAIN,    /* before what ends jobs */
	STEP_SAVE,     /* the kernel log, before a power cycle ends it */
	STEP_FIX,      /* nvnodecheck fix --apply */
	STEP_HAND,     /* as root on this node */
	STEP_JOB,      /* in the job's own environment */
	STEP_BOOT,     /* as root, after all other changes: without it the next boot fails */
	STEP_FIRMWARE, /* in the firmware setup, during the boot of STEP_RESTART */
	STEP_RESTART,  /* reload, reboot or power cycle: what waits for it takes effect */
	STEP_AFTER,    /* as root, when the node has restarted: it needs the driver or a link */
	STEP_HARDWARE,
	STEP_CONTAINER, /* where the container is started */
	STEP_HOST,
	STEP_PROVIDER,
	STEP_CHECK, /* doctor again */
};

struct step {
	enum step_kind kind;
	LIST(const struct problem *) problems;
	/* STEP_HARDWARE: these too, if the power cycle does not help. */
	LIST(const struct problem *) then;
};

struct steps {
	const struct report *report;
	const struct problems *problems; /* in the order of the steps */
	const struct plan *plan;	 /* NULL: none could be made */
	LIST(struct step)
	items; /* by kind; only STEP_LOOK, STEP_DRAIN, STEP_RESTART and STEP_CHECK can be without problems */
	enum activation restart;  /* RELOAD, REBOOT, POWER_CYCLE, or NONE */
	const char *fix_command;  /* to paste */
	const char *show_command; /* the same without --apply: it only shows the changes */
	const char *check_command;
	const char *letter_command; /* the text for those who can do it */
	bool elsewhere;		    /* the node is not this machine: a copy, or below --root */
	const char *where;	    /* "On the node: ", or "" */
};

/* PLAN is one that repairs all of them, or NULL: where there are only facts. In the report's arena. */
const struct steps *steps_find(const struct report *report, const struct plan *plan,
			       const struct render_options *options);
/* Who does it, and how. */
enum step_kind steps_kind(const struct steps *steps, const struct problem *problem);
/* The program's answer for a finding; NULL: it has none. */
const struct plan_repair *steps_repair(const struct steps *steps, const struct finding *finding);
/* One instruction is enough for both. */
bool steps_is_same(const struct steps *steps, const struct problem *a, const struct problem *b);
/* All there is to do is what STEP_RESTART does. */
bool steps_is_restart_alone(const struct steps *steps, const struct problem *problem);
/* What is to be done about it, as a sentence. */
const char *steps_what(const struct steps *steps, const struct problem *problem);
enum activation steps_activation(const struct steps *steps, const struct problem *problem);

/* For a table: who acts ("you" for settings of a job, else "root", "host", ...), and in a word or two what is next. */
const char *steps_who(const struct steps *steps, const struct problem *problem);
const char *steps_next(const struct steps *steps, const struct problem *problem);
/* A repair was refused to a user without root, who could not read all: no command is given for it. */
const char *steps_command_of(const struct steps *steps, const struct problem *problem);
bool steps_is_blind(const struct steps *steps, const struct problem *problem);
/* "GPU3 needs repair": a power cycle, the firmware setup or a replacement; NULL: no device does. */
const char *steps_lost(const struct steps *steps);
/* The next boot fails until it is repaired; NULL: there is none. */
const struct problem *steps_stops_boot(const struct steps *steps);
/* A later instruction makes the initramfs: this one need not. */
bool steps_makes_image(const struct steps *steps, const struct problem *problem);
/* What a later step does for PROBLEM: the one reboot, the one build of the initramfs (enum then). */
unsigned int steps_done_later(const struct steps *steps, const struct problem *problem);
/* What is to be done about FINDING, a member of PROBLEM, without what a later step does. */
const char *steps_remedy(const struct steps *steps, const struct problem *problem,
			 const struct finding *finding);
/* NULL: there is nothing to do. */
const struct step *steps_first(const struct steps *steps);
/* 1 for the first of the report's problems; 0: it is the only one. */
unsigned int steps_number(const struct steps *steps, const struct problem *problem);
/* What keeps the program from a repair is changed before it repairs the rest. */
bool steps_is_hand_first(const struct steps *steps);
/* steps-order.c: the problems in the order of the steps, the gravest of a step first. */
void steps_sort(struct steps *steps);
/* "By hand on this node, as root" */
const char *steps_title(const struct steps *steps, const struct step *step);
/* What STEP_FIX does. */
const char *steps_fix_text(const struct steps *steps, const struct step *step);
/* The lines that carry it out, or write the text that is to be sent; NULL: there are none. */
const char *steps_command(const struct steps *steps, const struct step *step);
/* When the change of PROBLEM takes effect, in a few words, where no step says it; NULL: one does, or it is at once. */
const char *steps_effect(const struct steps *steps, const struct problem *problem);
/* When a change takes effect and whether it disturbs jobs that run; NULL: nothing takes effect. */
const char *effect_text(enum activation activation);

#endif
