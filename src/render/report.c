/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - prints a report in the requested format to the requested file. */
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "render/journal-send.h"
#include "render/render.h"

static enum exit_status render(const struct report *report, const struct render_options *options,
			       enum exit_status status, bool lines)
{
	switch (options->format) {
	case FORMAT_JSON:
		return render_report_json(report, options->steps, status);
	case FORMAT_JSONL:
		return render_report_jsonl(report, options->steps, status);
	case FORMAT_PROMETHEUS:
		return render_report_prometheus(report, status);
	case FORMAT_NAGIOS:
		return render_report_nagios(report, status);
	case FORMAT_NPD:
		return render_report_npd(report, status);
	case FORMAT_HTML:
		return render_report_html(report, options, status);
	case FORMAT_SVG: /* these are not of a report: check_use() */
	case FORMAT_MAN:
	case FORMAT_TEXT:
		break;
	}
	if (options->for_provider)
		return render_report_provider(report, options, status);
	return lines ? render_report_lines(report, status)
		     : render_report_text(report, options, status);
}

enum exit_status render_report(const struct report *report, const struct render_options *options,
			       enum exit_status status, bool lines)
{
	struct output output;
	enum exit_status answer;
	int rc;

	if (options->journal) {
		rc = journal_send(report, status);
		if (rc)
			complain("the journal cannot be written: %s", strerror(-rc));
	}
	if (options->quiet)
		return status;
	if (output_begin(&output, options->output, OUTPUT_MODE))
		return render_failure(options, EXIT_CANNOT);
	answer = render(report, options, status, lines);
	if (output_end(&output, !ferror(stdout)))
		return render_failure(options, EXIT_CANNOT);
	return answer;
}
