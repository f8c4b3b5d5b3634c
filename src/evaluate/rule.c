/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rule.c - how rules are evaluated on a node. */
#include "evaluate/rule.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "evaluate/next-start.h"
#include "evaluate/refused.h"
#include "parse/bdf.h"

#define RULES_MAX 512

const char *const severity_words[] = {
	[SEVERITY_INFO] = "info",
	[SEVERITY_WARN] = "warn",
	[SEVERITY_ERR] = "err",
	[SEVERITY_CRIT] = "crit",
	NULL,
};
const char *const verdict_words[] = {
	[VERDICT_PASS] = "pass",
	[VERDICT_FAIL] = "fail",
	[VERDICT_PENDING] = "pending",
	[VERDICT_UNKNOWN] = "unknown",
	[VERDICT_NOTE] = "note",
	[VERDICT_NOT_APPLICABLE] = "not-applicable",
	NULL,
};
const char *const activation_words[] = {
	[ACTIVATION_NONE] = "none",
	[ACTIVATION_NOW] = "now",
	[ACTIVATION_NEW_JOBS] = "new-jobs",
	[ACTIVATION_RESTART] = "restart",
	[ACTIVATION_RECREATE] = "recreate",
	[ACTIVATION_RELOAD] = "reload",
	[ACTIVATION_REBOOT] = "reboot",
	[ACTIVATION_POWER_CYCLE] = "power-cycle",
	NULL,
};
const char *const repaired_by_words[] = {
	[BY_UNSET] = "",
	[BY_ADMIN] = "admin",
	[BY_FIRMWARE] = "firmware",
	[BY_HARDWARE] = "hardware",
	[BY_HOST] = "host",
	[BY_PROVIDER] = "provider",
	[BY_PROGRAM] = "program",
	NULL,
};
const char *const action_words[] = {
	[ACTION_DERIVED] = "",
	[ACTION_NONE] = "none",
	[ACTION_RELOAD] = "reload",
	[ACTION_REBOOT] = "reboot",
	[ACTION_POWER_CYCLE] = "power-cycle",
	[ACTION_RESET_GPU] = "reset-gpu",
	[ACTION_CONFIGURE] = "configure",
	[ACTION_UPDATE_FIRMWARE] = "update-firmware",
	[ACTION_REPLACE_HARDWARE] = "replace-hardware",
	[ACTION_HOST_SIDE] = "host-side",
	[ACTION_PROVIDER] = "provider",
};

#define RULE_TABLE_ENTRY(area) extern const struct rule_table rules_##area;
#include "rules.inc"
#undef RULE_TABLE_ENTRY

static const struct rule_table *const tables[] = {
#define RULE_TABLE_ENTRY(area) &rules_##area,
#include "rules.inc"
#undef RULE_TABLE_ENTRY
};

/* make check-texts builds with every text replaced: verdicts, plans and exit statuses must stay the same. */
#ifdef TEXTS_REPLACED
#define TEXT(text) ((text) ? "replaced" : NULL)
#else
#define TEXT(text) (text)
#endif

static int compare_rules(const void *a, const void *b)
{
	return strcmp((*(const struct rule *const *)a)->id, (*(const struct rule *const *)b)->id);
}

/* Fills ALL with the rules of all tables, sorted by id. Returns their number. */
static size_t collect_rules(const struct rule *all[RULES_MAX])
{
	size_t n = 0;

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		if (n + tables[t]->count > RULES_MAX)
			memory_end("RULES_MAX is too small for the rules of this build");
		for (size_t i = 0; i < tables[t]->count; i++)
			all[n++] = &tables[t]->rules[i];
	}
	qsort(all, n, sizeof(all[0]), compare_rules);
	return n;
}

const struct rule *const *rule_all(size_t *count)
{
	static const struct rule *all[RULES_MAX];
	static size_t n;

	if (!n)
		n = collect_rules(all);
	*count = n;
	return all;
}

const struct rule *rule_find(const char *id)
{
	size_t count;
	const struct rule *const *all = rule_all(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i]->id, id) == 0)
			return all[i];
	return NULL;
}

const struct answer answer_bare[] = {
	[VERDICT_PASS] = { .verdict = VERDICT_PASS },
	[VERDICT_NOT_APPLICABLE] = { .verdict = VERDICT_NOT_APPLICABLE },
};

/* A virtual machine has no firmware setup that reaches the hardware. */
static void move_to_host(struct rule_context *ctx, struct answer *answer)
{
	const struct os_facts *os = &ctx->node->os;
	enum repaired_by by = answer->repaired_by ? answer->repaired_by : ctx->rule->repaired_by;
	const char *remedy = answer->remedy ? answer->remedy : TEXT(ctx->rule->remedy);
	unsigned int then = answer->remedy ? answer->then : ctx->rule->then;
	const struct fix_call *fix = answer->has_fix ? &answer->fix : &ctx->rule->fix;
	bool cloud = is_known(os->cloud);

	if (by != BY_FIRMWARE || !is_known(os->hypervisor) || fix->kind || !remedy)
		return;
	answer->remedy = text_printf(ctx,
				     "This is a virtual machine: its %s has to change this. %s",
				     cloud ? "provider" : "host", remedy);
	answer->then = then;
	answer->repaired_by = cloud ? BY_PROVIDER : BY_HOST;
	answer->action = cloud ? ACTION_PROVIDER : ACTION_HOST_SIDE;
}

/* The most findings of a rule with one verdict and severity. A file with ten thousand wrong lines would have as many,
 * and each costs memory until the report is written. The last one says that there are more. */
#define ALIKE_MAX 1000

static bool counts(struct rule_context *ctx, const struct answer *answer, enum severity severity)
{
	struct answered *answered = &ctx->answered;

	if (answered->rule != ctx->rule)
		*answered = (struct answered){ .rule = ctx->rule };
	return answered->count[answer->verdict][severity]++ < ALIKE_MAX;
}

/* The command with the address that SUBJECT is in place of BDF. NULL if there is none, or SUBJECT is no address. */
static const char *command_for(struct arena *arena, const char *command, const char *subject)
{
	const char *text = "", *at;

	if (!command || !strstr(command, "BDF"))
		return command;
	if (!subject || !bdf_is(span_of(subject)))
		return NULL;
	for (; (at = strstr(command, "BDF")); command = at + strlen("BDF"))
		text = arena_printf(arena, "%s%.*s%s", text, (int)(at - command), command, subject);
	return arena_printf(arena, "%s%s", text, command);
}

void rule_answer(struct rule_context *ctx, const struct answer *given)
{
	struct finding *finding;
	struct answer answer = *given;
	enum severity severity, highest = rule_max_severity(ctx->rule);

	if (answer.verdict == VERDICT_FAIL)
		next_start_lower(ctx, &answer);
	severity = answer.graded ? answer.severity : ctx->rule->severity;
	if (!counts(ctx, given, severity))
		return;
	if (ctx->answered.count[given->verdict][severity] == ALIKE_MAX)
		answer.observed = text_printf(ctx, "%s%smore such findings are not listed",
					      answer.observed ? answer.observed : "",
					      answer.observed ? "; " : "");
	finding = fact_list_add(ctx->arena, ctx->findings, sizeof(*finding));
	if (answer.verdict == VERDICT_FAIL) {
		refused_explain(ctx, &answer);
		move_to_host(ctx, &answer);
	}
	finding->rule = ctx->rule;
	finding->answer = answer;
	finding->answer.title = TEXT(answer.title);
	finding->answer.observed = TEXT(answer.observed);
	finding->answer.expected = TEXT(answer.expected);
	finding->answer.impact = TEXT(answer.impact);
	finding->answer.remedy = TEXT(answer.remedy);
	if (finding_is_problem(finding) || answer.verdict == VERDICT_NOTE)
		finding->remedy = remedy_with(ctx->arena, finding_change(finding),
					      finding_then(finding));
	/* A remedy of the answer's own has its own command or none. */
	finding->command = TEXT(command_for(
		ctx->arena, answer.command || answer.remedy ? answer.command : ctx->rule->command,
		answer.subject));
	finding->answer.source = TEXT(answer.source);
	finding_set_severity(finding, severity < highest ? severity : highest);
	/* A rule may name a path that is NULL: it is left out. */
	for (size_t i = 0; i < EVIDENCE_MAX; i++)
		finding->answer.evidence[i] = NULL;
	for (size_t i = 0, n = 0; i < EVIDENCE_MAX; i++)
		if (answer.evidence[i])
			finding->answer.evidence[n++] = answer.evidence[i];
}

/* ---- severity, fix and remedy of a finding ---- */

void finding_set_severity(struct finding *finding, enum severity severity)
{
	enum verdict *verdict = &finding->answer.verdict;

	finding->severity = severity;
	if (finding_is_problem(finding) && severity == SEVERITY_INFO)
		*verdict = VERDICT_NOTE;
	else if (*verdict == VERDICT_NOTE && severity > SEVERITY_INFO)
		*verdict = VERDICT_FAIL;
}

void rule_regrade(struct rule_context *ctx, size_t before, enum severity severity)
{
	for (size_t i = before; i < ctx->findings->count; i++)
		finding_set_severity(&((struct finding *)ctx->findings->items)[i], severity);
}

void finding_keep_setting(struct finding *finding)
{
	struct answer *answer = &finding->answer;

	answer->remedy = TEXT(
		"Keep the setting: it is right. Look for another cause in the kernel log. In a virtual machine ask the "
		"administrator of its host.");
	answer->command = TEXT("sudo dmesg | grep -E 'NVRM|nvidia|mlx5|DMAR|AMD-Vi'");
	answer->then = 0;
	answer->has_fix = true;
	answer->fix = (struct fix_call){ 0 };
	answer->activation = ACTIVATION_NOW;
	answer->is_kept = true;
}

const char *finding_title(const struct finding *f)
{
	return f->answer.title ? f->answer.title : f->rule->title;
}

const char *finding_impact(const struct finding *f)
{
	return f->answer.impact ? f->answer.impact : TEXT(f->rule->impact);
}

const char *finding_change(const struct finding *f)
{
	return f->answer.remedy ? f->answer.remedy : TEXT(f->rule->remedy);
}

unsigned int finding_then(const struct finding *f)
{
	return f->answer.remedy ? f->answer.then : f->rule->then;
}

/* Findings whose check did not run have no text of their own; mounted_image_mark() can give them a remedy. */
const char *finding_remedy(const struct finding *f)
{
	return f->remedy ? f->remedy : finding_change(f);
}

static const char *then_text(unsigned int then)
{
	switch (then) {
	case THEN_INITRAMFS | THEN_REBOOT:
		return "Rebuild the initramfs, then reboot.";
	case THEN_INITRAMFS:
		return "Rebuild the initramfs.";
	case THEN_REBOOT:
		return "Then reboot.";
	case THEN_RELOAD:
		return "Then load the driver again.";
	case THEN_LOADER:
		return "Then restart systemd-modules-load.";
	default:
		return NULL;
	}
}

static const char *first_text(unsigned int then)
{
	return then & FIRST_POWER_CYCLE ? "Power the node off and on. " : "";
}

const char *remedy_with(struct arena *arena, const char *remedy, unsigned int then)
{
	const char *end = then_text(then & ~(unsigned int)FIRST_POWER_CYCLE);

	return then && remedy && *remedy
		       ? TEXT(arena_printf(arena, "%s%s%s%s", first_text(then), remedy,
					   end ? " " : "", end ? end : ""))
		       : remedy;
}

const char *rule_remedy(const struct rule *rule, char buffer[REMEDY_MAX])
{
	const char *end = then_text(rule->then & ~(unsigned int)FIRST_POWER_CYCLE);

	if (!rule->remedy || !rule->then)
		return rule->remedy;
	snprintf(buffer, REMEDY_MAX, "%s%s%s%s", first_text(rule->then), rule->remedy,
		 end ? " " : "", end ? end : "");
	return buffer;
}

enum activation finding_activation(const struct finding *f)
{
	enum activation own = f->answer.activation ? f->answer.activation : f->rule->activation;
	unsigned int then = finding_then(f);
	enum activation end = then & THEN_REBOOT   ? ACTIVATION_REBOOT
			      : then & THEN_RELOAD ? ACTIVATION_RELOAD
						   : ACTIVATION_NONE;

	return own > end ? own : end;
}

const struct fix_call *finding_fix(const struct finding *f)
{
	const struct fix_call *fix = f->answer.has_fix ? &f->answer.fix : &f->rule->fix;

	return fix->kind ? fix : NULL;
}

enum repaired_by rule_repaired_by(const struct rule *rule)
{
	if (rule->fix.kind)
		return BY_PROGRAM;
	return rule->repaired_by ? rule->repaired_by : BY_ADMIN;
}

enum repaired_by finding_repaired_by(const struct finding *f)
{
	if (finding_fix(f))
		return BY_PROGRAM;
	if (f->answer.repaired_by)
		return f->answer.repaired_by;
	return f->rule->repaired_by ? f->rule->repaired_by : BY_ADMIN;
}

static enum action action_of_activation(enum activation activation)
{
	switch (activation) {
	case ACTIVATION_POWER_CYCLE:
		return ACTION_POWER_CYCLE;
	case ACTIVATION_REBOOT:
		return ACTION_REBOOT;
	default:
		return ACTION_RELOAD;
	}
}

/* The answer takes effect without the restart that the rule's others need. */
static bool is_lighter(const struct finding *f)
{
	return f->answer.activation && f->answer.activation < ACTIVATION_RELOAD &&
	       (f->rule->action == ACTION_RELOAD || f->rule->action == ACTION_REBOOT ||
		f->rule->action == ACTION_POWER_CYCLE);
}

enum action finding_action(const struct finding *f)
{
	if (!finding_is_problem(f))
		return ACTION_NONE;
	if (f->answer.verdict == VERDICT_PENDING)
		return action_of_activation(finding_activation(f));
	if (f->answer.action)
		return f->answer.action;
	if (f->rule->action && !is_lighter(f))
		return f->rule->action;
	switch (finding_repaired_by(f)) {
	case BY_HARDWARE:
		return ACTION_REPLACE_HARDWARE;
	case BY_HOST:
		return ACTION_HOST_SIDE;
	case BY_PROVIDER:
		return ACTION_PROVIDER;
	default:
		return ACTION_CONFIGURE;
	}
}

/* Searches from the end, where the answers of the current rule are. */
bool rule_has_answered(const struct rule_context *ctx, const char *subject)
{
	const struct finding *findings = ctx->findings->items;

	for (size_t i = ctx->findings->count; i > 0 && findings[i - 1].rule == ctx->rule; i--) {
		const char *other = findings[i - 1].answer.subject;

		if (other && strcmp(other, subject) == 0)
			return true;
	}
	return false;
}

const char *text_printf(struct rule_context *ctx, const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	text = arena_vprintf(ctx->arena, format, ap);
	va_end(ap);
	utf8_drop_cut(text);
	return text;
}

const char *format_bytes(struct arena *arena, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	size_t unit = 0;

	if (bytes == FACT_UNLIMITED)
		return "unlimited";
	while (bytes >= 1024 && bytes % 1024 == 0 && unit < 6) {
		bytes /= 1024;
		unit++;
	}
	/* A size that is no whole number of a large unit is still read best in it. */
	if (bytes >= 10240 && unit < 6) {
		double rest = (double)bytes / 1024;

		for (unit++; rest >= 1024 && unit < 6; unit++)
			rest /= 1024;
		return arena_printf(arena, "%.1f %s", rest, units[unit]);
	}
	return arena_printf(arena, "%llu %s", (unsigned long long)bytes, units[unit]);
}
