/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-holders.h - the processes and modules that keep the NVIDIA driver from being unloaded. */
#ifndef DRIVER_HOLDERS_H
#define DRIVER_HOLDERS_H

#include "host/host.h"

/* The driver's own modules in the order in which they can be unloaded; ends with NULL. */
extern const char *const driver_modules[];

/* 0 when nothing holds any of them. Otherwise negative errno with WHY, in ARENA, which says who
 * holds what, or what could not be read: -EBUSY when something holds them for certain. */
int driver_holders(struct host *host, struct arena *arena, const char **why);

#endif
