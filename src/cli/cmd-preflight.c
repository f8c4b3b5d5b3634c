/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-preflight.c - preflight: the gate for job prologs. It reads only facts that are read quickly, and reports
 * problems that stop jobs. */
#include <string.h>

#include "cli/cmd.h"
#include "cli/source.h"
#include "evaluate/report.h"
#include "probes/probe.h"
#include "render/render.h"

/* A prolog's own limit is a minute or more (Slurm: PrologTimeout), a user's patience is less. */
#define TIMEOUT_MS 5000

/* Facts that were given may hold more than preflight would have read. */
static void forget_rest(struct node *node)
{
	size_t count;
	const struct probe *const *probes = probe_table(&count);

	for (size_t i = 0; i < count; i++)
		if (!probes[i]->preflight.run)
			memset((char *)node + probes[i]->section, 0, probes[i]->section_size);
}

enum exit_status cmd_preflight(const struct options *given)
{
	_cleanup_source_ struct source source = { 0 };
	struct options options = *given;
	const struct settings *read;
	struct settings settings;
	struct report *report;
	enum exit_status status;

	if (!options.timeout_ms)
		options.timeout_ms = TIMEOUT_MS;
	status = check_patterns(&options);
	if (!status)
		status = source_open(&source, &options);
	if (!status)
		status = source_read_node(&source, &options, true, &read);
	if (status)
		return render_failure(&options.render, status);
	if (!source.host)
		forget_rest(source.node);
	settings = *read;
	settings.preflight = true;
	settings.only_wrong = options.format == FORMAT_TEXT && !options.journal;
	report = report_make(source.node, &settings, source.arena);
	status = report_status(report, true);
	return render_report(report, &options.render, status, true);
}
