/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evaluate/report.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "evaluate/acknowledge.h"
#include "evaluate/choose-profiles.h"
#include "evaluate/gap-behind.h"
#include "evaluate/image.h"
#include "query/endpoints.h"
#include "query/gpus.h"
#include "query/node-find.h"
#include "query/peer-support.h"
#include "query/topology.h"

/* ---- evaluating ---- */

static bool matches(const char *const *patterns, const char *id)
{
	for (size_t i = 0; patterns && patterns[i]; i++)
		if (fnmatch(patterns[i], id, 0) == 0)
			return true;
	return false;
}

static bool is_selected(const struct report *report, const struct settings *settings,
			const struct rule *rule)
{
	if (settings->only ? !matches(settings->only, rule->id)
			   : !(rule->profiles & (report->profiles | PROFILE_BASE)))
		return false;
	return !matches(settings->skip, rule->id);
}

/* A trial on the hardware outranks a conclusion from files. */
static void weigh(struct report *report, size_t from)
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
		finding_set_severity(f, f->severity);
	}
}

/* Does a finding stand on the kernel's log? */
static bool is_of_log(const struct finding *f)
{
	const char *fact = f->answer.evidence[0];

	return fact && strncmp(fact, "log.", strlen("log.")) == 0;
}

/* A line that any user can write is shown, and is no reason to drain a node. */
static void doubt(struct report *report, size_t from)
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
static void grade(struct report *report, const struct settings *settings, size_t from)
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

/* Problems that an administrator has seen stand apart, as what is switched off. */
static void set_acknowledged(struct report *report, size_t from)
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

/* The lowest severity that stops a job. */
static enum severity preflight_floor(const struct settings *settings)
{
	return settings->fail_on < SEVERITY_ERR ? SEVERITY_ERR : settings->fail_on;
}

/* Half of the rules can say nothing that preflight would keep. */
static bool may_stop_job(const struct settings *settings, const struct rule *rule)
{
	const struct rule_setting *setting = settings_rule(settings, rule->id);
	enum severity most = rule_gravest(rule);

	if (setting && setting->off)
		return false;
	if (setting && setting->graded)
		most = setting->severity;
	return most >= preflight_floor(settings);
}

/* Is this a fact that a probe tried to read? One that a rule itself calls out of reach (in a
 * virtual machine, on an old kernel) stays so on this node. */
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
			return (f->gap = gap_near(report, f)) != NULL;
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

/* Leaves out of the findings from FROM on what is not asked for. */
static void keep(struct report *report, const struct settings *settings, bool only_wrong,
		 size_t from)
{
	size_t kept = from;

	for (size_t i = from; i < report->findings.count; i++)
		if (is_kept(report, settings, only_wrong, &report->findings.items[i]))
			report->findings.items[kept++] = report->findings.items[i];
	memset(&report->findings.items[kept], 0,
	       (report->findings.count - kept) * sizeof(report->findings.items[0]));
	report->findings.count = (uint32_t)kept;
}

/* ---- causes ---- */

/* Returns true if CAUSE can cause F on SUBJECT: both are about SUBJECT, or one of them is about the whole node. */
static bool can_cause(const struct finding *cause, const struct finding *f, const char *subject)
{
	const char *own = cause->answer.subject;

	return cause != f && !cause->off && cause->answer.verdict == VERDICT_FAIL &&
	       (!own || !subject || strcmp(own, subject) == 0);
}

static const struct finding *find_cause(const struct report *report, const struct finding *f,
					const char *rule, const char *subject)
{
	for_each(cause, &report->findings)
		if (strcmp(cause->rule->id, rule) == 0 && can_cause(cause, f, subject))
			return cause;
	return NULL;
}

/* Rules name what causes them; the tables hold no circles. */
static void set_cause(const struct report *report, struct finding *f)
{
	if (!finding_is_problem(f) || f->off)
		return;
	if (f->answer.follows)
		f->follows_from = find_cause(report, f, f->answer.follows,
					     f->answer.follows_any	 ? NULL
					     : f->answer.follows_subject ? f->answer.follows_subject
									 : f->answer.subject);
	for (size_t i = 0; i < RULE_CAUSES_MAX && f->rule->follows[i] && !f->follows_from; i++)
		f->follows_from = find_cause(report, f, f->rule->follows[i], f->answer.subject);
}

static void count_finding(struct report *report, struct finding *f)
{
	enum verdict verdict = f->answer.verdict;

	if (verdict == VERDICT_UNKNOWN) {
		if (!f->gap)
			f->gap = gap_behind(report, f);
		image_mark(report->node, f);
	}
	if (f->off) {
		report->off++;
		return;
	}
	report->count[verdict]++;
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

/* ---- what profiles would say that the hardware suggests, and that were not asked for ---- */

static unsigned int hinted_profiles(const struct report *report, const struct settings *settings)
{
	unsigned int profiles = 0;

	if (settings->only || settings->only_wrong)
		return 0;
	for_each(hint, &report->not_judged)
		if (hint->reason)
			profiles |= hint->profile & (PROFILE_P2P | PROFILE_RDMA);
	return profiles;
}

/* A failure that a job of a suggested profile would meet is worth knowing, and is none of this node's profiles. */
static void set_apart(struct report *report, size_t from)
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
				      f.rule->profiles & (PROFILE_P2P | PROFILE_RDMA)));
		f.answer.verdict = VERDICT_NOTE;
		finding_set_severity(&f, SEVERITY_INFO);
		report->findings.items[kept++] = f;
	}
	memset(&report->findings.items[kept], 0,
	       (report->findings.count - kept) * sizeof(report->findings.items[0]));
	report->findings.count = (uint32_t)kept;
}

/* A rule of none of the node's profiles. */
static void evaluate_hinted(struct report *report, const struct settings *settings,
			    struct rule_context *ctx, unsigned int hinted)
{
	size_t from = report->findings.count;

	if (!(ctx->rule->profiles & hinted) || matches(settings->skip, ctx->rule->id))
		return;
	ctx->profiles = report->profiles | hinted;
	ctx->rule->evaluate(ctx);
	ctx->profiles = report->profiles;
	weigh(report, from);
	doubt(report, from);
	grade(report, settings, from);
	set_acknowledged(report, from);
	set_apart(report, from);
}

struct report *report_make(const struct node *node, const struct settings *settings,
			   struct arena *arena)
{
	struct report *report = arena_alloc(arena, sizeof(*report));
	struct rule_context ctx = { .node = node,
				    .endpoints = endpoints_find(node, arena),
				    .settings = settings,
				    .arena = arena };
	size_t count;
	const struct rule *const *rules = rule_all(&count);
	/* A trial on the hardware may say of what passes that it does not work. */
	bool only_wrong = settings->only_wrong && !is_known(node->proof);
	unsigned int hinted;

	report->node = node;
	report->arena = arena;
	report->fail_on = settings->fail_on;
	profiles_choose(report, settings);
	if (!settings->preflight)
		profiles_list_not_judged(report);
	hinted = hinted_profiles(report, settings);
	ctx.profiles = report->profiles;
	ctx.only_wrong = only_wrong;
	ctx.findings = (struct fact_list *)&report->findings;
	for (size_t i = 0; i < count; i++) {
		size_t from = report->findings.count;

		ctx.rule = rules[i];
		if (!is_selected(report, settings, rules[i])) {
			evaluate_hinted(report, settings, &ctx, hinted);
			continue;
		}
		report->rules++;
		if (settings->preflight && !may_stop_job(settings, rules[i]))
			continue;
		rules[i]->evaluate(&ctx);
		if (report->findings.count == from)
			UNKNOWN(&ctx, .observed = "the rule gave no answer");
		weigh(report, from);
		doubt(report, from);
		grade(report, settings, from);
		set_acknowledged(report, from);
		keep(report, settings, only_wrong, from);
	}
	for_each_mut(f, &report->findings) {
		set_cause(report, f);
		count_finding(report, f);
	}
	report->verdict = overall(report);
	return report;
}

/* A pending setting is configured on disk, but a job does not have it yet. */
enum exit_status report_status(const struct report *report, bool strict)
{
	if (any_finding(report, VERDICT_FAIL, report->fail_on) ||
	    any_finding(report, VERDICT_PENDING, report->fail_on))
		return EXIT_FINDINGS;
	if (strict && any_finding(report, VERDICT_UNKNOWN, report->fail_on))
		return EXIT_INCOMPLETE;
	return EXIT_WELL;
}
