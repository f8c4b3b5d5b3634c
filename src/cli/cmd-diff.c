/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-diff.c - diff: the differences between nodes, or on one node since an earlier look. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "cli/cmd.h"
#include "cli/source.h"
#include "cli/tabulate.h"
#include "render/render.h"

static void add_node(struct diff *diff, size_t node, const struct node *facts, struct arena *arena)
{
	(void)arena;
	diff_add(diff, node, facts);
}

/* Observes this machine, which with --nvml is one of the nodes. */
static enum exit_status look_here(struct source *source, const struct options *options,
				  struct fleet *fleet)
{
	enum exit_status status = source_open(source, options);

	if (!status)
		status = source_observe(source, options);
	if (!status)
		fleet_add_node(fleet, is_known(source->node->os.hostname)
					      ? source->node->os.hostname.value
					      : "this machine");
	return status;
}

/* Refuses a single name. If it does not exist, that is the error to report, because it could have been a folder. */
static enum exit_status refuse_one(const char *file)
{
	if (strcmp(file, "-") != 0 && access(file, R_OK) < 0) {
		complain("%s: %s", file, strerror(errno));
		return EXIT_CANNOT;
	}
	complain("diff needs the files of two or more nodes");
	return EXIT_USAGE;
}

/* 0 when all are the same, 1 when something differs: as diff(1). */
enum exit_status cmd_diff(const struct options *options)
{
	_cleanup_fleet_ struct fleet fleet = { 0 };
	_cleanup_source_ struct source here = { 0 };
	struct output output;
	struct diff diff;
	enum exit_status status;

	status = fleet_open(&fleet, options->from, options->args, options->args_count);
	if (!status && options->nvml)
		status = look_here(&here, options, &fleet);
	if (status)
		return status;
	if (fleet.count < 2)
		return refuse_one(fleet.files[0]);
	diff_init(&diff, fleet.count);
	status = tabulate(&fleet, options, here.node, add_node, &diff);
	if (!status) {
		diff_finish(&diff);
		status = diff.count ? EXIT_FINDINGS : EXIT_WELL;
		if (output_begin(&output, options->output, OUTPUT_MODE))
			return EXIT_CANNOT;
		status = render_diff(&diff, &fleet, &options->render, status);
		if (output_end(&output, !ferror(stdout)))
			status = EXIT_CANNOT;
	}
	if (diff.unreadable)
		status = EXIT_CANNOT;
	diff_free(&diff);
	return status;
}
