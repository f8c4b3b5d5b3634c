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
		return (enum exit_status)render_failure_status(options->format, status);
	report = report_make(source.node, settings, source.arena);
	status = report_status(report, settings->strict);
	return render_report(report, options, status, false);
}
