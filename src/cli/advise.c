/* SPDX-License-Identifier: GPL-2.0-or-later */
/* advise.c - from a report to its steps. */
#include "cli/advise.h"

#include "cli/cli.h"
#include "cli/source.h"
#include "fixes/plan-make.h"

/* Returns the plan that 'fix' would make; NULL if the source has no files to read, or nothing to repair. */
static const struct plan *outline_plan(const struct source *source, const struct settings *settings,
				       const struct report *report)
{
	struct plan_request request = {
		.host = source->host, .report = report, .all = true, .outline = true
	};
	bool any = false;

	for_each(f, &report->findings)
		any |= !f->off && finding_is_problem(f) && finding_fix(f);
	if (!any || !source->host)
		return NULL;
	request.context = report_make_all(source->node, settings, source->arena);
	return plan_make(&request);
}

const struct steps *advise(const struct source *source, const struct settings *settings,
			   const struct report *report, const struct options *options)
{
	struct steps_request request = { .plan = outline_plan(source, settings, report),
					 .root = options->root,
					 .from = options->from,
					 .profiles = options->profiles };

	return steps_find(report, &request);
}
