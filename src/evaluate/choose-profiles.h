/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choose-profiles.h - chooses the profiles: those of the user, else those that the hardware suggests. */
#ifndef CHOOSE_PROFILES_H
#define CHOOSE_PROFILES_H

#include "evaluate/report.h"

/* Sets report->profiles and the reason. */
void profiles_choose(struct report *report, const struct settings *settings);

/* Fills report->not_evaluated with the other profiles, and with what on this node asks for each. */
void profiles_list_not_evaluated(struct report *report);

#endif
