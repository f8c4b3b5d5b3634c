/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-parts.h - the components that must have the driver's version: data/driver-parts.tsv. */
#ifndef DRIVER_PARTS_H
#define DRIVER_PARTS_H

#include <stdbool.h>

#include "base/span.h"

struct driver_part {
	const char *name;    /* of the software item */
	const char *library; /* how the file of a library begins: libnvidia-nscq.so */
	bool is_equal;	     /* else one branch is enough */
	bool for_nvswitch;   /* of no use without NVSwitches */
	bool is_warning;     /* else a note */
	const char *effect;
	const char *cure;
	const char *source;
};

extern const struct driver_part driver_parts[]; /* ends with a NULL name */

/* Returns true if VERSION is of the same branch as the driver's: 570 of 570.86.15. */
bool driver_same_branch(const char *version, const char *driver);

#endif
