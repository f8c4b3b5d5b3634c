/* SPDX-License-Identifier: GPL-2.0-or-later */
/* html.c - the report as one self-contained page, for tickets and for people who prefer pages. Its style and its script
 * are data/report.css and data/report.js. */
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/output.h"
#include "base/version.h"
#include "query/names.h"
#include "render/step-words.h"
#include "render/topo.h"

/* All that is written here: a value is text, in an element or an attribute. */
#define html(...) escape_printf(stdout, SINK_XML, __VA_ARGS__)

static const char style_sheet[] =
#include "report-style.inc"
	;
static const char page_script[] =
#include "report-script.inc"
	;

struct page_view {
	const struct report *report;
	const struct problems *problems;
	const struct steps *steps;
};

static void row(const char *name, const char *text)
{
	if (text && *text)
		html("<dt>%s</dt><dd>%s</dd>\n", name, text);
}

static void rows(const char *name, const struct text_lines *lines)
{
	for_each(line, lines)
		html("<dt>%s</dt><dd>%s</dd>\n", line == lines->items ? name : "", *line);
}

static void command(const char *text)
{
	if (text)
		html("<pre class=\"command\"><code>%s</code></pre>\n", text);
}

/* ---- severities and verdicts ---- */

static const char *problem_word(const struct problem *p)
{
	static const char *const words[] = {
		[SEVERITY_INFO] = "Note",
		[SEVERITY_WARN] = "Warning",
		[SEVERITY_ERR] = "Error",
		[SEVERITY_CRIT] = "Critical",
	};

	return p->waits ? "Waiting" : words[p->severity];
}

static const char *problem_class(const struct problem *p)
{
	return p->waits ? "wait" : severity_words[p->severity];
}

static void badge(const struct problem *p)
{
	html("<span class=\"word word-%s\">%s</span>", problem_class(p), problem_word(p));
}

/* ---- the beginning ---- */

static void head(const struct page_view *v)
{
	const struct os_facts *os = &v->report->node->os;

	html("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	     "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
	     "<title>%s: %u problem%s - nvnodecheck</title>\n<style>\n",
	     is_known(os->hostname) ? os->hostname.value : "Node", v->problems->items.count,
	     v->problems->items.count == 1 ? "" : "s");
	fputs(style_sheet, stdout);
	html("</style>\n</head>\n<body>\n"
	     "<a class=\"skip\" href=\"#problems\">Skip to the problems</a>\n");
}

static void verdict(const struct page_view *v)
{
	const struct problems *problems = v->problems;
	bool bad = problems->count[SEVERITY_CRIT] || problems->count[SEVERITY_ERR];
	struct text_lines hints = render_hints(v->report);

	html("<header class=\"verdict is-%s\">\n<h1>%s</h1>\n",
	     bad		     ? "err"
	     : problems->items.count ? "warn"
				     : "ok",
	     render_verdict(v->report, problems));
	if (problems_unknown(v->report))
		html("<p>Not run: %s</p>\n", render_unknown_line(v->report, true, 200));
	for_each(hint, &hints)
		html("<p>See also: %s</p>\n", *hint);
	html("</header>\n");
}

static void node(const struct page_view *v)
{
	const struct report *r = v->report;

	html("<main>\n<section aria-label=\"The node\">\n<dl>\n");
	row("Node", render_system(r));
	row("GPUs", render_gpus(r));
	row("NICs", render_nics(r));
	row("Profiles",
	    arena_printf(r->arena, "%s (%s)",
			 v->problems->items.count ? render_profile_verdicts(r, v->steps)
						  : profiles_text(r->arena, r->profiles),
			 r->profiles_reason));
	row("Not here", render_not_here(r));
	row("Checked", render_taken(r));
	html("</dl>\n</section>\n");
}

/* ---- problems ---- */

static void table(const struct page_view *v)
{
	size_t number = 0;

	html("<section>\n<h2 id=\"problems\">Problems</h2>\n");
	if (!v->problems->items.count) {
		html("<p>None.</p>\n</section>\n");
		return;
	}
	html("<div class=\"scroll\" role=\"region\" aria-labelledby=\"problems\" tabindex=\"0\">\n");
	html("<table>\n<thead><tr><th scope=\"col\">Severity</th><th scope=\"col\">Problem</th>"
	     "<th scope=\"col\">Where</th><th scope=\"col\">Who</th>"
	     "<th scope=\"col\">Next</th></tr></thead>\n<tbody>\n");
	for_each(p, &v->problems->items) {
		html("<tr><td>");
		badge(p);
		html("</td><td><a href=\"#problem-%zu\">%s</a></td><td>%s</td><td>%s</td>"
		     "<td class=\"next\">%s</td></tr>\n",
		     ++number, finding_title(p->first), render_where(v->report, &p->members, 3),
		     steps_who(v->steps, p), steps_next(v->steps, p));
	}
	html("</tbody>\n</table>\n</div>\n</section>\n");
}

static void follows(const struct problem *p)
{
	const struct rule *last = NULL;

	for_each(f, &p->follows) {
		if ((*f)->rule != last)
			html("<dt>Causes</dt><dd>%s (<span class=\"rule\">%s</span>)</dd>\n",
			     finding_title(*f), (*f)->rule->id);
		last = (*f)->rule;
	}
}

static void detail(const struct page_view *v, const struct problem *p, size_t number)
{
	const struct finding *f = p->first;
	struct text_lines found = render_found(v->report, p), fixes = render_fixes(v->steps, p);

	html("<article id=\"problem-%zu\" aria-labelledby=\"title-%zu\">\n<h3 id=\"title-%zu\">",
	     number, number, number);
	badge(p);
	html(" %s</h3>\n<p class=\"rule\">%s</p>\n<dl>\n", finding_title(f), f->rule->id);
	row("Where", render_where(v->report, &p->members, LABELS_ALL));
	rows("Found", &found);
	row("Proved", render_proof(v->report, f));
	row("Expected", render_expected(p));
	row("Source", render_places(v->report, f));
	row("Impact", finding_impact(f));
	rows("Fix", &fixes);
	row("", render_refused(v->steps, p));
	row("Takes effect", effect_text(steps_activation(v->steps, p)));
	row("Reference", f->answer.source);
	row("Graded", f->why_graded);
	row("Why", f->rule->why);
	follows(p);
	html("</dl>\n</article>\n");
}

static void details(const struct page_view *v)
{
	size_t number = 0;

	if (!v->problems->items.count)
		return;
	html("<section>\n<h2>Problems in full</h2>\n");
	for_each(p, &v->problems->items)
		detail(v, p, ++number);
	html("</section>\n");
}

/* ---- steps ---- */

static void step_problems(const struct page_view *v, const struct step *step)
{
	html("<ul>\n");
	for_each(p, &step->problems) {
		const struct finding *f = (*p)->first;
		const char *where = render_where(v->report, &(*p)->members, 3);
		struct text_lines lines = render_instructions(v->steps, *p);

		html("<li><strong>%s%s%s%s</strong>\n", finding_title(f), *where ? " (" : "", where,
		     *where ? ")" : "");
		for_each(line, &lines)
			html("<br>%s\n", *line);
		if (render_refused(v->steps, *p))
			html("%s\n", render_refused(v->steps, *p));
		command(steps_command_of(v->steps, *p));
		html("</li>\n");
	}
	html("</ul>\n");
}

static void steps(const struct page_view *v)
{
	if (!v->steps->items.count)
		return;
	html("<section>\n<h2>What to do, in this order</h2>\n");
	if (v->steps->plan && v->steps->plan->refused)
		html("<p>nvnodecheck fix changes nothing on this node: %s.</p>\n",
		     v->steps->plan->refused);
	html("<ol class=\"todo\">\n");
	for_each(step, &v->steps->items) {
		if (steps_needs_working_hardware(v->steps, step))
			html("</ol>\n<p class=\"stop\"><strong>" STOP_FOR_HARDWARE
			     " Then:</strong></p>\n"
			     "<ol class=\"todo\" start=\"%zu\">\n",
			     (size_t)(step - v->steps->items.items) + 1);
		if (step->kind == STEP_FIX)
			html("<li>%s (without --apply it only shows the changes)\n",
			     steps_fix_text(v->steps, step));
		else
			html("<li>%s\n", steps_title(v->steps, step));
		command(steps_command(v->steps, step));
		if (step->kind != STEP_FIX && step->problems.count)
			step_problems(v, step);
		for_each(p, &step->if_unsolved)
			html("<p>Only if it still fails after the power cycle: %s</p>\n",
			     render_where(v->report, &(*p)->members, LABELS_ALL));
		html("</li>\n");
	}
	html("</ol>\n</section>\n");
}

/* ---- the rest ---- */

static void drawing(const struct page_view *v)
{
	struct topo topo;

	topo_make(&topo, v->report->node, v->report->arena);
	topo.problems = v->problems;
	if (topo_is_empty(&topo))
		return;
	html("<section>\n<h2 id=\"topology\">Topology</h2>\n"
	     "<div class=\"scroll\" role=\"region\" aria-labelledby=\"topology\" tabindex=\"0\">\n");
	topo_draw(&topo);
	html("</div>\n</section>\n");
}

static void notes(const struct page_view *v)
{
	bool any = false;

	for_each(f, &v->report->findings) {
		const char *text = render_note(v->report, f);

		if (!text)
			continue;
		if (!any)
			html("<section>\n<h2>Notes</h2>\n<ul>\n");
		any = true;
		html("<li>%s</li>\n", text);
	}
	if (any)
		html("</ul>\n</section>\n");
}

static void unknowns(const struct page_view *v)
{
	struct unknowns list = render_unknowns(v->report);

	if (!list.count)
		return;
	html("<section>\n<h2 id=\"unknown\">Checks not run</h2>\n"
	     "<div class=\"scroll\" role=\"region\" aria-labelledby=\"unknown\" tabindex=\"0\">\n");
	html("<table>\n<thead><tr><th scope=\"col\">Reason</th><th scope=\"col\">To check</th>"
	     "<th scope=\"col\">Rules</th></tr></thead>\n<tbody>\n");
	for_each(u, &list)
		html("<tr><td>%s%s%s%s</td><td>%s</td><td class=\"rule\">%s</td></tr>\n",
		     u->path ? u->path : "", u->others ? " and others" : "", u->path ? ": " : "",
		     u->why, u->to_check ? u->to_check : "", u->rules);
	html("</tbody>\n</table>\n</div>\n</section>\n");
}

/* fact = value, and its file. */
static void evidence(const struct report *r, const struct finding *f)
{
	for (size_t i = 0; i < EVIDENCE_MAX && f->answer.evidence[i]; i++) {
		const char *fact = f->answer.evidence[i], *place = render_place(r, fact);
		_cleanup_json_ struct json_object *value = NULL;
		struct fact_ref ref;

		html("<div class=\"rule\">%s", fact);
		if (report_find(r, fact, &ref) == 0 && ref.field->type != FIELD_LIST &&
		    ref.field->type != FIELD_STRUCT && fact_ref_state(&ref) != FACT_UNKNOWN) {
			value = fact_ref_json(&ref);
			html(" = %s", json_object_to_json_string_ext(
					      value, JSON_C_TO_STRING_PLAIN |
							     JSON_C_TO_STRING_NOSLASHESCAPE));
		}
		html("%s%s%s</div>\n", place ? " (" : "", place ? place : "", place ? ")" : "");
	}
}

static void answer(const struct report *r, const struct finding *f)
{
	const char *verdict = f->off ? "off" : verdict_words[f->answer.verdict];

	html("<tr data-verdict=\"%s\"><td><span class=\"word word-%s\">%s</span></td>"
	     "<td><span class=\"rule\">%s</span><br>%s</td><td>%s</td><td>%s</td><td>",
	     verdict, verdict, verdict, f->rule->id, finding_title(f),
	     subject_name(r->node, f->answer.subject, r->arena),
	     f->answer.observed ? f->answer.observed : "");
	evidence(r, f);
	html("</td></tr>\n");
}

static void answers(const struct page_view *v)
{
	html("<section>\n<h2 id=\"all\">All answers</h2>\n<div class=\"find\" hidden>\n");
	html("<label>Search <input id=\"words\" type=\"search\" autocomplete=\"off\"></label>\n"
	     "<label>Verdict <select id=\"verdict\"><option value=\"\">any</option>\n");
	for (size_t i = 0; verdict_words[i]; i++)
		html("<option>%s</option>", verdict_words[i]);
	html("<option>off</option></select></label>\n"
	     "<span id=\"shown\" role=\"status\"></span>\n</div>\n");
	html("<div class=\"scroll\" role=\"region\" aria-labelledby=\"all\" tabindex=\"0\">\n");
	html("<table id=\"answers\">\n<thead><tr><th scope=\"col\">Verdict</th>"
	     "<th scope=\"col\">Rule, and what it looks for</th><th scope=\"col\">Where</th>"
	     "<th scope=\"col\">Found</th>"
	     "<th scope=\"col\">Evidence</th></tr></thead>\n<tbody>\n");
	for_each(f, &v->report->findings)
		answer(v->report, f);
	html("</tbody>\n</table>\n</div>\n</section>\n");
}

enum exit_status render_report_html(const struct report *report,
				    const struct render_options *options, enum exit_status status)
{
	const struct steps *list = options->steps;
	struct page_view v = { .report = report, .problems = list->problems, .steps = list };

	head(&v);
	verdict(&v);
	node(&v);
	table(&v);
	steps(&v);
	drawing(&v);
	details(&v);
	notes(&v);
	unknowns(&v);
	answers(&v);
	html("</main>\n<footer>Written by nvnodecheck %s. 'nvnodecheck explain RULE' says why and "
	     "how to check by hand.</footer>\n<script>\n",
	     NVNODECHECK_VERSION);
	fputs(page_script, stdout);
	html("</script>\n</body>\n</html>\n");
	return finish_output(status);
}
