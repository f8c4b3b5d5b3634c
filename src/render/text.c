/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.c - the report for people: the verdict, the node, a line for each problem, the steps, the problems in full, and
 * the rest. */
#include "render/text.h"

#include <string.h>

#define MANY 10	     /* problems: with more, their effect is left out */
#define VERY_MANY 20 /* with more, a warning is only its title */

const char *const text_tags[] = {
	[SEVERITY_INFO] = "INFO",
	[SEVERITY_WARN] = "WARN",
	[SEVERITY_ERR] = "ERR",
	[SEVERITY_CRIT] = "CRIT",
};

enum style text_style(enum severity severity)
{
	return severity >= SEVERITY_ERR	   ? STYLE_RED
	       : severity == SEVERITY_WARN ? STYLE_YELLOW
					   : STYLE_BLUE;
}

void text_field(struct view *v, const char *name, const char *text)
{
	page_label(&v->page, TEXT_TAG, TEXT_LABEL, name, text);
}

const char *text_number(const struct view *v, const struct problem *problem)
{
	unsigned int number = v->has_steps ? steps_number(v->steps, problem) : 0;
	int width = v->problems->items.count > 9 ? 2 : 1;

	return number ? arena_printf(v->report->arena, "[%*u] ", width, number) : "";
}

const char *text_reason(const char *title, struct span *effect)
{
	const char *mark = strstr(title, ": ");

	*effect = (struct span){ title, mark ? (size_t)(mark - title) : strlen(title) };
	return mark ? mark + 2 : NULL;
}

void text_heading(struct view *v, const char *text)
{
	page_heading(&v->page, text);
}

/* Returns true if faulty hardware stops the steps. */
static bool stops_for_hardware(const struct steps *steps)
{
	for_each(step, &steps->items)
		if (steps_needs_working_hardware(steps, step))
			return true;
	return false;
}

enum exit_status render_report_text(const struct report *report,
				    const struct render_options *options, enum exit_status status)
{
	const struct steps *steps = options->steps;
	bool very_many = !options->verbose && steps->problems->items.count > VERY_MANY;
	bool is_cut = very_many && stops_for_hardware(steps);
	struct view v = {
		.report = report,
		.problems = steps->problems,
		.steps = steps,
		.options = options,
		.has_steps = true,
		.is_merged = !options->verbose && steps->problems->items.count > 1,
		.is_long = !options->verbose && steps->problems->items.count > MANY,
		.is_cut = is_cut,
		.has_short_warnings = very_many && !is_cut,
	};
	int lines;

	page_begin(&v.page, options->color, options->pager);
	v.rows = arena_alloc(report->arena, (v.problems->items.count + 1) * sizeof(*v.rows));
	v.named = arena_alloc(report->arena, (v.problems->items.count + 1) * sizeof(*v.named));
	lines = text_verdict(&v);
	lines += text_head(&v);
	/* The prompt is below. */
	if (v.problems->items.count)
		text_table(&v, v.page.rows - lines - 1);
	if (options->brief)
		return page_end(&v.page, status);
	if (v.problems->items.count == 1 && !options->verbose)
		text_only_problem(&v);
	text_steps(&v);
	text_problems(&v);
	text_rest(&v);
	return page_end(&v.page, status);
}
