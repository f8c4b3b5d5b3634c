/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dkms.h - the command that builds a module again, where DKMS and the module's sources are installed. Pure. */
#ifndef DKMS_H
#define DKMS_H

#include "facts/facts.h"

/* SOURCES is the software item of the module's sources: "driver-source", "gdrdrv-source". NULL where DKMS or
 * the sources are missing, or where several versions of the sources are installed. */
const char *command_dkms_rebuild(struct arena *arena, const struct node *node, const char *sources);

#endif
