/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refused.h - adds to a finding that a module or driver is missing which load failed, and why the next one would
 * fail. It removes instructions that would repeat it.
 */
#ifndef REFUSED_H
#define REFUSED_H

#include "evaluate/rule.h"

/* Puts that into ANSWER, a failure of the rule that is being asked. */
void refused_explain(struct rule_context *ctx, struct answer *answer);

#endif
