/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-ack.c - ack: an administrator has seen a finding, and preflight and the exit status ignore it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/source.h"
#include "evaluate/acknowledge.h"
#include "evaluate/report.h"
#include "facts/own-files.h"
#include "txn/acknowledge-write.h"

/* RULE[@SUBJECT]; SUBJECT NULL: whatever the rule found. */
struct meant {
	const char *rule;
	const char *subject;
};

struct giving {
	struct meant meant;
	struct acknowledgement form; /* the same for all */
	const struct report *report;
	struct arena *arena;
	struct acknowledged_facts list; /* the new content of the file */
};

static struct meant read_meant(struct arena *arena, const char *word)
{
	const char *at = strchr(word, '@');
	struct meant meant = { word, at ? at + 1 : NULL };

	if (at)
		meant.rule = arena_printf(arena, "%.*s", (int)(at - word), word);
	return meant;
}

/* "event", "boot", "12h", "7d", or a date in UTC: "2026-12-01", "2026-12-01T08:00:00Z". */
static bool read_until(struct acknowledgement *form, const char *word, uint64_t now)
{
	struct tm tm = { 0 };
	uint64_t number;
	size_t n = word ? strlen(word) : 0;
	const char *end;

	form->until_s.state = FACT_ABSENT;
	form->until = fact_enum(ACKNOWLEDGED_UNTIL_EVENT);
	if (!word || strcmp(word, "event") == 0)
		return true;
	form->until = fact_enum(strcmp(word, "boot") == 0 ? ACKNOWLEDGED_UNTIL_BOOT
							  : ACKNOWLEDGED_UNTIL_TIME);
	if (known_is(form->until, ACKNOWLEDGED_UNTIL_BOOT))
		return true;
	if (n > 1 && n < 6 && (word[n - 1] == 'h' || word[n - 1] == 'd') &&
	    span_u64((struct span){ word, n - 1 }, 10, &number) == 0) {
		form->until_s = fact_u64(now + number * (word[n - 1] == 'h' ? 3600 : 86400));
		return number > 0;
	}
	end = strptime(word, strchr(word, 'T') ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d", &tm);
	form->until_s = fact_u64((uint64_t)timegm(&tm));
	return end && !*end && form->until_s.value > now;
}

static bool is_meant(const struct giving *g, const char *rule, const char *subject)
{
	return strcmp(rule, g->meant.rule) == 0 &&
	       (!g->meant.subject || (subject && strcmp(subject, g->meant.subject) == 0));
}

/* Keeps the valid acknowledgements that this call does not replace. */
static void keep_others(struct giving *g)
{
	g->list.findings.state = FACT_KNOWN;
	for_each(a, &g->report->node->acknowledged.findings)
		if (acknowledgement_holds(g->report->node, a) &&
		    !is_meant(g, a->rule.value, is_known(a->subject) ? a->subject.value : NULL))
			*LIST_ADD(g->arena, &g->list.findings) = *a;
}

static struct fact_str text_or_none(struct arena *arena, const char *text)
{
	return text ? fact_str(arena, text) : FACT_NONE(fact_str);
}

static size_t add_new(struct giving *g)
{
	size_t n = 0;

	for_each(f, &g->report->findings) {
		struct acknowledgement *a;

		if (!finding_is_problem(f) || !is_meant(g, f->rule->id, f->answer.subject))
			continue;
		a = LIST_ADD(g->arena, &g->list.findings);
		*a = g->form;
		a->rule = fact_str(g->arena, f->rule->id);
		a->subject = text_or_none(g->arena, f->answer.subject);
		a->observed = text_or_none(g->arena, f->answer.observed);
		n++;
	}
	return n;
}

static enum exit_status write_list(const struct options *options, const struct source *source,
				   const struct giving *g)
{
	const char *why = "";

	if (acknowledge_write(source->root, &g->list, g->arena, &why) == 0)
		return EXIT_WELL;
	complain(OWN_ACKNOWLEDGED ": %s%s", why,
		 options->root || geteuid() == 0 ? "" : " (only root can acknowledge)");
	return EXIT_CANNOT;
}

static enum exit_status give(const struct options *options, const struct source *source,
			     struct giving *g)
{
	const struct node *node = source->node;
	enum exit_status status;
	size_t n;

	if (!was_read(node->acknowledged.findings)) {
		complain(OWN_ACKNOWLEDGED
			 " could not be read, so nothing was changed; if it is damaged, "
			 "remove it");
		return EXIT_CANNOT;
	}
	keep_others(g);
	n = options->withdraw ? 0 : add_new(g);
	if (!n && !options->withdraw) {
		complain("%s%s%s is not a problem of this node", g->meant.rule,
			 g->meant.subject ? "@" : "", g->meant.subject ? g->meant.subject : "");
		return EXIT_CANNOT;
	}
	status = write_list(options, source, g);
	if (status || options->withdraw)
		return status;
	printf("Acknowledged %zu finding%s of %s %s.\n", n, n == 1 ? "" : "s", g->meant.rule,
	       acknowledgement_end(g->arena, &g->form));
	return EXIT_WELL;
}

static enum exit_status check_words(const struct options *options, struct giving *g)
{
	uint64_t now = (uint64_t)time(NULL);

	if (!rule_find(g->meant.rule))
		return refuse_rule(g->meant.rule);
	if (!options->withdraw && (!options->reason || !*options->reason)) {
		complain("ack needs --reason TEXT: the next reader of the report has to know why");
		return EXIT_USAGE;
	}
	if (!read_until(&g->form, options->until, now)) {
		complain(
			"--until '%s' is not event, boot, hours (12h), days (7d) or a date to come "
			"(2026-12-01, 2026-12-01T08:00:00Z)",
			options->until);
		return EXIT_USAGE;
	}
	g->form.time_s = fact_u64(now);
	return EXIT_WELL;
}

enum exit_status cmd_ack(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 };
	const struct settings *settings;
	struct giving g = { 0 };
	enum exit_status status = source_open(&source, options);

	if (status)
		return status;
	g.arena = source.arena;
	g.meant = read_meant(g.arena, options->args[0]);
	status = check_words(options, &g);
	if (!status && acknowledge_lock(source.root, g.arena)) {
		complain("another nvnodecheck ack is running; try again when it has ended");
		return EXIT_CANNOT;
	}
	if (!status)
		status = source_read_node(&source, options, false, &settings);
	if (status)
		return status;
	g.form.reason = text_or_none(g.arena, options->reason);
	g.form.boot_id = source.node->os.boot_id;
	g.report = report_make(source.node, settings, g.arena);
	return give(options, &source, &g);
}
