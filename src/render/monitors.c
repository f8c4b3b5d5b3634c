/* SPDX-License-Identifier: GPL-2.0-or-later */
/* monitors.c - one result for programs that start a check and read its exit status: Nagios and compatible ones,
 * node-problem-detector. */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/output.h"
#include "render/render.h"

/* ---- Nagios plugins: status, text, numbers; then a line for each finding (nagios-plugins.org, developer
 * guidelines) ---- */

enum nagios { NAGIOS_OK, NAGIOS_WARNING, NAGIOS_CRITICAL, NAGIOS_UNKNOWN };

/* For example a folder mounted elsewhere, with neither a kernel nor a PCI bus. */
static bool saw_nothing(const struct report *r)
{
	return is_unknown(r->node->os.kernel) && !was_read(r->node->pci.devices);
}

static enum nagios nagios_status(const struct report *r, enum exit_status status)
{
	if (status == EXIT_FINDINGS)
		return NAGIOS_CRITICAL;
	if (status != EXIT_WELL || saw_nothing(r))
		return NAGIOS_UNKNOWN;
	return r->any_worst && r->worst >= SEVERITY_WARN ? NAGIOS_WARNING : NAGIOS_OK;
}

/* Nagios takes text after a bar as numbers, and text after a newline as another line: values must have neither. */
#define plugin(...) escape_printf(stdout, SINK_NAGIOS, __VA_ARGS__)

static bool is_reported(const struct finding *f, enum exit_status status)
{
	return f->answer.verdict != VERDICT_UNKNOWN || status == EXIT_INCOMPLETE;
}

enum exit_status render_report_nagios(const struct report *r, enum exit_status status)
{
	static const char *const words[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };
	enum nagios nagios = nagios_status(r, status);
	const struct finding *first = render_next(r, NULL);

	plugin("NVNODECHECK %s - ", words[nagios]);
	if (nagios == NAGIOS_OK)
		plugin("no problems found by %zu rules", r->rules);
	else if (first)
		plugin("%s", render_reason(r, first));
	plugin(" | failed=%zu pending=%zu unknown=%zu passed=%zu\n", r->count[VERDICT_FAIL],
	       r->count[VERDICT_PENDING], r->count[VERDICT_UNKNOWN], r->count[VERDICT_PASS]);
	for (const struct finding *f = first; f; f = render_next(r, f))
		if (f != first && is_reported(f, status))
			plugin("%s\n", render_reason(r, f));
	return finish_output(EXIT_WELL) ? (enum exit_status)NAGIOS_UNKNOWN
					: (enum exit_status)nagios;
}

/* ---- node-problem-detector: a message that it cuts (pkg/custompluginmonitor/types/config.go,
 * defaultMaxOutputLength) ---- */

#define NPD_MESSAGE_BYTES 80

enum npd { NPD_OK, NPD_PROBLEM, NPD_UNKNOWN };

static void put_message(const char *text)
{
	struct span rest = span_of(text);
	char to[ESCAPE_MAX];
	size_t n, room = NPD_MESSAGE_BYTES;

	for (; (n = escape_next(SINK_TERMINAL, &rest, to)) && n <= room; room -= n)
		fputs(to, stdout);
	putchar('\n');
}

enum exit_status render_report_npd(const struct report *r, enum exit_status status)
{
	const struct finding *first = render_next(r, NULL);
	const char *text = "no problems found";
	enum npd npd = status == EXIT_FINDINGS			? NPD_PROBLEM
		       : status == EXIT_WELL && !saw_nothing(r) ? NPD_OK
								: NPD_UNKNOWN;

	if (npd != NPD_OK && first)
		text = render_reason(r, first);
	put_message(text);
	return finish_output(EXIT_WELL) ? (enum exit_status)NPD_UNKNOWN : (enum exit_status)npd;
}

/* ---- failures of the check itself ---- */

enum exit_status render_failure(const struct render_options *options, enum exit_status status)
{
	bool nagios = options->format == FORMAT_NAGIOS;

	if (status == EXIT_WELL || (!nagios && options->format != FORMAT_NPD))
		return status;
	if (!options->quiet && nagios)
		plugin("NVNODECHECK UNKNOWN - %s\n", last_complaint());
	else if (!options->quiet)
		put_message(last_complaint());
	fflush(stdout);
	return nagios ? (enum exit_status)NAGIOS_UNKNOWN : (enum exit_status)NPD_UNKNOWN;
}
