/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm.h - Slurm's release, and what the names in its files are needed for. Pure: facts in, answer out. */
#ifndef SLURM_H
#define SLURM_H

#include "facts/facts.h"

/* For a missing SLURM_DEVICES_FILE. */
#define SLURM_DEVICES_REMEDY                                                                                         \
	"Create the file. Each line has a path or pattern of devices that every job may use: /dev/null, /dev/zero, " \
	"/dev/urandom, /dev/pts/*, /dev/cpu/*/*, /dev/infiniband/*, /dev/nvidiactl, /dev/nvidia-uvm*. Then start slurmd."

/* The release of the library libslurm.so.LIBRARY, as "17.11"; NULL: not in the table. */
const char *slurm_release(const char *library);

/* Returns whether this Slurm needs the thing that R names: only some releases do. Unknown: the release is not known, and
 * slurmd does not run. */
struct fact_bool slurm_needs(const struct node *node, const struct reference *r);
/* Returns true if slurmd does not start without it. With the rest it starts, and something else fails. */
bool slurm_stops_without(const struct reference *r);

#endif
