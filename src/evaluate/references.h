/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references.h - how a rule evaluates the names in one kind of file: an answer for each file of the kind, all by
 * query/reference.h. */
#ifndef EVALUATE_REFERENCES_H
#define EVALUATE_REFERENCES_H

#include "evaluate/rule.h"
#include "query/reference.h"

/* The part of a check that depends on the kind of file. */
struct reference_check {
	enum reference_format format;
	const char *none;     /* what is said where there is no such file */
	const char *expected; /* of what is wrong */
	/* Returns true if the reference belongs to this rule. NULL: all do. */
	bool (*counts)(const struct node *node, const struct reference *r);
	/* Returns why it is not known whether a missing R is wrong, or NULL. NULL: it always is. */
	const char *(*doubt)(struct rule_context *ctx, const struct reference *r);
	/* Returns the severity of R in this state. NULL: the rule's severity applies. */
	enum severity (*grade)(const struct rule_context *ctx, const struct reference *r,
			       enum reference_state state);
	/* Returns the instruction for R. NULL: the rule's remedy applies. */
	const char *(*remedy)(struct rule_context *ctx, const struct reference *r);
	/* Returns the command of that instruction, or NULL. */
	const char *(*command)(struct rule_context *ctx, const struct reference *r);
	unsigned int then; /* of that instruction */
	/* Returns what breaks because of R. NULL: the rule's impact applies. */
	const char *(*impact)(struct rule_context *ctx, const struct reference *r);
	/* Returns the service that does not start because of R, or NULL. NULL: R stops none. */
	const char *(*stops)(const struct reference *r);
};

/* Answers for FILE. USER is that of references_each(). */
typedef void reference_file_check(struct rule_context *ctx, const struct reference_file *file,
				  const void *user);
/* CHECK answers for each file of FORMAT. Where none was answered, the node gets one: NONE says that no such file is
 * there. */
void references_each(struct rule_context *ctx, enum reference_format format,
		     reference_file_check *check, const void *user, const char *none);
/* FILE has nothing wrong: passes it, or says what of it was not read. */
void references_pass(struct rule_context *ctx, const struct reference_file *file);

/* Answers for each file; where there is none, for the node. */
void references_check(struct rule_context *ctx, const struct reference_check *check);

#endif
