/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render.h - results as text for people and as documents for machines. Each writes to standard output
 * and returns STATUS, or EXIT_CANNOT when it could not all be written. */
#ifndef RENDER_H
#define RENDER_H

#include "base/message.h"
#include "base/text.h"
#include "evaluate/report.h"
#include "render/options.h"
#include "txn/plan.h"

struct json_object;
struct diff;
struct fleet;
struct outcome;
struct txn_entries;

enum exit_status render_report_text(const struct report *report,
				    const struct render_options *options, enum exit_status status);
enum exit_status render_report_json(const struct report *report, enum exit_status status);
/* The same on one line. */
enum exit_status render_report_jsonl(const struct report *report, enum exit_status status);
enum exit_status render_report_prometheus(const struct report *report, enum exit_status status);
/* These two end with their consumer's own status: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN; 0 OK, 1 problem,
 * 2 unknown. */
enum exit_status render_report_nagios(const struct report *report, enum exit_status status);
enum exit_status render_report_npd(const struct report *report, enum exit_status status);
/* STATUS as such a consumer has it where nothing could be found out. It shows standard output, so what
 * complain() said goes there too. */
enum exit_status render_failure(const struct render_options *options, enum exit_status status);
/* By --format, --output, --journal and --quiet; LINES: text is a line for each finding. */
enum exit_status render_report(const struct report *report, const struct render_options *options,
			       enum exit_status status, bool lines);
enum exit_status render_report_lines(const struct report *report, enum exit_status status);
enum exit_status render_proof_text(const struct report *report,
				   const struct render_options *options, enum exit_status status);
enum exit_status render_proof_json(const struct report *report, enum exit_status status);
enum exit_status render_rules_text(const struct rule *const *rules, size_t count,
				   const struct render_options *options);
enum exit_status render_rules_json(const struct rule *const *rules, size_t count);
enum exit_status render_rules_man(const struct rule *const *rules, size_t count);
enum exit_status render_rule_text(const struct rule *rule, const struct render_options *options);
enum exit_status render_diff(const struct diff *diff, const struct fleet *fleet,
			     const struct render_options *options, enum exit_status status);
enum exit_status render_plan_text(const struct plan *plan, const struct report *report,
				  const struct render_options *options, enum exit_status status);
enum exit_status render_plan_json(const struct plan *plan, const struct report *report,
				  enum exit_status status);
enum exit_status render_outcome_text(const struct outcome *outcome,
				     const struct render_options *options, enum exit_status status);
/* The plan's document with its outcome; an undo's. */
enum exit_status render_applied_json(const struct outcome *outcome, const struct report *report,
				     enum exit_status status);
enum exit_status render_undone_json(const struct outcome *outcome, enum exit_status status);
enum exit_status render_entries_text(const struct txn_entries *entries,
				     const struct render_options *options);
enum exit_status render_entries_json(const struct txn_entries *entries);
/* New objects: a plan as a document; what each document says of its node; words by their bits. */
struct json_object *render_plan_object(const struct plan *plan, const struct report *report);
struct json_object *render_node(const struct node *node);
struct json_object *render_words(const char *const *list, unsigned int bits);
/* Any document, indented. */
enum exit_status render_json(struct json_object *json, enum exit_status status);

/* When it takes effect: "at the next boot"; NULL for none. */
const char *activation_text(enum activation activation);
/* A part of the report for people: what could not be told, and what would tell. */
void render_unknowns(struct page *page, const struct report *report);
/* lines.c: what is not well, worst first, the same answer about several subjects once: the first one, or
 * the next AFTER; NULL at the end. */
const struct finding *render_next(const struct report *report, const struct finding *after);
/* "rdma/port-not-active mlx5_0, mlx5_1: DOWN", in the report's arena, not escaped. */
const char *render_reason(const struct report *report, const struct finding *finding);
const char *render_subjects(const struct report *report, const struct finding *finding);

/* "base, deepep" of a rule's profiles; in a static buffer. */
const char *render_profiles(unsigned int profiles, char buffer[64]);

#endif
