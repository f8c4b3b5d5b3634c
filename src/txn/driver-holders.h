/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-holders.h - the processes and modules that keep the NVIDIA driver from being unloaded. */
#ifndef DRIVER_HOLDERS_H
#define DRIVER_HOLDERS_H

#include "host/host.h"

/* The driver's own modules in the order in which they can be unloaded; ends with NULL. */
extern const char *const driver_modules[];

/* Returns 0 if nothing holds any of them. Otherwise a negative errno, with the holders, or the file that could not be
 * read, in WHY, in ARENA. -EBUSY: they are certainly held. */
int driver_holders(struct host *host, struct arena *arena, const char **why);

#endif
