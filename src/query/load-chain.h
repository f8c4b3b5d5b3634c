/* SPDX-License-Identifier: GPL-2.0-or-later */
/* load-chain.h - which modules modprobe loads together with a given one: soft dependencies and
 * install commands, as kmod takes them. */
#ifndef LOAD_CHAIN_H
#define LOAD_CHAIN_H

#include "facts/facts.h"

/* Is NAME (with underscores) loaded along with a module that is loaded here, or with the GPUs' driver? */
bool load_chain_has(const struct node *node, const char *name);

#endif
