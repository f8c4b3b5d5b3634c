/* SPDX-License-Identifier: GPL-2.0-or-later */
/* registry-keys.h - keys of NVreg_RegistryDwords: which of them switch NVLink off, whether two values agree, and what
 * several assignments of it set together. The kernel keeps the last assignment only. */
#ifndef REGISTRY_KEYS_H
#define REGISTRY_KEYS_H

#include "facts/facts.h"
#include "parse/nvidia.h"

/* Keys that can switch NVLink off; ends with NULL. */
extern const char *const registry_nvlink_keys[];
/* Returns true if an entry of VALUE switches NVLink off. VALUE may be NULL. */
bool registry_nvlink_off(const char *value, struct registry_entry *entry);

/* The two functions take values of any parameter of a module. Numbers are equal in any base (0x12 is 18). Keys of
 * RegistryDwords are compared one by one, and the first value may have more of them. */

/* Returns true if VALUE sets what OTHER sets. */
bool param_gives(const char *value, const char *other);
/* Returns true if the configuration CONFIGURED (NULL: none) sets each key of RUNNING, or the whole parameter, to some
 * value. */
bool param_keeps(const char *configured, const char *running);

struct registry_merge {
	size_t count;				 /* of assignments */
	const struct modprobe_assignment *last;	 /* the one in effect; NULL: there is none */
	const struct modprobe_assignment *other; /* one before it, first of all one with MISSING */
	const char *missing; /* a key that the last one lacks; NULL: it has all of them */
	/* of all, without those that switch NVLink off; of a key set twice the value in effect */
	const char *keys;
	const char *nvlink_off; /* such an entry: "RMNvLinkEnable=0x0"; NULL: there is none */
};

struct registry_merge registry_merge(const struct node *node, struct arena *arena);

#endif
