/* SPDX-License-Identifier: GPL-2.0-or-later */
/* option-value.h - options with a value that stops their module from being loaded (parse/param-value.h). */
#ifndef OPTION_VALUE_H
#define OPTION_VALUE_H

#include "facts/facts.h"

/* The file that options of MODULE, as modprobe.d names it, go to in the kernel that runs; or NULL. */
const struct module_file *option_file(const struct node *node, const char *module);

/* Why the kernel that runs refuses the module for A's value, and *TYPE, if that is not NULL: what it is to be.
 * NULL: it takes it, or its file or type was not read. */
const char *option_refused(const struct node *node, const struct modprobe_assignment *a,
			   const char **type);

#endif
