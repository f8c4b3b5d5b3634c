/* SPDX-License-Identifier: GPL-2.0-or-later */
/* apply-plan.c - applies a plan that was shown: asks the user, carries it out (txn.h) and evaluates the node again. */
#include "cli/apply-plan.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "fixes/fix.h"
#include "fixes/plan-make.h"
#include "render/render.h"
#include "txn/repair-outcome.h"

struct checking {
	const struct source *source; /* that was evaluated before */
	const struct options *options;
	const struct settings *settings;
	const struct plan *plan;
	const struct report *report; /* that the plan was made from */
	enum repair_result *results;
};

/* A rule that is named is evaluated in every profile. */
static const char **named_rules(const struct source *source, const struct options *options)
{
	const char **list;

	if (!options->args_count)
		return NULL;
	list = arena_alloc(source->arena, (options->args_count + 1) * sizeof(*list));
	memcpy(list, options->args, options->args_count * sizeof(*list));
	return list;
}

struct plan *apply_make_plan(const struct source *source, const struct settings *settings,
			     const struct options *options, struct report **report)
{
	struct settings named = *settings;
	struct plan_request request = { .host = source->host,
					.named = options->args_count > 0,
					.all = options->all,
					.reload = options->reload };

	named.only = named_rules(source, options);
	*report = report_make(source->node, &named, source->arena);
	request.report = *report;
	request.context = report_make_all(source->node, settings, source->arena);
	return plan_make(&request);
}

static void show_message(void *user, const char *text)
{
	(void)user;
	complain("%s", text);
}

struct txn_options apply_txn_options(const struct options *options, const struct root *root)
{
	return (struct txn_options){ .root = root,
				     .writable_parents = options->writable_parents,
				     .no_regenerate = options->no_regenerate,
				     .progress = show_message };
}

bool apply_is_agreed(const struct options *options, const char *question)
{
	char answer[16] = "";

	if (options->yes)
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		complain("no terminal to confirm on; add --yes");
		return false;
	}
	escape_printf(stderr, SINK_TERMINAL, "%s [y/N] ", question);
	if (fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y'))
		return true;
	complain("nothing was changed");
	return false;
}

enum exit_status apply_prepare(const struct source *source, const struct options *options,
			       bool *changed)
{
	const struct txn_options txn = apply_txn_options(options, source->root);
	struct txn_outcome outcome;

	if (!options->root && geteuid() != 0) {
		complain("only root can change this host: sudo nvnodecheck fix --apply");
		return EXIT_CANNOT;
	}
	/* The plan is made after an interrupted transaction was undone. */
	txn_recover(&txn, source->arena, &outcome);
	for_each(text, &outcome.recovered)
		complain("%s", *text);
	for_each(note, &outcome.notes)
		complain("%s", *note);
	*changed = outcome.recovered.count > 0;
	if (outcome.result != TXN_REFUSED)
		return EXIT_WELL;
	complain("%s",
		 outcome.text ? outcome.text : "an interrupted transaction could not be undone");
	return EXIT_CANNOT;
}

/* ---- the node after the change ---- */

static bool same_subject(const struct finding *a, const struct finding *b)
{
	const char *x = a->answer.subject, *y = b->answer.subject;

	return a->rule == b->rule && (x == y || (x && y && strcmp(x, y) == 0));
}

static const struct finding *find_again(const struct report *report, const struct finding *old)
{
	for_each(f, &report->findings)
		if (same_subject(f, old) &&
		    (finding_is_problem(f) || f->answer.verdict == VERDICT_NOTE))
			return f;
	return NULL;
}

/* A finding that can no longer be checked is not fixed: a driver that does not answer any more, for
 * one. */
static bool is_unknown_again(const struct report *report, const struct finding *old)
{
	bool unknown = false;

	for_each(f, &report->findings) {
		if (f->rule != old->rule)
			continue;
		if (same_subject(f, old))
			return f->answer.verdict == VERDICT_UNKNOWN;
		unknown |= f->answer.verdict == VERDICT_UNKNOWN && !f->answer.subject;
	}
	return unknown;
}

static bool would_be_repaired(const struct plan *plan, const struct finding *finding)
{
	for_each(r, &plan->repairs)
		if (same_subject(r->finding, finding) && r->what)
			return true;
	return false;
}

static bool is_immediate(const struct plan_repair *r)
{
	return r->activation == ACTIVATION_NOW &&
	       !fix_find(finding_fix(r->finding)->kind)->takes_time;
}

static enum repair_result result_of(const struct checking *c, const struct plan_repair *r,
				    const struct report *report, const struct plan *again)
{
	const struct finding *now = find_again(report, r->finding);
	bool elsewhere = c->options->root || c->options->no_regenerate;

	if (r->refused)
		return REPAIR_NOT_TRIED;
	if (!now)
		return is_unknown_again(report, r->finding) ? REPAIR_NOT_FIXED : REPAIR_FIXED;
	if (now->answer.verdict == VERDICT_PENDING)
		return REPAIR_PENDING;
	if (would_be_repaired(again, now))
		return elsewhere ? REPAIR_LEFT : REPAIR_NOT_FIXED;
	if (elsewhere)
		return REPAIR_PENDING;
	return is_immediate(r) ? REPAIR_NOT_FIXED : REPAIR_PENDING;
}

/* Reports findings that the change has caused, such as a device number that differs after a module was reloaded. */
static void report_new_findings(const struct report *before, const struct report *now)
{
	for_each(f, &now->findings) {
		const char *subject = f->answer.subject;

		if (f->answer.verdict != VERDICT_FAIL || f->severity < SEVERITY_ERR || f->off ||
		    find_again(before, f))
			continue;
		complain("new since the repair: %s%s%s%s%s", f->rule->id, subject ? " " : "",
			 subject ? subject : "", f->answer.observed ? ": " : "",
			 f->answer.observed ? f->answer.observed : "");
	}
}

static bool check(void *user, struct arena *arena, const char **why)
{
	struct checking *c = user;
	_cleanup_source_ struct source source = { 0 };
	const struct finding *wrong = NULL;
	struct report *report;
	struct plan *again;

	if (source_reopen(&source, c->source) || source_observe(&source, c->options)) {
		*why = "the node could not be read again";
		return false;
	}
	again = apply_make_plan(&source, c->settings, c->options, &report);
	report_new_findings(c->report, report);
	for (uint32_t i = 0; i < c->plan->repairs.count; i++) {
		const struct plan_repair *r = &c->plan->repairs.items[i];

		c->results[i] = result_of(c, r, report, again);
		if (c->results[i] == REPAIR_NOT_FIXED)
			wrong = wrong ? wrong : r->finding;
	}
	if (wrong)
		*why = arena_printf(arena, "%s %s", wrong->rule->id,
				    find_again(report, wrong) ? "is still found"
							      : "could not be checked");
	return !wrong;
}

/* ---- applying ---- */

static bool can_do_anything(const struct plan *plan, const struct options *options)
{
	size_t refused = 0;

	for_each(r, &plan->repairs)
		refused += r->refused && r->activation == ACTIVATION_NONE;
	if (plan->refused)
		complain("%s", plan->refused);
	else if (options->plan && strcmp(options->plan, plan->id) != 0)
		complain("the plan has changed to %s; show it again", plan->id);
	else if (plan_is_empty(plan) && refused)
		complain("none of the problems found can be repaired here");
	else
		return true;
	return false;
}

static void set_results(struct checking *c, const struct txn_outcome *outcome)
{
	for (uint32_t i = 0; i < c->plan->repairs.count; i++)
		if (outcome->result == TXN_REFUSED)
			c->results[i] = REPAIR_NOT_TRIED;
		else if (outcome->result != TXN_APPLIED && outcome->result != TXN_NOTHING &&
			 c->results[i] != REPAIR_NOT_FIXED && !c->plan->repairs.items[i].refused)
			c->results[i] = REPAIR_ROLLED_BACK;
}

enum exit_status apply_status(enum exit_status status, const struct txn_outcome *outcome)
{
	bool done = outcome->id && outcome->result != TXN_REFUSED;

	if (status != EXIT_CANNOT || (!done && !outcome->recovered.count))
		return status;
	/* It may be the outcome itself that could not be written. */
	if (outcome->result != TXN_REFUSED)
		for_each(text, &outcome->recovered)
			complain("%s", *text);
	if (done)
		complain("%s is still %s", outcome->id, txn_result_words[outcome->result]);
	return EXIT_UNCONFIRMED;
}

static enum exit_status status_of(const struct txn_outcome *outcome)
{
	switch (outcome->result) {
	case TXN_APPLIED:
	case TXN_UNDONE:
	case TXN_NOTHING:
		return EXIT_WELL;
	case TXN_REFUSED:
		return EXIT_CANNOT;
	case TXN_ROLLED_BACK:
	case TXN_PARTLY:
		break;
	}
	return EXIT_UNCONFIRMED;
}

static enum exit_status carry_out(const struct source *source, const struct report *report,
				  struct checking *c)
{
	struct txn_options txn = apply_txn_options(c->options, source->root);
	struct txn_outcome result;
	enum exit_status status;
	struct repair_outcome outcome = {
		.arena = source->arena, .plan = c->plan, .txn = &result, .results = c->results
	};

	txn.verify = check;
	txn.user = c;
	txn_apply(c->plan, &txn, source->arena, &result);
	set_results(c, &result);
	if (!c->options->root && is_known(source->node->os.boot_id))
		outcome.boot_id = source->node->os.boot_id.value;
	status = c->options->format == FORMAT_JSON
			 ? render_applied_json(&outcome, report, status_of(&result))
			 : render_outcome_text(&outcome, &c->options->render, status_of(&result));
	return apply_status(status, &result);
}

static enum exit_status show(const struct plan *plan, const struct report *report,
			     const struct options *options, enum exit_status status)
{
	struct render_options how = options->render;

	/* The question comes below the plan, where both can be read. */
	how.pager = false;
	return options->format == FORMAT_JSON ? render_plan_json(plan, report, status)
					      : render_plan_text(plan, report, &how, status);
}

enum exit_status apply_plan(const struct source *source, const struct settings *settings,
			    const struct options *options, const struct plan *plan,
			    const struct report *report)
{
	struct checking c = { .source = source,
			      .options = options,
			      .settings = settings,
			      .plan = plan,
			      .report = report };
	const char *question = arena_printf(source->arena, "Apply plan %s?", plan->id);
	bool doable = can_do_anything(plan, options);

	if (!doable || plan_is_empty(plan))
		return show(plan, report, options, doable ? EXIT_WELL : EXIT_CANNOT);
	if (options->format != FORMAT_JSON && show(plan, report, options, EXIT_WELL))
		return EXIT_CANNOT;
	fflush(stdout);
	if (!apply_is_agreed(options, question))
		return EXIT_CANNOT;
	c.results = arena_alloc(source->arena, (plan->repairs.count + 1) * sizeof(*c.results));
	return carry_out(source, report, &c);
}
