/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bootargs.h - kernel arguments, of the kernel that runs or of a text that the next boot gets.
 * Pure. */
#ifndef BOOTARGS_H
#define BOOTARGS_H

#include "facts/facts.h"
#include "parse/kparam.h"

struct bootargs {
	struct kparam_iter iter;
};

/* The arguments for the kernel in TEXT, one after the other; what follows "--" is for init. */
struct bootargs bootargs_of(const char *text);
bool bootargs_next(struct bootargs *args, struct kparam *arg);

/* Returns true if TEXT has an argument NAME with VALUE among its values. VALUE NULL: with any. */
bool bootargs_find(const char *text, const char *name, const char *value);

/* Returns true for an argument that GPU or RDMA work depends on. */
bool bootargs_is_ours(const struct kparam *arg);
/* Returns true if ARGUMENT, which the kernel may not know, begins as those of GPU, NIC and IOMMU do. It can be
 * misspelt. */
bool bootargs_begins_as_ours(struct span argument);

/* Those arguments of a text that are ours, for questions about many. */
struct bootargs_set {
	struct arena *arena;
	struct text_map *args;
};
struct bootargs_set bootargs_set_of(const char *text, struct arena *arena);
/* Returns true if the text has this very argument, which is ours. */
bool bootargs_holds(const struct bootargs_set *set, const struct kparam *arg);

/* The argument of TEXT that makes passthrough what IOMMU groups have by default, or NULL. */
const char *bootargs_passthrough(const char *text);

/* Returns the kernel arguments of NODE's next boot, or NULL where they are not known. */
const char *bootargs_staged(const struct node *node);

#endif
