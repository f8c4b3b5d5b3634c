/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module-load.h - the instruction and the command that load a module, for rules about missing modules. "modprobe" is
 * said only where a file of the module exists, or where that is not known. Pure.
 */
#ifndef MODULE_LOAD_H
#define MODULE_LOAD_H

#include "facts/facts.h"

struct module_load {
	bool no_file; /* known: no file for the kernel that runs */
	/* a clause for what was found: "no file exists for kernel X"; or NULL */
	const char *why_not;
	const char *fact; /* that says so; or NULL */
	const char *remedy;
	const char *command; /* or NULL */
};

/* NAME with underscores. */
struct module_load module_load_of(const struct node *node, const char *name, struct arena *arena);
/* Returns the usual spelling for modules-load.d and modprobe: nvidia-peermem, but mlx5_ib. */
const char *module_written(struct arena *arena, const char *name);

#endif
