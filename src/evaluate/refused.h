/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refused.h - a finding that a module or driver is missing says what was tried and failed, and why a load would fail
 * again: no instruction repeats what failed.
 */
#ifndef REFUSED_H
#define REFUSED_H

#include "evaluate/rule.h"

/* Puts that into ANSWER, a failure of the rule that is being asked. */
void refused_say(struct rule_context *ctx, struct answer *answer);

#endif
