/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-doctor.c - doctor: the problems of a node, and the instructions. */
#include "cli/advise.h"
#include "cli/cmd.h"
#include "cli/proof-read.h"
#include "cli/source.h"
#include "evaluate/report.h"
#include "evaluate/rule.h"
#include "fleet/fleet.h"
#include "fleet/since.h"
#include "render/render.h"

/* Formats for a monitor have no steps. */
static bool has_steps(const struct options *options)
{
	return options->format == FORMAT_TEXT || options->format == FORMAT_HTML ||
	       options->format == FORMAT_JSON || options->format == FORMAT_JSONL;
}

enum exit_status cmd_doctor(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 }, earlier = { 0 };
	struct render_options how = options->render;
	struct changes changes = { 0 };
	const struct settings *settings;
	struct report *report;
	enum exit_status status;
	char error[256];

	status = check_patterns(options);
	if (!status && is_of_many(options)) {
		if (!options->with)
			return doctor_fleet(options);
		complain("--with works with one node only");
		return EXIT_USAGE;
	}
	if (!status)
		status = source_open(&source, options);
	if (!status)
		status = source_read_node(&source, options, false, &settings);
	if (status)
		return render_failure(&options->render, status);
	if (options->with && proof_read(source.node, source.arena, options->with, error)) {
		complain("%s", error);
		return render_failure(&options->render, EXIT_CANNOT);
	}
	report = report_make(source.node, settings, source.arena);
	if (options->since) {
		status = source_read_file(&earlier, options, options->since);
		if (status)
			return render_failure(&options->render, status);
		since_compare(&changes, earlier.node, source.node, source.arena);
		report->changes = &changes;
	}
	status = report_status(report, settings->strict);
	if (has_steps(options) && !options->quiet)
		how.steps = advise(&source, settings, report, options);
	return render_report(report, &how, status, false);
}
