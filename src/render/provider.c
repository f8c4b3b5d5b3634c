/* SPDX-License-Identifier: GPL-2.0-or-later */
/* provider.c - what is wrong, as a text in Markdown for those who may change it: the administrator, the host of a
 * guest, the provider of the machine. The reader need not know this program. */
#include <inttypes.h>

#include "base/escape.h"
#include "base/output.h"
#include "base/version.h"
#include "query/names.h"
#include "render/render.h"
#include "render/steps.h"

/* A value in a sentence has no markup; in a block it stands as it is. */
#define markdown(...) escape_printf(stdout, SINK_MARKDOWN, __VA_ARGS__)

struct letter {
	const struct report *report;
	const struct steps *steps;
	size_t number;
};

static void block_line(const char *text)
{
	fputs("    ", stdout);
	escape_text(stdout, SINK_TERMINAL, text);
	putchar('\n');
}

static void block(const char *text)
{
	struct span rest = span_of(text), line;

	while (span_cut(&rest, '\n', &line)) {
		fputs("    ", stdout);
		escape_span(stdout, SINK_TERMINAL, line);
		putchar('\n');
	}
}

static void paragraph(const char *label, const char *text)
{
	if (text && *text)
		markdown("**%s:** %s\n\n", label, text);
}

/* What only the user changes is not asked for. */
static bool is_for_reader(const struct letter *l, const struct problem *p)
{
	return steps_kind(l->steps, p) != STEP_JOB;
}

static void evidence(const struct letter *l, const struct problem *p)
{
	struct text_lines found = render_found(l->report, p);
	const char *last = NULL;

	puts("**Evidence:**\n");
	for_each(line, &found)
		block_line(*line);
	for (size_t i = 0; i < EVIDENCE_MAX && p->first->answer.evidence[i]; i++) {
		const char *place = render_place(l->report, p->first->answer.evidence[i]);

		if (place && !same_text(place, last))
			block_line(arena_printf(l->report->arena, "read in %s", place));
		last = place;
	}
	putchar('\n');
	paragraph("Expected", render_expected(p));
}

/* As it is done by hand: the reader may not have this program. */
static void change(const struct letter *l, const struct problem *p)
{
	const char *command = finding_command(p->first);
	struct text_lines fixes = { 0 };

	for_each(member, &p->members) {
		const char *remedy = finding_remedy(*member);
		bool known = !remedy || !*remedy;

		for_each(line, &fixes)
			known |= same_text(*line, remedy);
		if (!known)
			*LIST_ADD(l->report->arena, &fixes) = remedy;
	}
	for_each(line, &fixes)
		paragraph("Requested change", *line);
	if (command) {
		block(command);
		putchar('\n');
	}
}

static void safety(const struct letter *l, const struct problem *p)
{
	const struct plan_repair *r = steps_repair(l->steps, p->first);
	const char *cost = r && r->cost ? r->cost : p->first->rule->cost;
	bool is_risk = r && r->cost ? r->is_risk : p->first->rule->is_risk;

	if (cost && !is_risk)
		paragraph("Side effect", cost);
	else
		paragraph("Risk", cost ? cost : "None is known.");
}

static void section(struct letter *l, const struct problem *p)
{
	static const char *const words[] = { "note", "warning", "error", "critical" };

	markdown("## %zu. %s (%s)\n\n", ++l->number, p->first->rule->title, words[p->severity]);
	paragraph("Where", render_where(l->report, p, LABELS_ALL));
	paragraph("Effect", finding_impact(p->first));
	evidence(l, p);
	change(l, p);
	paragraph("Takes effect", effect_text(steps_activation(l->steps, p)));
	safety(l, p);
	paragraph("Background", p->first->rule->why);
}

static void head(const struct letter *l, size_t asked)
{
	const struct os_facts *os = &l->report->node->os;
	const char *taken = render_taken(l->report);

	markdown("# Request for changes on %s\n\n",
		 is_known(os->hostname) ? os->hostname.value : "a GPU node");
	if (!asked) {
		puts("No problem was found that an administrator has to solve.");
		return;
	}
	markdown("%zu problem%s on this node need%s a change that needs administrator rights. "
		 "nvnodecheck %s%s%s read the node and changed nothing.\n\n",
		 asked, asked == 1 ? "" : "s", asked == 1 ? "s" : "", NVNODECHECK_VERSION,
		 taken ? ", " : "", taken ? arena_printf(l->report->arena, "%s,", taken) : "");
	markdown("- System: %s\n- GPUs: %s\n- NICs: %s\n\n", render_system(l->report),
		 render_gpus(l->report), render_nics(l->report));
}

enum exit_status render_report_provider(const struct report *report,
					const struct render_options *options,
					enum exit_status status)
{
	struct letter l = { .report = report, .steps = steps_find(report, options->plan, options) };
	size_t asked = 0;

	for_each(p, &l.steps->problems->items)
		asked += is_for_reader(&l, p);
	head(&l, asked);
	for_each(p, &l.steps->problems->items)
		if (is_for_reader(&l, p))
			section(&l, p);
	return finish_output(status);
}
