/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render.h - results as text for people and as documents for machines. Each function writes to standard output and
 * returns STATUS, or EXIT_CANNOT if not all could be written. */
#ifndef RENDER_H
#define RENDER_H

#include "base/message.h"
#include "base/page.h"
#include "base/text.h"
#include "evaluate/report.h"
#include "render/options.h"
#include "txn/plan.h"

struct json_object;
struct finding_list;
struct problem;
struct problems;
struct steps;
struct diff;
struct fleet;
struct repair_outcome;
struct txn_entries;
struct why;

/* ---- results: each function prints a whole result and returns STATUS or EXIT_CANNOT ---- */

enum exit_status render_report_text(const struct report *report,
				    const struct render_options *options, enum exit_status status);
enum exit_status render_report_json(const struct report *report, const struct steps *steps,
				    enum exit_status status);
/* The same document on one line. */
enum exit_status render_report_jsonl(const struct report *report, const struct steps *steps,
				     enum exit_status status);
enum exit_status render_report_prometheus(const struct report *report, enum exit_status status);
/* Markdown to send to the administrator or provider of the node. */
enum exit_status render_report_provider(const struct report *report,
					const struct render_options *options,
					enum exit_status status);
enum exit_status render_report_html(const struct report *report,
				    const struct render_options *options, enum exit_status status);
/* These two return the status that their consumer defines: Nagios 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN;
 * node-problem-detector 0 OK, 1 problem, 2 unknown. */
enum exit_status render_report_nagios(const struct report *report, enum exit_status status);
enum exit_status render_report_npd(const struct report *report, enum exit_status status);
/* Returns STATUS as such a consumer defines it, for a run without a result. The consumer shows standard output, so the
 * message of complain() is printed there too. */
enum exit_status render_failure(const struct render_options *options, enum exit_status status);
/* Prints the report as --format, --output, --journal and --quiet require. LINES: text has one line for each finding. */
enum exit_status render_report(const struct report *report, const struct render_options *options,
			       enum exit_status status, bool lines);
/* Prints a line for one of many nodes: NAME, the verdict and its first reason. */
void render_report_line(const char *name, const struct report *report);
enum exit_status render_report_lines(const struct report *report, enum exit_status status);
enum exit_status render_proof_text(const struct report *report,
				   const struct render_options *options, enum exit_status status);
enum exit_status render_proof_json(const struct report *report, enum exit_status status);
enum exit_status render_rules_text(const struct rule *const *rules, size_t count,
				   const struct render_options *options);
enum exit_status render_rules_json(const struct rule *const *rules, size_t count);
enum exit_status render_rules_man(const struct rule *const *rules, size_t count);
/* Prints a line for each rule: its title and its id. */
enum exit_status render_rules_titles(const struct rule *const *rules, size_t count,
				     const struct render_options *options);
enum exit_status render_rule_text(const struct rule *rule, const struct render_options *options);
enum exit_status render_why_text(const struct why *why, const struct render_options *options,
				 enum exit_status status);
enum exit_status render_why_json(const struct why *why, enum exit_status status);
/* The table of doctor over many files; the caller ends the output. */
struct table;
void render_table(const struct table *table, const struct fleet *fleet,
		  const struct render_options *options);
enum exit_status render_diff(const struct diff *diff, const struct fleet *fleet,
			     const struct render_options *options, enum exit_status status);
/* An [expect] section: of one node, or of most of the NODES nodes in TABLE. */
enum exit_status render_expect(const struct node *node, struct arena *arena,
			       const struct render_options *options);
enum exit_status render_majority(struct diff *table, size_t nodes,
				 const struct render_options *options);
enum exit_status render_plan_text(const struct plan *plan, const struct report *report,
				  const struct render_options *options, enum exit_status status);
enum exit_status render_plan_json(const struct plan *plan, const struct report *report,
				  enum exit_status status);
enum exit_status render_outcome_text(const struct repair_outcome *outcome,
				     const struct render_options *options, enum exit_status status);
/* Print the plan's document with its outcome, and an undo's. */
enum exit_status render_applied_json(const struct repair_outcome *outcome,
				     const struct report *report, enum exit_status status);
enum exit_status render_undone_json(const struct repair_outcome *outcome, enum exit_status status);
enum exit_status render_entries_text(const struct txn_entries *entries,
				     const struct render_options *options);
enum exit_status render_entries_json(const struct txn_entries *entries);
/* ---- parts of documents, as new objects that the caller owns ---- */

/* Returns the steps of a plan as lines for a shell, each below a comment about its effect. */
const char *render_plan_commands(struct arena *arena, const struct plan *plan);
/* A plan as a document, the node and the finding as all documents have them, and the words of a set of bits. */
struct json_object *render_plan_object(const struct plan *plan, const struct report *report);
struct json_object *render_node(const struct node *node);
struct json_object *render_finding(const struct report *report, const struct finding *finding);
/* The steps of a report, as an array in their order. */
struct json_object *render_steps(const struct steps *steps);
struct json_object *render_words(const char *const *list, unsigned int bits);
/* The flags of an indented document. */
#define RENDER_JSON_FLAGS \
	(JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)
/* Prints a document, indented. */
enum exit_status render_json(struct json_object *json, enum exit_status status);

/* ---- sentences in several formats ---- */

extern const char *const text_tags[]; /* "CRIT", by enum severity */

/* Returns the time of activation as text: "at the next boot"; NULL for none. */
const char *activation_text(enum activation activation);

/* Sentences of the report in several formats. In the report's arena; NULL: no sentence. */
struct text_lines {
	LIST(const char *);
};
const char *render_verdict(const struct report *report, const struct problems *problems);
const char *render_profile_verdicts(const struct report *report, const struct steps *steps);
const char *render_system(const struct report *report);
/* Returns the sentence about rules that need the machine and not only its image; NULL: none. */
const char *render_not_here(const struct report *report);
const char *render_gpus(const struct report *report);
const char *render_nics(const struct report *report);
const char *render_time(struct fact_u64 seconds, struct arena *arena); /* 2026-01-31T23:59:59Z */
const char *render_taken(
	const struct report *report); /* when the facts were read, and by which user */
/* Returns the devices of FINDINGS, in MOST parts (names.h: labels_join()). */
const char *render_where(const struct report *report, const struct finding_list *findings,
			 size_t most);
const char *render_place(const struct report *report, const char *fact); /* file:line */
const char *render_places(const struct report *report, const struct finding *finding);
const char *render_proof(const struct report *report, const struct finding *finding);
struct text_lines render_found(const struct report *report, const struct problem *problem);
const char *render_expected(const struct problem *problem); /* NULL: render_found() has it */
struct text_lines render_fixes(const struct steps *steps, const struct problem *problem);
/* What fix changes or a person does in a step, each once: without what a later step does for all problems. */
struct text_lines render_instructions(const struct steps *steps, const struct problem *problem);
/* Returns why the program does not repair here a problem that it repairs on other nodes. */
const char *render_refused(const struct steps *steps, const struct problem *problem);
/* "RULE, GPU0-GPU3: what was found" of a note; NULL: an earlier note of the rule has it. */
const char *render_note(const struct report *report, const struct finding *note);
/* Returns the profiles that were not evaluated although the node suggests them, with the option for each. */
struct text_lines render_hints(const struct report *report);

/* ---- checks that could not run, and lines of findings ---- */

/* unknowns.c: checks that could not run, by the way to know their facts. */
struct unknown {
	const char *path; /* the data that could not be read; NULL: the reason has it */
	bool others;	  /* and more of its kind, for the same reason */
	const char *why;
	bool is_fact;		 /* WHY has the name of a fact */
	const char *to_check;	 /* NULL: no known way helps */
	bool needs_nvml;	 /* TO_CHECK is --nvml */
	const char *rules;	 /* with commas */
	size_t count;		 /* of them */
	const struct rule *last; /* of them */
};
struct unknowns {
	LIST(struct unknown);
};
struct unknown render_unknown(const struct report *report, const struct finding *finding);
struct unknowns render_unknowns(const struct report *report);
/* The same in one or two sentences of at most WIDTH columns, if possible. */
const char *render_unknown_line(const struct report *report, bool is_page, int width);
/* lines.c: problems, the worst first, one line for equal answers about several subjects: the first line, or the next
 * AFTER; NULL at the end. */
const struct finding *render_next(const struct report *report, const struct finding *after);
/* "rdma/port-not-active mlx5_0, mlx5_1: DOWN", in the report's arena, not escaped. */
const char *render_reason(const struct report *report, const struct finding *finding);
const char *render_subjects(const struct report *report, const struct finding *finding);

/* Returns "base, deepep" of a rule's profiles, in BUFFER. */
const char *render_profiles(unsigned int profiles, char buffer[64]);

#endif
