/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shellvars.h - assignments in a file that a shell would source, such as /etc/default/grub. Quotes, backslashes and the
 * plain forms of ${NAME} are expanded. No command is ever run, so a value with a command in it stays as written.
 * Conditions are not evaluated: the assignments of both branches are read one after the other.
 */
#ifndef PARSE_SHELLVARS_H
#define PARSE_SHELLVARS_H

#include "base/arena.h"
#include "base/span.h"
#include "facts/fact.h"

#define SHELL_VALUE_MAX \
	4096 /* longer than any kernel command line; longer ones stay as written \
			      */
#define SHELL_VARIABLES_MAX 256

struct shellvar {
	struct span name;
	char *value;
	size_t room;
};

struct shellvars {
	struct arena *arena;
	LIST(struct shellvar) known;
};

/* VALUE is the variable's whole value from here on, with its previous value. */
typedef void shellvars_assigned(void *user, struct span name, const char *value, uint64_t line);

/* Adds a variable that the sourcing shell assigns itself. NAME must stay. */
void shellvars_set(struct shellvars *vars, struct span name, const char *value);

/* Reads one file. VARS has the assignments of earlier ones. TEXT must stay. */
void shellvars_read(struct shellvars *vars, struct span text, shellvars_assigned *assigned,
		    void *user);

#endif
