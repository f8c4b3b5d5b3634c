/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvreg.h - parameters of the NVIDIA driver and their defaults: data/nvreg.tsv. */
#ifndef NVREG_H
#define NVREG_H

#include <stdbool.h>
#include <stddef.h>

struct nvreg_param {
	const char *name;  /* as in /proc/driver/nvidia/params */
	const char *value; /* when it is not set */
	bool watched; /* the program's concern: a value that runs and is not configured is reported */
};

extern const struct nvreg_param nvreg_params[]; /* by name; ends with a NULL name */

/* The default of a parameter, without NVreg_; NULL: not in the table. */
const char *nvreg_default(const char *name);

#endif
