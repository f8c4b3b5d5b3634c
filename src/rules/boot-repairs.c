/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-repairs.c - whether the changes of fix --apply took effect at the next boot (rules boot/...). The rule that
 * was repaired is evaluated again. */
#include <string.h>

#include "evaluate/rule.h"
#include "facts/own-files.h"

/* Returns true if the node has booted since. */
static struct fact_bool booted_since(const struct node *node, const struct transaction *t)
{
	const struct os_facts *os = &node->os;

	if (is_known(t->boot_id) && is_known(os->boot_id))
		return fact_bool(!str_is(t->boot_id, os->boot_id.value));
	if (!is_known(os->boot_time_s) || !is_known(t->time_s))
		return (struct fact_bool){ 0 };
	return fact_bool(os->boot_time_s.value > t->time_s.value);
}

enum outcome { OUTCOME_NONE, OUTCOME_LIVE, OUTCOME_NOT_LIVE, OUTCOME_UNKNOWN };

static bool same_known(struct fact_str a, struct fact_str b)
{
	return is_known(a) ? str_is(b, a.value) : !is_known(b);
}

/* A later transaction about the same finding decides. */
static bool is_repaired_again(const struct node *node, const struct transaction *t,
			      const struct repair *r)
{
	const struct fact_list *all = (const struct fact_list *)&node->repairs.applied;

	for (size_t i = (size_t)(t - node->repairs.applied.items) + 1; i < all->count; i++)
		for_each(other, &node->repairs.applied.items[i].repairs)
			if (same_known(other->rule, r->rule) &&
			    same_known(other->subject, r->subject))
				return true;
	return false;
}

static bool is_about(const struct finding *f, const struct repair *r)
{
	return f->answer.subject ? str_is(r->subject, f->answer.subject) : !is_known(r->subject);
}

/* A rule names a subject only while something is wrong with it, otherwise it answers for the node. */
static enum outcome outcome_of(const struct fact_list *list, const struct repair *r,
			       const struct finding **why)
{
	const struct finding *findings = list->items;
	enum outcome outcome = OUTCOME_NONE;

	*why = NULL;
	for (size_t i = 0; i < list->count; i++) {
		const struct finding *f = &findings[i];
		enum verdict verdict = f->answer.verdict;

		if (verdict == VERDICT_PASS) {
			outcome = outcome == OUTCOME_NONE ? OUTCOME_LIVE : outcome;
		} else if (verdict == VERDICT_UNKNOWN && (is_about(f, r) || !f->answer.subject)) {
			outcome = OUTCOME_UNKNOWN;
			*why = f;
		} else if (finding_is_problem(f) && is_about(f, r)) {
			*why = f;
			return OUTCOME_NOT_LIVE;
		}
	}
	return outcome;
}

static enum outcome evaluate_again(struct rule_context *ctx, const struct repair *r,
				   const struct finding **why)
{
	const struct rule *rule = rule_find(r->rule.value);
	struct fact_list *findings = arena_alloc(ctx->arena, sizeof(*findings));
	struct rule_context again = *ctx;

	*findings = (struct fact_list){ 0 };
	again.rule = rule;
	again.findings = findings;
	/* This rule repairs nothing itself. */
	if (!rule || rule == ctx->rule)
		return OUTCOME_NONE;
	rule->evaluate(&again);
	return outcome_of(findings, r, why);
}

/* ---- why not ---- */

static const char *list_changed_files(struct rule_context *ctx, const struct transaction *t)
{
	struct arena_text text = { .arena = ctx->arena };

	for_each(f, &t->files)
		if (known_is(f->state, REPAIR_FILE_CHANGED) || known_is(f->state, REPAIR_FILE_GONE))
			arena_add(&text, ". %s %s since", f->path.value,
				  known_is(f->state, REPAIR_FILE_GONE) ? "was removed"
								       : "was changed");
	return arena_added(&text);
}

/* Another kernel than those whose images were built was started. */
static const char *describe_kernel(struct rule_context *ctx, const struct transaction *t)
{
	const struct fact_str *running = &ctx->node->os.kernel;

	if (!is_known(*running) || t->kernels.count == 0)
		return "";
	for (uint32_t i = 0; i < t->kernels.count; i++)
		if (str_is(*running, t->kernels.items[i]))
			return "";
	return text_printf(ctx, ". The initramfs was built for kernel %s, and %s runs",
			   t->kernels.items[0], running->value);
}

static const char *describe_reason(struct rule_context *ctx, const struct transaction *t,
				   const struct finding *f)
{
	const char *observed = f->answer.observed ? f->answer.observed : f->rule->title;
	size_t n = strlen(observed);

	while (n && observed[n - 1] == '.')
		n--;
	return text_printf(
		ctx, "%.*s%s%s%s", (int)n, observed,
		f->answer.verdict == VERDICT_PENDING
			? ". It is configured on disk; the booted kernel or initramfs did not have it"
			: "",
		describe_kernel(ctx, t), list_changed_files(ctx, t));
}

/* ---- the answers ---- */

static const char *subject_of(struct rule_context *ctx, const struct repair *r)
{
	return is_known(r->subject) ? text_printf(ctx, "%s %s", r->rule.value, r->subject.value)
				    : r->rule.value;
}

static void answer(struct rule_context *ctx, const struct transaction *t, const struct repair *r)
{
	const struct finding *why;
	const char *subject = subject_of(ctx, r);
	const char *what = fact_item_path(
		ctx->arena, fact_path(ctx->arena, "repairs.applied", t->id.value, "repairs"),
		(size_t)(r - t->repairs.items), "what");

	switch (evaluate_again(ctx, r, &why)) {
	case OUTCOME_LIVE:
		PASS(ctx, .subject = subject,
		     .observed = text_printf(ctx, "in effect: %s", r->what.value),
		     .evidence = { what });
		break;
	case OUTCOME_NOT_LIVE:
		FAIL(ctx, .subject = subject, .observed = describe_reason(ctx, t, why),
		     .expected = text_printf(ctx, "in effect (transaction %s): %s", t->id.value,
					     r->what.value),
		     .remedy = text_printf(
			     ctx,
			     "Make the repair of %s again: nvnodecheck fix, with the same "
			     "options as this report.",
			     r->rule.value),
		     /* If another problem causes it, to repair that is enough. */
		     .follows = why->answer.follows ? why->answer.follows : r->rule.value,
		     .follows_subject = why->answer.follows_subject ? why->answer.follows_subject
								    : why->answer.subject,
		     .evidence = { what, why->answer.evidence[0], why->answer.evidence[1],
				   why->answer.evidence[2] });
		break;
	case OUTCOME_UNKNOWN:
		UNKNOWN(ctx, .subject = subject, .observed = why->answer.observed,
			.evidence = { why->answer.evidence[0] });
		break;
	case OUTCOME_NONE:
		break;
	}
}

static void check_transaction(struct rule_context *ctx, const struct transaction *t)
{
	for_each(r, &t->repairs)
		if (is_known(r->rule) && is_known(r->what) && !is_repaired_again(ctx->node, t, r))
			answer(ctx, t, r);
}

static void check_repairs(struct rule_context *ctx)
{
	size_t before = ctx->findings->count, waiting = 0, undated = 0;

	if (is_unknown(ctx->node->repairs.applied)) {
		UNKNOWN(ctx, .evidence = { "repairs.applied" });
		return;
	}
	for_each(t, &ctx->node->repairs.applied) {
		struct fact_bool since = booted_since(ctx->node, t);

		waiting += known_is(since, false);
		undated += !is_known(since);
		if (known_is(since, true))
			check_transaction(ctx, t);
	}
	if (ctx->findings->count > before)
		return;
	if (undated)
		UNKNOWN(ctx, .evidence = { "os.boot_id" });
	else
		NOT_APPLICABLE(ctx,
			       .observed = waiting ? "the node was not booted since the last repair"
						   : "no repair needed a boot",
			       .evidence = { "repairs.applied" });
}

static const struct rule boot_repairs_rules[] = {
	{
		.id = "boot/repair-not-live",
		.title = "A repair did not take effect at boot",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.is_about_repairs = true,
		.evaluate = check_repairs,
		.impact = "Jobs can meet the same problem as before the repair.",
		.then = THEN_REBOOT,
		.remedy = "Make the repair again.",
		.activation = ACTIVATION_REBOOT,
		.reads = "The records of fix --apply in " OWN_TRANSACTIONS
			 ", the files that it wrote, and the present finding of the repaired rule.",
		.why = "A repair is lost if its files are changed, if the initramfs is built from other files, or if another "
		       "kernel is started. Repairs that were undone are not checked. Before the first boot the repaired rule "
		       "itself reports that it waits for a reboot.",
		.check =
			"nvnodecheck undo --list --json | grep boot_id; cat /proc/sys/kernel/random/boot_id",
		.sources = "nvnodecheck 1.0: nvnodecheck(8)",
	},
};

RULE_TABLE(boot_repairs);
