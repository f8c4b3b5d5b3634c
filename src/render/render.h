/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render.h - results as text for people and as documents for machines. Each writes to standard output
 * and returns STATUS, or EXIT_CANNOT when it could not all be written. */
#ifndef RENDER_H
#define RENDER_H

#include "report.h"
#include "text.h"

struct json_object;

enum exit_status render_report_text(const struct report *report, const struct options *options,
				    enum exit_status status);
enum exit_status render_report_json(const struct report *report, enum exit_status status);
enum exit_status render_rules_text(const struct rule *const *rules, size_t count,
				   const struct options *options);
enum exit_status render_rules_json(const struct rule *const *rules, size_t count);
enum exit_status render_rules_man(const struct rule *const *rules, size_t count);
enum exit_status render_rule_text(const struct rule *rule, const struct options *options);
/* Any document, indented. */
enum exit_status render_json(struct json_object *json, enum exit_status status);

/* "takes effect at the next boot"; "" for none. */
const char *activation_text(enum activation activation);
/* "base, deepep" of a rule's profiles; in a static buffer. */
const char *render_profiles(unsigned int profiles, char buffer[64]);

#endif
