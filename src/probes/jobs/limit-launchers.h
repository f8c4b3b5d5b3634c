/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limit-launchers.h - the programs that start jobs, which inherit their limits. */
#ifndef LIMIT_LAUNCHERS_H
#define LIMIT_LAUNCHERS_H

#include <stdbool.h>

struct launcher {
	const char *comm; /* as the kernel knows it: 15 characters */
	bool prefix;	  /* flux-broker-0 */
	const char *unit; /* its usual unit, or NULL */
};

/* Ends with a NULL comm. */
extern const struct launcher launchers[];
const struct launcher *launcher_of(const char *comm);

#endif
