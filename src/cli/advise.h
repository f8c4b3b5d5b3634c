/* SPDX-License-Identifier: GPL-2.0-or-later */
/* advise.h - from a report to its steps. Doctor's steps name the repairs that fix would make. So for problems that fix
 * may repair, advise() evaluates all rules again and makes the plan, with drafts of the files. */
#ifndef ADVISE_H
#define ADVISE_H

#include "advice/steps.h"

struct options;
struct settings;
struct source;

/* Returns the steps that solve the problems of REPORT, with the repairs that 'fix' would plan. */
const struct steps *advise(const struct source *source, const struct settings *settings,
			   const struct report *report, const struct options *options);

#endif
