/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - the report on a node: the answer of every rule, the counts, and the exit status that follows. */
#include "evaluate/report.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "evaluate/acknowledge.h"
#include "evaluate/choose-profiles.h"
#include "evaluate/evidence-gap.h"
#include "evaluate/mounted-image.h"
#include "evaluate/used.h"
#include "query/endpoints.h"
#include "query/gpus.h"
#include "query/log-source.h"
#include "query/peer-support.h"
#include "query/topology.h"

/* ---- which rules ---- */

static bool matches(const char *const *patterns, const char *id)
{
	for (size_t i = 0; patterns && patterns[i]; i++)
		if (fnmatch(patterns[i], id, 0) == 0)
			return true;
	return false;
}

/* The lowest severity that stops a job. */
static enum severity preflight_floor(const struct settings *settings)
{
	return settings->fail_on < SEVERITY_ERR ? SEVERITY_ERR : settings->fail_on;
}

/* Half of the rules can say nothing that preflight would keep. */
static bool may_stop_job(const struct settings *settings, const struct rule *rule)
{
	const struct rule_setting *setting = settings_rule(settings, rule->id);
	enum severity most = rule_max_severity(rule);

	if (setting && setting->off)
		return false;
	if (setting && setting->graded)
		most = setting->severity;
	return most >= preflight_floor(settings);
}

/* preflight has no time for what it would not keep. */
static bool is_in_use(const struct report *report, const struct settings *settings,
		      const struct rule *rule)
{
	return (rule->used_modules || rule->used_variables) &&
	       (!settings->preflight || may_stop_job(settings, rule)) &&
	       rule_is_used(report->node, rule);
}

static bool is_selected(const struct report *report, const struct settings *settings,
			const struct rule *rule)
{
	if (settings->only ? !matches(settings->only, rule->id)
			   : !(rule->profiles & (report->profiles | PROFILE_BASE)) &&
				     !is_in_use(report, settings, rule))
		return false;
	return !matches(settings->skip, rule->id);
}

/* ---- passes over the answers of one rule: those from FROM on ---- */

/* A trial on the hardware outranks a conclusion from files. */
static void apply_trials(struct report *report, size_t from)
{
	for (size_t i = from; i < report->findings.count; i++) {
		struct finding *f = &report->findings.items[i];
		enum proof_word word = proof_of_trial(report->node, f->rule->trial,
						      f->answer.subject, report->arena, &f->proved);

		if (word == PROOF_SILENT || f->answer.verdict == VERDICT_NOT_APPLICABLE) {
			f->proved = NULL;
			continue;
		}
		f->configured = f->answer.verdict;
		f->answer.verdict = word == PROOF_GOOD ? VERDICT_PASS : VERDICT_FAIL;
		if (word == PROOF_BAD && f->configured == VERDICT_PASS)
			finding_keep_setting(f);
		finding_set_severity(f, f->severity);
	}
}

/* Returns true if the evidence of F is the kernel's log. */
static bool is_of_log(const struct finding *f)
{
	const char *fact = f->answer.evidence[0];

	return fact && starts_with(fact, "log.");
}

/* A line that any user can write is shown, and is no reason to drain a node. */
static void lower_doubtful(struct report *report, size_t from)
{
	const struct fact_str *source = &report->node->log.source;

	if (!is_known(*source) || !log_is_of_users(source->value))
		return;
	for (size_t i = from; i < report->findings.count; i++) {
		struct finding *f = &report->findings.items[i];

		if (f->answer.verdict != VERDICT_FAIL || f->proved || !is_of_log(f))
			continue;
		if (f->severity > SEVERITY_WARN)
			finding_set_severity(f, SEVERITY_WARN);
		f->answer.observed =
			arena_printf(report->arena,
				     "%s (not proven to be the kernel's: any user can write to %s)",
				     f->answer.observed ? f->answer.observed : "", source->value);
	}
}

/* Applies the configuration, which overrides the rule: off, or another severity. */
static void apply_settings(struct report *report, const struct settings *settings, size_t from)
{
	for (size_t i = from; i < report->findings.count; i++) {
		struct finding *f = &report->findings.items[i];
		const struct rule_setting *setting = settings_rule(settings, f->rule->id);

		if (!setting)
			continue;
		f->off = setting->off;
		f->why_graded = setting->reason;
		if (setting->graded)
			finding_set_severity(f, setting->severity);
	}
}

/* A problem that an administrator has seen is shown apart, like one that is switched off. */
static void apply_acknowledgements(struct report *report, size_t from)
{
	if (!report->node->acknowledged.findings.count)
		return;
	for (size_t i = from; i < report->findings.count; i++) {
		struct finding *f = &report->findings.items[i];

		if (f->off)
			continue;
		f->acknowledged = acknowledgement_of(report->node, f);
		f->off = f->acknowledged;
	}
}

/* Returns true if a probe tried to read the fact. A fact that the rule calls out of reach (in a virtual machine, on
 * an old kernel) stays so on this node. */
static bool was_tried(const struct report *report, struct finding *f)
{
	const char *fact = f->answer.evidence[0];
	size_t n;

	if (f->answer.observed || !fact)
		return false;
	n = strcspn(fact, ".[");
	for_each(p, &report->node->probes) {
		const char *name = p->name.value;

		if (*name == *fact && strncmp(fact, name, n) == 0 && !name[n])
			return (f->gap = evidence_gap_near(report, f)) != NULL;
	}
	return false;
}

static bool is_kept(const struct report *report, const struct settings *settings, bool only_wrong,
		    struct finding *f)
{
	enum verdict verdict = f->answer.verdict;

	if (only_wrong && (verdict == VERDICT_PASS || verdict == VERDICT_NOT_APPLICABLE))
		return false;
	return !settings->preflight || (!f->off && f->severity >= preflight_floor(settings) &&
					(verdict != VERDICT_UNKNOWN || was_tried(report, f)));
}

static void cut_findings(struct report *report, size_t count)
{
	memset(&report->findings.items[count], 0,
	       (report->findings.count - count) * sizeof(report->findings.items[0]));
	report->findings.count = (uint32_t)count;
}

static void drop_unwanted(struct report *report, const struct settings *settings, bool only_wrong,
			  size_t from)
{
	size_t kept = from;

	for (size_t i = from; i < report->findings.count; i++)
		if (is_kept(report, settings, only_wrong, &report->findings.items[i]))
			report->findings.items[kept++] = report->findings.items[i];
	cut_findings(report, kept);
}

/* A failure of a suggested profile concerns only jobs of that profile: it is a note. */
static void turn_into_notes(struct report *report, size_t from)
{
	size_t kept = from;

	for (size_t i = from; i < report->findings.count; i++) {
		struct finding f = report->findings.items[i];
		bool note = f.answer.verdict == VERDICT_NOTE && f.rule->severity >= SEVERITY_WARN;

		if (!note && (!finding_is_problem(&f) || f.severity < SEVERITY_WARN))
			continue;
		f.answer.observed = arena_printf(
			report->arena, "%s%s(%s for profile %s)",
			f.answer.observed ? f.answer.observed : "", f.answer.observed ? " " : "",
			note ? "a note" : severity_words[f.severity],
			profiles_text(report->arena,
				      f.rule->profiles & (PROFILE_P2P | PROFILE_GPUDIRECT)));
		f.answer.verdict = VERDICT_NOTE;
		finding_set_severity(&f, SEVERITY_INFO);
		report->findings.items[kept++] = f;
	}
	cut_findings(report, kept);
}

/* ---- passes over all findings ---- */

/* Returns true if CAUSE can cause F on SUBJECT: both are about SUBJECT, or one of them is about the whole node. */
static bool can_cause(const struct finding *cause, const struct finding *f, const char *subject)
{
	const char *own = cause->answer.subject;

	return cause != f && !cause->off && cause->answer.verdict == VERDICT_FAIL &&
	       (!own || !subject || strcmp(own, subject) == 0);
}

/* Returns the first finding of RULE, or of the next rule that has one: rules are evaluated in the order of their
 * ids. */
static size_t first_of_rule(const struct report *report, const char *rule)
{
	size_t from = 0, to = report->findings.count;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (strcmp(report->findings.items[middle].rule->id, rule) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static const struct finding *find_cause(const struct report *report, const struct finding *f,
					const char *rule, const char *subject)
{
	for (size_t i = first_of_rule(report, rule); i < report->findings.count; i++) {
		const struct finding *cause = &report->findings.items[i];

		if (strcmp(cause->rule->id, rule) != 0)
			break;
		if (can_cause(cause, f, subject))
			return cause;
	}
	return NULL;
}

/* Rules name what causes them; the tables hold no circles. */
static void set_cause(const struct report *report, struct finding *f)
{
	if (!finding_is_problem(f) || f->off)
		return;
	/* The setting is right, and the trial has the damage. */
	if (f->answer.is_kept && f->rule->trial == TRIAL_PEER_COPIES)
		f->follows_from = find_cause(report, f, "proof/peer-copy", NULL);
	if (f->answer.follows && !f->follows_from)
		f->follows_from = find_cause(report, f, f->answer.follows,
					     f->answer.follows_any	 ? NULL
					     : f->answer.follows_subject ? f->answer.follows_subject
									 : f->answer.subject);
	for (size_t i = 0; i < RULE_CAUSES_MAX && f->rule->follows[i] && !f->follows_from; i++)
		f->follows_from = find_cause(report, f, f->rule->follows[i], f->answer.subject);
}

/* An unknown finding has the reason why its facts are not known. */
static void explain_unknown(const struct report *report, struct finding *f)
{
	if (f->answer.verdict != VERDICT_UNKNOWN)
		return;
	if (!f->gap)
		f->gap = evidence_gap(report, f);
	mounted_image_mark(report->node, f);
}

static void count_finding(struct report *report, const struct finding *f)
{
	if (f->off) {
		report->off++;
		return;
	}
	report->count[f->answer.verdict]++;
	if (!finding_is_problem(f))
		return;
	if (!report->any_worst || f->severity > report->worst)
		report->worst = f->severity;
	report->any_worst = true;
}

static bool any_finding(const struct report *report, enum verdict verdict, enum severity from)
{
	for_each(f, &report->findings)
		if (!f->off && f->answer.verdict == verdict && f->severity >= from)
			return true;
	return false;
}

static enum verdict overall(const struct report *report)
{
	if (report->count[VERDICT_FAIL])
		return VERDICT_FAIL;
	if (report->count[VERDICT_PENDING])
		return VERDICT_PENDING;
	return any_finding(report, VERDICT_UNKNOWN, SEVERITY_WARN) ? VERDICT_UNKNOWN : VERDICT_PASS;
}

/* ---- the whole ---- */

/* The order counts: a trial outranks the files, the configuration decides the severity, and an
 * acknowledgement is of the finding that would be reported. */
static void apply_all(struct report *report, const struct settings *settings, size_t from)
{
	apply_trials(report, from);
	lower_doubtful(report, from);
	apply_settings(report, settings, from);
	apply_acknowledgements(report, from);
}

static unsigned int hinted_profiles(const struct report *report, const struct settings *settings)
{
	unsigned int profiles = 0;

	if (settings->only || settings->only_wrong)
		return 0;
	for_each(hint, &report->not_evaluated)
		if (hint->reason)
			profiles |= hint->profile & (PROFILE_P2P | PROFILE_GPUDIRECT);
	return profiles;
}

/* Evaluates a rule of a profile that the hardware suggests and that was not asked for. */
static void evaluate_hinted(struct report *report, struct rule_context *ctx, unsigned int hinted)
{
	size_t from = report->findings.count;

	if (!(ctx->rule->profiles & hinted) || matches(ctx->settings->skip, ctx->rule->id))
		return;
	ctx->profiles = report->profiles | hinted;
	ctx->rule->evaluate(ctx);
	ctx->profiles = report->profiles;
	apply_all(report, ctx->settings, from);
	turn_into_notes(report, from);
}

static void evaluate_selected(struct report *report, struct rule_context *ctx)
{
	const struct settings *settings = ctx->settings;
	size_t from = report->findings.count;

	report->rules++;
	if (settings->preflight && !may_stop_job(settings, ctx->rule))
		return;
	ctx->rule->evaluate(ctx);
	if (report->findings.count == from)
		UNKNOWN(ctx, .observed = "the rule gave no answer");
	apply_all(report, settings, from);
	drop_unwanted(report, settings, ctx->only_wrong, from);
}

static void evaluate_rules(struct report *report, struct rule_context *ctx)
{
	unsigned int hinted = hinted_profiles(report, ctx->settings);
	size_t count;
	const struct rule *const *rules = rule_all(&count);

	for (size_t i = 0; i < count; i++) {
		ctx->rule = rules[i];
		if (is_selected(report, ctx->settings, rules[i]))
			evaluate_selected(report, ctx);
		else
			evaluate_hinted(report, ctx, hinted);
	}
}

struct report *report_make(const struct node *node, const struct settings *settings,
			   struct arena *arena)
{
	struct report *report = arena_alloc(arena, sizeof(*report));
	struct rule_context ctx = { .node = node,
				    .endpoints = endpoints_find(node, arena),
				    .settings = settings,
				    .arena = arena };

	report->node = node;
	report->arena = arena;
	report->fail_on = settings->fail_on;
	profiles_choose(report, settings);
	if (!settings->preflight)
		profiles_list_not_evaluated(report);
	ctx.profiles = report->profiles;
	/* A trial on the hardware may show that what passes does not work. */
	ctx.only_wrong = settings->only_wrong && !is_known(node->proof);
	ctx.findings = (struct fact_list *)&report->findings;
	evaluate_rules(report, &ctx);
	/* A cause can be a finding of a later rule, so all rules are evaluated first. */
	for_each_mut(f, &report->findings) {
		set_cause(report, f);
		explain_unknown(report, f);
		count_finding(report, f);
	}
	report->verdict = overall(report);
	return report;
}

struct report *report_make_all(const struct node *node, const struct settings *settings,
			       struct arena *arena)
{
	static const char *every[] = { "*", NULL };
	struct settings all = *settings;

	all.only = every;
	all.skip = NULL;
	return report_make(node, &all, arena);
}

/* Pending counts: the setting is configured on disk, but a job does not have it yet. */
enum exit_status report_status(const struct report *report, bool strict)
{
	if (any_finding(report, VERDICT_FAIL, report->fail_on) ||
	    any_finding(report, VERDICT_PENDING, report->fail_on))
		return EXIT_FINDINGS;
	if (strict && any_finding(report, VERDICT_UNKNOWN, report->fail_on))
		return EXIT_INCOMPLETE;
	return EXIT_WELL;
}
