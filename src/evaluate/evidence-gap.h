/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence-gap.h - why a fact is missing that a rule asked for. */
#ifndef EVIDENCE_GAP_H
#define EVIDENCE_GAP_H

#include "evaluate/report.h"

/* Returns the gap of the first fact in the finding's evidence, or of the file that the fact would come from; NULL if
 * no probe noted one. The gap belongs to report->node. */
const struct gap *evidence_gap(const struct report *report, const struct finding *finding);

/* Like evidence_gap(), but only for that file, a folder above it or a file below it. */
const struct gap *evidence_gap_near(const struct report *report, const struct finding *finding);

#endif
