/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choose-profiles.h - what the node is for: as the user says, else as its hardware shows. */
#ifndef CHOOSE_PROFILES_H
#define CHOOSE_PROFILES_H

#include "evaluate/report.h"

/* Sets report->profiles and the reason. */
void profiles_choose(struct report *report, const struct settings *settings);

/* Fills report->not_judged with the other profiles, and with what on this node asks for each. */
void profiles_list_not_judged(struct report *report);

#endif
