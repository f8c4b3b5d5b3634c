/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modprobe-also-loads.h - the modules that modprobe loads together with a given one: soft dependencies and install
 * commands, as kmod takes them.
 */
#ifndef MODPROBE_ALSO_LOADS_H
#define MODPROBE_ALSO_LOADS_H

#include "facts/facts.h"

/* Returns true if NAME (with underscores) is loaded along with a module that is loaded here, or with the GPUs'
 * driver. */
bool modprobe_also_loads(const struct node *node, const char *name);

#endif
