/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references.c - how a rule evaluates the names in one kind of file: an answer for each file of the kind, all by
 * query/reference.h.
 */
#include "evaluate/references.h"

#include <inttypes.h>

/* ---- what is wrong ---- */

static const char *changed(struct rule_context *ctx, const struct reference *r)
{
	switch (r->kind.value) {
	case REFERENCE_DEVICE:
		if (known_is(r->format, REFERENCE_LXC))
			return text_printf(
				ctx,
				"gives the container %s, which has the number %s; allowed are the major "
				"numbers %s",
				r->name.value, r->found.value, r->claim.value);
		return text_printf(ctx, "gives %s the number %s; the kernel has %s", r->name.value,
				   r->claim.value, r->found.value);
	case REFERENCE_FUNCTION:
		return text_printf(ctx, "names the device of %s %s; it is %s", r->name.value,
				   r->claim.value, r->found.value);
	case REFERENCE_SETTING:
		return text_printf(ctx, "sets %s to %s; the kernel has %s", r->name.value,
				   r->claim.value, r->found.value);
	case REFERENCE_AMOUNT:
		return text_printf(ctx, "%s=%s; this node has %s", r->role.value, r->name.value,
				   r->found.value);
	case REFERENCE_PROCESSOR:
		return text_printf(ctx, "%s=%s; this node has %s processors", r->role.value,
				   r->name.value, r->found.value);
	case REFERENCE_DRIVER:
		return text_printf(ctx, "%s names %s, which has no library of the driver",
				   r->role.value, r->name.value);
	default:
		return text_printf(ctx, "names %s; there is %s", r->name.value, r->found.value);
	}
}

static const char *missing(struct rule_context *ctx, const struct reference *r)
{
	switch (r->kind.value) {
	case REFERENCE_LIBRARY:
		return text_printf(ctx, "needs %s, which is not in the library path",
				   r->name.value);
	case REFERENCE_ADDRESS:
		return text_printf(ctx, "names %s, and this node has no such address",
				   r->name.value);
	case REFERENCE_INTERFACE:
		return text_printf(ctx, "names the interface %s, which this node lacks",
				   r->name.value);
	case REFERENCE_FUNCTION:
		return text_printf(ctx, "names the PCI function %s, which this node lacks",
				   r->name.value);
	case REFERENCE_MODULE:
		return text_printf(ctx, "names the module %s, which this kernel lacks",
				   r->name.value);
	case REFERENCE_RUNTIME:
		return text_printf(ctx, "%s is %s, and no runtime has that name", r->role.value,
				   r->name.value);
	case REFERENCE_FILE:
		if (str_is(r->role, SLURM_DEVICES_FILE))
			return text_printf(ctx,
					   "has ConstrainDevices=yes, and %s does not exist, which "
					   "Slurm 17.11 needs",
					   r->name.value);
		/* fallthrough */
	default:
		return text_printf(ctx, "%s names %s, which does not exist", r->role.value,
				   r->name.value);
	}
}

/* The words between "line 3" and TEXT: "has" before a path, a colon before the name of a key. */
static const char *link_of(const struct reference *r, const char *text)
{
	if (text[0] == '/')
		return " has";
	return is_known(r->role) && *r->role.value && starts_with(text, r->role.value) ? ":" : "";
}

/* "12: names /dev/nvidia9, which is not there": what is wrong with R. */
static const char *describe_fault(struct rule_context *ctx, const struct reference *r,
				  enum reference_state state)
{
	const char *text = state == REFERENCE_CHANGED ? changed(ctx, r) : missing(ctx, r);

	return is_known(r->line) ? text_printf(ctx, "line %" PRIu64 "%s %s", r->line.value,
					       link_of(r, text), text)
				 : text;
}

/* ---- one file ---- */

struct tally {
	const struct reference *worst;
	enum reference_state state; /* of that one */
	enum severity severity;
	size_t wrong;
	const struct reference *open; /* the first of those that are not known */
	const char *doubt;	      /* why it is not known; NULL: whether it exists */
};

static void count(struct rule_context *ctx, const struct reference_check *check,
		  const struct reference *r, struct tally *t)
{
	enum reference_state state = reference_state(r);
	const char *doubt = state == REFERENCE_MISSING && check->doubt ? check->doubt(ctx, r)
								       : NULL;
	enum severity severity;

	if ((state == REFERENCE_UNSURE || doubt) && !t->open) {
		t->open = r;
		t->doubt = doubt;
	}
	if (doubt)
		return;
	if (state != REFERENCE_MISSING && state != REFERENCE_CHANGED)
		return;
	severity = check->grade ? check->grade(ctx, r, state) : ctx->rule->severity;
	t->wrong++;
	if (t->worst && severity <= t->severity)
		return;
	t->worst = r;
	t->state = state;
	t->severity = severity;
}

static void fail(struct rule_context *ctx, const struct reference_check *check,
		 const struct tally *t)
{
	const struct reference *r = t->worst;
	const char *wrong = describe_fault(ctx, r, t->state);

	if (t->wrong > 1)
		wrong = text_printf(ctx, "%s; %zu more name%s of this file %s wrong", wrong,
				    t->wrong - 1, t->wrong == 2 ? "" : "s",
				    t->wrong == 2 ? "is" : "are");
	FAIL_AS(ctx, t->severity, .subject = r->file.value, .observed = wrong,
		.expected = check->expected, .remedy = check->remedy ? check->remedy(ctx, r) : NULL,
		.command = check->command ? check->command(ctx, r) : NULL, .then = check->then,
		.impact = check->impact ? check->impact(ctx, r) : NULL,
		.stops = check->stops ? check->stops(r) : NULL,
		.evidence = { reference_fact(ctx->arena, ctx->node, r, "found"),
			      reference_fact(ctx->arena, ctx->node, r, "name") });
}

static void check_file(struct rule_context *ctx, const struct reference_file *file,
		       const void *user)
{
	const struct reference_check *check = user;
	const char *fact = fact_path(ctx->arena, "references.files", file->path.value, "complete");
	const struct reference *r = NULL;
	struct tally t = { 0 };
	bool any = false;

	while ((r = reference_next(ctx->node, check->format, file->path.value, r)))
		if (!check->counts || check->counts(ctx->node, r)) {
			count(ctx, check, r, &t);
			any = true;
		}
	if (t.worst)
		fail(ctx, check, &t);
	else if (!is_known(file->complete) || !was_read(ctx->node->references.items))
		UNKNOWN(ctx, .subject = file->path.value,
			.evidence = { is_known(file->complete) ? "references.items" : fact });
	else if (t.open)
		UNKNOWN(ctx, .subject = file->path.value,
			.observed = t.doubt ? t.doubt
					    : text_printf(ctx, "it is not known whether %s exists",
							  t.open->name.value),
			.evidence = { reference_fact(ctx->arena, ctx->node, t.open, "found") });
	else if (known_is(file->complete, false))
		UNKNOWN(ctx, .subject = file->path.value,
			.observed = "parts of this file were not understood", .evidence = { fact });
	else if (any || !check->counts)
		PASS(ctx, .subject = file->path.value, .evidence = { fact });
}

void references_pass(struct rule_context *ctx, const struct reference_file *file)
{
	const char *fact = fact_path(ctx->arena, "references.files", file->path.value, "complete");

	if (!was_read(ctx->node->references.items))
		UNKNOWN(ctx, .subject = file->path.value, .evidence = { "references.items" });
	else if (!known_is(file->complete, true))
		UNKNOWN(ctx, .subject = file->path.value, .evidence = { fact });
	else
		PASS(ctx, .subject = file->path.value, .evidence = { fact });
}

void references_each(struct rule_context *ctx, enum reference_format format,
		     reference_file_check *check, const void *user, const char *none)
{
	const struct references_facts *all = &ctx->node->references;
	size_t before = ctx->findings->count;

	for_each(file, &all->files)
		if (known_is(file->format, (int)format))
			check(ctx, file, user);
	if (ctx->findings->count > before)
		return;
	if (!known_is(all->complete, true) || !was_read(all->files))
		UNKNOWN(ctx, .evidence = { "references.complete" });
	else
		NOT_APPLICABLE(ctx, .observed = none, .evidence = { "references.files" });
}

void references_check(struct rule_context *ctx, const struct reference_check *check)
{
	references_each(ctx, check->format, check_file, check, check->none);
}
