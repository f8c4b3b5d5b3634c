/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refused.c - adds to a finding that a module or driver is missing which load failed, and why the next one would fail.
 */
#include "evaluate/refused.h"

#include <string.h>

#include "query/failure.h"
#include "query/modprobe-dry-run.h"

static void add_evidence(struct answer *answer, const char *fact)
{
	for (size_t i = 0; fact && i < EVIDENCE_MAX; i++)
		if (!answer->evidence[i]) {
			answer->evidence[i] = fact;
			return;
		}
}

/* Returns true if the rule has found the reason itself. */
static bool has_evidence(const struct answer *answer, const char *fact)
{
	for (size_t i = 0; fact && i < EVIDENCE_MAX; i++)
		if (same_text(answer->evidence[i], fact))
			return true;
	return false;
}

static void set_remedy(struct answer *answer, struct cure cure)
{
	answer->remedy = cure.text;
	answer->then = cure.then;
	answer->command = NULL;
	answer->has_fix = true;
	answer->fix = (struct fix_call){ 0 };
}

static void quote(struct rule_context *ctx, struct answer *answer,
		  const struct log_failure *failure)
{
	/* Rules quote the same line from other facts of the log. */
	if (!strstr(answer->observed, failure->last.value))
		answer->observed = text_printf(ctx, "%s. The kernel log: %s", answer->observed,
					       failure->last.value);
	add_evidence(answer, failure_fact(ctx->arena, ctx->node, failure));
}

static void say_of_module(struct rule_context *ctx, struct answer *answer, const char *module)
{
	const struct log_failure *failure = failure_of_module(ctx->node, module);
	struct load_verdict verdict = modprobe_dry_run(ctx->arena, ctx->node, module);

	if (failure)
		quote(ctx, answer, failure);
	/* A rule that has looked for the file says more of it. */
	if (verdict.absent && !verdict.configured && answer->remedy)
		return;
	if (verdict.answer == LOAD_NO) {
		if (verdict.file && !answer->follows) {
			answer->follows = "modules/modprobe-target-missing";
			answer->follows_subject = verdict.file;
		}
		if (!has_evidence(answer, verdict.fact)) {
			answer->observed = text_printf(ctx, "%s. modprobe %s would fail: %s",
						       answer->observed, module, verdict.why);
			add_evidence(answer, verdict.fact);
		}
		set_remedy(answer, verdict.cure);
	} else if (failure && verdict.answer != LOAD_YES && failure_will_recur(failure) &&
		   !answer->remedy) {
		set_remedy(answer, failure_cure(ctx->arena, ctx->node, failure));
	}
}

static void say_of_device(struct rule_context *ctx, struct answer *answer)
{
	const struct log_failure *failure = failure_of_device(ctx->node, answer->subject);
	struct cure cure = { 0 };

	if (!failure)
		return;
	quote(ctx, answer, failure);
	cure = failure_cure(ctx->arena, ctx->node, failure);
	if (cure.text && !answer->remedy)
		set_remedy(answer, cure);
}

void refused_explain(struct rule_context *ctx, struct answer *answer)
{
	const char *module = answer->needs_module ? answer->needs_module : ctx->rule->needs_module;

	if (module && !*module)
		module = answer->subject;
	if (!answer->observed)
		return;
	if (module)
		say_of_module(ctx, answer, module);
	if (ctx->rule->needs_driver && answer->subject)
		say_of_device(ctx, answer);
}
