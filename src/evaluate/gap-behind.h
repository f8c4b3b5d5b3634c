/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gap-behind.h - why a fact is missing that a rule asked for. */
#ifndef GAP_BEHIND_H
#define GAP_BEHIND_H

#include "evaluate/report.h"

/* Returns the gap of the first fact in the finding's evidence, or of the file that the fact would come from; NULL if
 * no probe noted one. The gap belongs to report->node. */
const struct gap *gap_behind(const struct report *report, const struct finding *finding);

/* Like gap_behind(), but only for that file, a folder above it or a file below it. */
const struct gap *gap_near(const struct report *report, const struct finding *finding);

#endif
