/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"
#include "render/render.h"
#include "report.h"
#include "rule.h"

#include <fnmatch.h>

/* A pattern that selects nothing is a slip of the pen, not a node without findings. */
static enum exit_status check_patterns(const char *const *patterns, const char *option)
{
	size_t count;
	const struct rule *const *rules = rule_all(&count);

	for (size_t i = 0; patterns[i]; i++) {
		size_t k = 0;

		while (k < count && fnmatch(patterns[i], rules[k]->id, 0) != 0)
			k++;
		if (k == count) {
			complain("%s '%s' matches no rule; 'nvnodecheck rules' lists them", option,
				 patterns[i]);
			return EXIT_USAGE;
		}
	}
	return EXIT_WELL;
}

enum exit_status cmd_doctor(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 };
	struct settings settings;
	struct report *report;
	enum exit_status status;

	status = check_patterns(options->only, "--only");
	if (!status)
		status = check_patterns(options->skip, "--skip");
	if (!status)
		status = source_open(&source, options);
	if (!status)
		status = source_settings(&source, options, &settings);
	if (!status)
		status = source_observe(&source, options);
	if (status)
		return status;
	report = report_make(source.node, &settings, source.arena);
	status = report_status(report, settings.strict);
	if (options->quiet)
		return status;
	return options->format == FORMAT_JSON ? render_report_json(report, status)
					      : render_report_text(report, options, status);
}
