/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"
#include "render/render.h"
#include "report.h"
#include "rule.h"

enum exit_status cmd_doctor(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 };
	const struct settings *settings;
	struct report *report;
	enum exit_status status;

	status = check_patterns(options);
	if (!status)
		status = source_open(&source, options);
	if (!status)
		status = source_look(&source, options, false, &settings);
	if (status)
		return status;
	report = report_make(source.node, settings, source.arena);
	status = report_status(report, settings->strict);
	if (options->quiet)
		return status;
	return options->format == FORMAT_JSON ? render_report_json(report, status)
					      : render_report_text(report, options, status);
}
