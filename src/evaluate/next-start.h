/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * next-start.h - a configuration for which a service does not start (.stops of an answer). A service that runs read its
 * files before the error came into them: it works until it is started again.
 */
#ifndef NEXT_START_H
#define NEXT_START_H

#include "evaluate/rule.h"

/* Makes a failure that stops a service which runs a warning of its next start. */
void next_start_lower(struct rule_context *ctx, struct answer *answer);

#endif
