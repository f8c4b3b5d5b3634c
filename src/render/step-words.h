/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step-words.h - the words of the steps, for the formats that people read. */
#ifndef STEP_WORDS_H
#define STEP_WORDS_H

#include "advice/steps.h"

/* "By hand on this node, as root" */
const char *steps_title(const struct steps *steps, const struct step *step);
/* Shown before the steps that need the hardware to work. */
#define STOP_FOR_HARDWARE "Stop here until the hardware works."
/* Returns true if STEP is the first of them. */
bool steps_needs_working_hardware(const struct steps *steps, const struct step *step);
/* Returns the title of STEP_FIX. */
const char *steps_fix_text(const struct steps *steps, const struct step *step);
/* Columns of a table: the person who acts ("you", "root", "host", ...), and the next action in a word or two. */
const char *steps_who(const struct steps *steps, const struct problem *problem);
const char *steps_next(const struct steps *steps, const struct problem *problem);
/* Returns when the change of PROBLEM takes effect; NULL if that is at once or in the text of a step. */
const char *steps_effect(const struct steps *steps, const struct problem *problem);
/* Returns when a change takes effect and whether it disturbs running jobs; NULL for ACTIVATION_NONE. */
const char *effect_text(enum activation activation);
/* Returns "GPU3 needs repair" for devices that need a power cycle, the firmware setup or a replacement; or NULL. */
const char *steps_repair_text(const struct steps *steps);

#endif
