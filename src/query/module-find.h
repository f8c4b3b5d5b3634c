/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module-find.h - questions about the .ko files on disk that several rules ask. Pure. */
#ifndef MODULE_FIND_H
#define MODULE_FIND_H

#include "facts/facts.h"

/* The file of module NAME, with dashes or underscores, for kernel RELEASE: the one that modprobe
 * would take, else one that it does not know, or NULL. */
const struct module_file *module_file_find(const struct node *node, const char *name,
					   const char *release);
/* Returns the file for the running kernel; NULL also if that kernel is not known. */
const struct module_file *module_file_running(const struct node *node, const char *name);
/* Returns a file for any kernel but RELEASE, or NULL. */
const struct module_file *module_file_elsewhere(const struct node *node, const char *name,
						const char *release);
/* Returns its path below the folder of its kernel: updates/dkms/nvidia.ko */
const char *module_file_place(const struct module_file *file);
/* NAME with underscores. */
bool module_depends_on(const struct module_file *file, const char *name);

/* A module of GPUs or RDMA, but none that takes a GPU away from its driver. NAME with underscores. */
bool module_is_ours(const char *name);
/* Returns a sentence: what does not work while the module is not loaded; NULL: nothing that has a name. */
const char *module_purpose(const char *name);
/* Returns true if the GPUs or NICs of this host do not work without the module. */
bool module_is_needed(const struct node *node, const char *name);

/* What to do about a line of modprobe.d at PLACE, or NULL, that leads from NAME to TARGET, which does not exist. */
const char *module_alias_cure(struct arena *arena, const struct node *node, const char *name,
			      const char *target, const char *place);

/* LIST is one of a file's two lists of symbols. NULL: not in it. */
const struct module_symbol *module_symbol_find(const void *list, const char *name);

enum symbol_fit { SYMBOL_FITS, SYMBOL_OTHER_VERSION, SYMBOL_UNKNOWN };

/* Returns whether the symbol that a module WANTs has the version that the modules of the running kernel offer. FROM
 * is the file that offers it, or NULL. */
enum symbol_fit module_symbol_fit(const struct node *node, const struct module_symbol *want,
				  const struct module_file **from);

#endif
