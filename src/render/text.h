/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.h - parts of the report for people; text.c combines them. */
#ifndef RENDER_TEXT_H
#define RENDER_TEXT_H

#include "base/span.h"
#include "render/render.h"
#include "render/step-words.h"

#define COMMAND 8     /* columns before a command */
#define TEXT_TAG 5    /* width of "CRIT " */
#define TEXT_LABEL 11 /* width of "in effect  " */
#define TEXT_MARK 10  /* width of "Profiles  " */
#define TEXT_FIELD 10 /* width of "Leads to: " */

struct view {
	struct page page;
	const struct report *report;
	const struct problems *problems;
	const struct steps *steps;
	const struct render_options *options;
	bool has_steps; /* the page has steps: problems are numbered, and the steps have their remedies */
	bool is_merged; /* several problems: the steps have what was found, and there are no details */
	bool is_long; /* many problems: their effect is left out */
	bool is_cut; /* very many problems, hardware among them: of the steps after its repair only the titles */
	bool has_short_warnings; /* very many problems: a warning is only its title and where it is */
	/* By the problem's place: */
	const char **rows; /* the text of its row in the table; NULL if it has no row */
	bool *named;	   /* a step has named it */
};

/* Prints a label and the text beside it. Prints nothing if the text is NULL or empty. */
void text_field(struct view *v, const char *name, const char *text);
/* Returns "[12] "; "" if problems have no numbers. */
const char *text_number(const struct view *v, const struct problem *problem);
void text_heading(struct view *v, const char *text);
enum style text_style(enum severity severity);

/* text-head.c: print the verdict, and the description of the node. Both return the number of lines. */
int text_verdict(struct view *v);
int text_head(struct view *v);
/* text-table.c: prints a row for each problem. The table and the first step have at most LINES lines, if possible. */
void text_table(struct view *v, int lines);
/* Returns the title with the devices in parentheses, if they are short. */
const char *text_title_where(const struct view *v, const struct problem *problem);
/* Returns true for a warning of which the page has only the title and where it is. */
bool text_is_short(const struct view *v, const struct problem *problem);
/* "1, 4-6" */
const char *text_numbers(const struct view *v, const struct problem *const *problems,
			 uint32_t count);
/* Adds TEXT after PREFIX to LINES, wrapped: further lines begin below its first word. */
void text_add(struct view *v, struct text_lines *lines, const char *prefix, const char *text);
/* A title is EFFECT: REASON, or only the effect. Returns the reason, or NULL. */
const char *text_reason(const char *title, struct span *effect);
/* text-advice.c: returns the instruction for PROBLEM in STEP; NULL if it needs none. */
const char *text_advice(const struct view *v, const struct step *step,
			const struct problem *problem);
/* Returns the instructions of the other members, if the rule has one for each. */
struct text_lines text_other_advice(const struct view *v, const struct problem *problem);
/* Puts the members in front that OWN, the instruction of a member, is for, unless TEXT names them. */
const char *text_with_members(const struct view *v, const struct problem *problem, const char *own,
			      const char *text);
/* text-steps.c: prints the steps, in order. */
void text_steps(struct view *v);
/* text-not-root.c: prints which steps a user without root can do, and the request to send for the others. */
void text_not_root(struct view *v);
/* Returns true if a user without root can do all steps. */
bool text_are_all_own(const struct steps *steps);
/* text-problem.c: add to LINES the title of a problem, and what was found and its effect; INDENT columns from the
 * left. */
void text_title_lines(struct view *v, struct text_lines *lines, const struct problem *problem,
		      int indent);
void text_problem_lines(struct view *v, struct text_lines *lines, const struct problem *problem,
			int indent);
/* Adds a label and the text beside it to LINES. */
void text_add_field(struct view *v, struct text_lines *lines, int indent, const char *label,
		    const char *text);
/* Prints what the table and the steps lack: of a single problem, and of each problem with -v. */
void text_only_problem(struct view *v);
void text_problems(struct view *v);
/* text-rest.c: prints the checks that could not run, in a line or two; then notes, the list of these checks, rules that
 * are switched off, and with -v rules that passed. */
/* A note: its first sentence, and with -v the whole; NULL: an earlier one of the rule said it. */
const char *text_note(const struct view *v, const struct finding *note);
void text_rest(struct view *v);

/* Splits TEXT into lines of WIDTH columns. */
struct text_lines text_split(struct arena *arena, const char *text, int width);

#endif
