/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf-fault.h - what the program that reads a configuration file does with a line that is wrong in it. Pure: facts in,
 * answer out.
 */
#ifndef CONF_FAULT_H
#define CONF_FAULT_H

#include "facts/facts.h"

enum conf_outcome {
	CONF_FINE,    /* this release takes the line */
	CONF_UNSURE,  /* the release was not read */
	CONF_IGNORED, /* the line has no effect */
	CONF_REFUSED, /* the program does not start, or refuses its work */
};

/* The program that reads a kind of file. */
struct conf_reader {
	const char *name;     /* for people: Slurm */
	const char *software; /* its name in software.items */
	const char *unit;     /* NULL: no service reads the file */
	const char *breaks;   /* what happens if it refuses the file */
	const char *restart;  /* what makes a correction take effect; NULL: nothing */
	const char *check;    /* the command that checks the file; NULL: none */
};

const struct conf_reader *conf_reader(const struct conf_fault *fault);
enum conf_outcome conf_outcome(const struct node *node, const struct conf_fault *fault);
/* "line 12: no-cgroups belongs to nvidia-container-cli" */
const char *conf_fault_text(struct arena *arena, const struct node *node,
			    const struct conf_fault *fault);
/* The first fault for which the service UNIT does not start; or NULL. */
const struct conf_fault *conf_fault_of_unit(const struct node *node, const char *unit);
/* The path of its kind: references.faults[#3].kind. */
const char *conf_fault_fact(struct arena *arena, const struct node *node,
			    const struct conf_fault *fault);

#endif
