/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * used.h - whether the software that a rule is about is in use on the node: its module is loaded, or a variable of jobs
 * configures it. The rule then counts in every profile. Pure.
 */
#ifndef USED_H
#define USED_H

#include "evaluate/rule.h"

bool rule_is_used(const struct node *node, const struct rule *rule);
/* Returns the modules and variables of RULE for people, in BUFFER: "gdrdrv or NCCL_GIN_TYPE=3"; NULL: it has none. */
#define USED_TEXT_MAX 256
const char *rule_used_text(const struct rule *rule, char buffer[USED_TEXT_MAX]);

#endif
