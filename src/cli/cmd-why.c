/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-why.c - why: the failures in the log of a job, and the problems of this node that explain them. */
#include <string.h>

#include "base/output.h"
#include "cli/advise.h"
#include "cli/cmd.h"
#include "cli/log-read.h"
#include "cli/source.h"
#include "evaluate/report.h"
#include "render/render.h"
#include "why/why.h"

static void free_arena(struct arena **arena)
{
	arena_free(*arena);
}

/* Without --profile all rules are evaluated, because only the log can show how the job uses the node. */
static struct settings *settings_for(const struct settings *read, struct arena *arena)
{
	struct settings *settings = arena_alloc(arena, sizeof(*settings));

	*settings = *read;
	if (!settings->profiles)
		settings->profiles = PROFILE_BASE | PROFILE_P2P | PROFILE_GPUDIRECT_ANY;
	return settings;
}

static enum exit_status why_print(const struct why *why, const struct render_options *how,
				  const struct options *options)
{
	enum exit_status status = why_status(why);
	struct output output;

	if (output_begin(&output, options->output, OUTPUT_MODE))
		return EXIT_CANNOT;
	status = options->format == FORMAT_JSON ? render_why_json(why, status)
						: render_why_text(why, how, status);
	return output_end(&output, status != EXIT_CANNOT) ? EXIT_CANNOT : status;
}

static enum exit_status answer(struct source *source, const struct job *job,
			       const struct options *options)
{
	struct render_options how = options->render;
	const struct settings *read;
	struct settings *settings;
	struct report *report;
	enum exit_status status = source_open(source, options);

	if (!status)
		status = source_read_node(source, options, false, &read);
	if (status)
		return status;
	settings = settings_for(read, source->arena);
	report = report_make(source->node, settings, source->arena);
	if (options->format != FORMAT_JSON)
		how.steps = advise(source, settings, report, options);
	return why_print(why_make(job, report, options->host), &how, options);
}

enum exit_status cmd_why(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 };
	_cleanup_(free_arena) struct arena *arena = arena_new(ARENA_BYTES, "what a log says");
	const struct job *job;

	if (!arena) {
		complain("out of memory");
		return EXIT_CANNOT;
	}
	job = log_read(options->args_count ? options->args[0] : NULL, options->text,
		       options->timeout_ms, arena);
	return job ? answer(&source, job, options) : EXIT_CANNOT;
}
