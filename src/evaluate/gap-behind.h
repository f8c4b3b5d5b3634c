/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gap-behind.h - why a fact is missing that a rule asked for. */
#ifndef GAP_BEHIND_H
#define GAP_BEHIND_H

#include "evaluate/report.h"

/* What a probe noted about the first fact in the finding's evidence, or about the file that it would be in. NULL: no
 * probe noted anything. It lies in report->node. */
const struct gap *gap_behind(const struct report *report, const struct finding *finding);

/* The same of that file, a folder above it or a file below it alone. */
const struct gap *gap_near(const struct report *report, const struct finding *finding);

#endif
