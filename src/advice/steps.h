/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * steps.h - what is to be done about a report's problems, in the order in which it is done: the node is drained, the
 * program repairs, an administrator changes the rest, one reboot makes all of it take effect, others do their part, and
 * the node is checked again.
 */
#ifndef STEPS_H
#define STEPS_H

#include "evaluate/problems.h"
#include "txn/plan.h"

/* In the order in which they are done. Some come earlier on some nodes: order of struct steps. */
enum step_kind {
	STEP_FINAL, /* no change of this node solves the problem, so the other steps can be pointless */
	STEP_LOOK,  /* run doctor again as root, because deciding facts were not read */
	STEP_DRAIN, /* before a step that ends jobs */
	STEP_SAVE,  /* save the kernel log, which a power cycle erases */
	STEP_POWER, /* power cycle for a device that does not respond: it shows whether the machine needs a
			* technician, before the time for all other repairs is spent */
	STEP_FIX,      /* nvnodecheck fix --apply */
	STEP_HAND,     /* as root on this node */
	STEP_JOB,      /* in the job's own environment */
	STEP_SITE,     /* cables, switch ports, the fabric: before a restart that cannot help */
	STEP_BOOT,     /* as root, after all other changes, or the next boot fails */
	STEP_RESTART,  /* reload, reboot or power cycle: what waits for it takes effect */
	STEP_FIRMWARE, /* in the firmware setup, during the boot of STEP_RESTART */
	STEP_AFTER,    /* as root after the restart, because it needs the driver or a link */
	STEP_HARDWARE,
	STEP_HOST,
	STEP_CONTAINER, /* change how the container is started, after what its host must do, so that it starts once */
	STEP_PROVIDER,
	STEP_CHECK, /* run doctor again */
};
#define STEP_KINDS (STEP_CHECK + 1)
extern const char *const step_kind_words[];

/* Who carries out a step. */
enum step_actor {
	ACTOR_NONE, /* nobody: STEP_FINAL */
	ACTOR_USER, /* who starts the job or the container */
	ACTOR_ROOT, /* an administrator of this node */
	ACTOR_HOST, /* an administrator of the host below this node */
	ACTOR_PROVIDER,
	ACTOR_SUPPORT, /* of the machine's vendor */
};
extern const char *const step_actor_words[]; /* NULL for ACTOR_NONE */

struct step {
	enum step_kind kind;
	LIST(const struct problem *) problems;
	/* Of STEP_HARDWARE: problems that are for it only if the power cycle does not help. */
	LIST(const struct problem *) if_unsolved;
};

struct steps {
	const struct report *report;
	const struct problems *problems; /* in the order of the steps */
	const struct plan *plan;	 /* NULL if none could be made */
	/* by kind; only STEP_LOOK, STEP_DRAIN, STEP_RESTART and STEP_CHECK can be without problems */
	LIST(struct step) items;
	enum step_kind order[STEP_KINDS]; /* of all kinds, on this node */
	bool power_first;		  /* STEP_POWER comes before the repairs */
	enum activation restart; /* after the repairs: RELOAD, REBOOT, POWER_CYCLE, or NONE */
	/* Why the program changes nothing on this node, if no step says it; or NULL. */
	const char *refused;
	const char *fix_command;    /* the shell command that repairs */
	const char *show_command;   /* the same without --apply, which only shows the changes */
	bool fixes_warnings;	    /* they have --all */
	const char *check_command;  /* with the rights of this user, and the variables of the job */
	const char *root_command;   /* checks as root */
	const char *letter_command; /* prints the request for those who can act */
	bool elsewhere;		    /* the node is not this machine: a copy, or below --root */
	const char *where;	    /* "On the node: ", or "" */
};

/* The repairs that the program can make, and the user's options, which the commands of the steps repeat. */
struct steps_request {
	const struct plan *plan; /* repairs all problems; NULL if there are only facts */
	const char *root, *from; /* --root, --from; or NULL */
	unsigned int profiles;	 /* of --profile, enum profile; 0: none was given */
};

/* Returns the value of --profile, without profiles that a requested one includes. */
const char *steps_profile_words(unsigned int profiles, struct arena *arena);
/* Returns the steps, in the report's arena. */
const struct steps *steps_find(const struct report *report, const struct steps_request *request);
/* Returns true if the node is drained first. */
bool steps_has_drain(const struct steps *steps);
/* Returns true if the job's own environment is to be changed. */
bool steps_is_in_job_environment(const struct node *node, const struct finding *finding);
/* Returns the step that solves PROBLEM. */
enum step_kind steps_kind(const struct steps *steps, const struct problem *problem);
enum step_actor step_actor(enum step_kind kind);
/* Returns what the plan has for FINDING, or NULL. */
const struct plan_repair *steps_repair(const struct steps *steps, const struct finding *finding);
/* Returns true if A and B have the same instruction. */
bool steps_is_same(const struct steps *steps, const struct problem *a, const struct problem *b);
/* Returns true if the restart alone solves PROBLEM. */
bool steps_is_restart_alone(const struct steps *steps, const struct problem *problem);
/* The node is booted for other problems, which resets the GPUs too. */
bool steps_is_reset_by_boot(const struct steps *steps, const struct problem *problem);
/* The node is booted for other problems, which restarts the unit too. */
bool steps_is_restarted_by_boot(const struct steps *steps, const struct problem *problem);
/* Returns the instruction for PROBLEM. */
const char *steps_what(const struct steps *steps, const struct problem *problem);
/* What the instruction for a problem has to say, beside its remedy. */
enum step_advice {
	ADVICE_REMEDY,
	ADVICE_SOLVED,		   /* the step itself is the remedy */
	ADVICE_BOOT_RESTARTS_UNIT, /* so does the reboot */
	ADVICE_BOOT_RESETS_GPU,
	ADVICE_POWER_RESETS_GPU,
	ADVICE_HARDWARE,	/* for a technician */
	ADVICE_AFTER_BOOT,	/* only if the boot did not solve it */
	ADVICE_CONTAINER_IMAGE, /* in the image of the container */
	ADVICE_PROBABLY,	/* files that only root can read decide it */
};
enum step_advice steps_advice(const struct steps *steps, const struct step *step,
			      const struct problem *problem);
/* Returns when the change of PROBLEM takes effect. */
enum activation steps_activation(const struct steps *steps, const struct problem *problem);
/* Returns what the change of PROBLEM waits for, as its instruction must say it: ACTIVATION_NONE if it takes effect at
 * once, or a step of the report is that restart. */
enum activation steps_waits_for(const struct steps *steps, const struct problem *problem);
/* Returns the restart of the node that PROBLEM needs. Restarts of services and containers are part of their
 * remedies. */
enum activation steps_restart(const struct steps *steps, const struct problem *problem);

/* Returns the rule with the highest severity that only root can check, or NULL. */
const struct rule *steps_worst_for_root(const struct report *report);
/* Counts the checks that only root can run. */
size_t steps_count_for_root(const struct report *report);
/* Returns why the plan has no repair for PROBLEM, although it has one on other nodes; or NULL. */
const char *steps_refused(const struct steps *steps, const struct problem *problem);
/* Returns true if the plan has no repair because this user could not read all files. There is no command then. */
bool steps_is_blind(const struct steps *steps, const struct problem *problem);
const char *steps_command_of(const struct steps *steps, const struct problem *problem);
/* Returns true for a device that does not respond until a power cycle. */
bool steps_is_unresponsive(const struct problem *problem);
/* Returns true for a device that needs a power cycle, the firmware setup or a replacement. SEVERITY: of the problem. */
bool steps_needs_repair(const struct finding *finding, enum severity severity);
/* Returns the problem that makes the next boot fail, or NULL. */
const struct problem *steps_stops_boot(const struct steps *steps);
/* Returns what a later step does for PROBLEM (enum remedy_end): the reboot or the initramfs. */
unsigned int steps_done_later(const struct steps *steps, const struct problem *problem);
/* Returns the instruction for FINDING, a member of PROBLEM, without what a later step does. */
const char *steps_remedy(const struct steps *steps, const struct problem *problem,
			 const struct finding *finding);
/* Returns the command that returns the drained node to its batch system, or NULL. */
const char *steps_resume_command(const struct steps *steps);
/* Returns true if variables of this process are wrong: a check that lacks them finds nothing. */
bool steps_has_job_variables(const struct steps *steps);
/* Returns the first step that changes something, or NULL. */
const struct step *steps_first(const struct steps *steps);
/* Returns the number of PROBLEM, from 1; 0 if it is the only one. */
unsigned int steps_number(const struct steps *steps, const struct problem *problem);
/* Returns true if STEP_HARDWARE comes before the repairs, because a technician may have to replace a part first. */
bool steps_is_hardware_first(const struct steps *steps);
/* Returns true if the host below this virtual machine, or its provider, changes what only the next start has: its step
 * comes before the restart. */
bool steps_is_host_first(const struct steps *steps);
/* Returns true if STEP_HAND comes before STEP_FIX, which needs what it removes or installs. */
bool steps_is_hand_first(const struct steps *steps);
/* Returns the commands of STEP, one a line, or NULL. */
const char *steps_command(const struct steps *steps, const struct step *step);

#endif
