/* SPDX-License-Identifier: GPL-2.0-or-later */
/* find-steps.h - from a report to the steps: the plan that fix would make, then who does what in which order. */
#ifndef FIND_STEPS_H
#define FIND_STEPS_H

#include "advice/steps.h"

struct options;
struct settings;
struct source;

/* Returns the steps that solve the problems of REPORT, with the repairs that 'fix' would plan. */
const struct steps *find_steps(const struct source *source, const struct settings *settings,
			       const struct report *report, const struct options *options);

#endif
