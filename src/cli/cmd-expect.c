/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-expect.c - expect: an [expect] section from the values of a node, or of most of many nodes. */
#include <stdio.h>

#include "base/output.h"
#include "cli/cmd.h"
#include "cli/source.h"
#include "cli/tabulate.h"
#include "fleet/majority.h"
#include "render/render.h"

static enum exit_status print_majority(const struct fleet *fleet, const struct options *options)
{
	struct diff table;
	enum exit_status status;
	size_t nodes;

	diff_init(&table, fleet->count);
	status = tabulate(fleet, options, NULL, majority_add, &table);
	nodes = fleet->count - table.unreadable;
	if (!status && nodes)
		status = render_majority(&table, nodes, &options->render);
	if (table.unreadable)
		status = EXIT_CANNOT;
	diff_free(&table);
	return finish_output(status);
}

static enum exit_status expect_of_many(const struct options *options)
{
	_cleanup_fleet_ struct fleet fleet = { 0 };
	enum exit_status status = fleet_open(&fleet, options->from, options->args,
					     options->args_count);
	struct output output;

	if (!status && output_begin(&output, options->output, OUTPUT_MODE))
		status = EXIT_CANNOT;
	if (status)
		return status;
	status = print_majority(&fleet, options);
	return output_end(&output, !ferror(stdout)) ? EXIT_CANNOT : status;
}

enum exit_status cmd_expect(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 };
	enum exit_status status;
	struct output output;

	if (is_of_many(options))
		return expect_of_many(options);
	status = source_open(&source, options);
	if (!status)
		status = source_observe(&source, options);
	if (!status && output_begin(&output, options->output, OUTPUT_MODE))
		status = EXIT_CANNOT;
	if (status)
		return status;
	status = render_expect(source.node, source.arena, &options->render);
	return output_end(&output, !status) ? EXIT_CANNOT : status;
}
