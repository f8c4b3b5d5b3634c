/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-diff.c - what differs between nodes, or on one node since an earlier look. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/output.h"
#include "cli/cmd.h"
#include "fleet/diff.h"
#include "render/render.h"

struct task {
	const struct options *options;
	const struct node *here; /* this machine, the last of the nodes; NULL: it is none of them */
};

/* Neighbours, as node-set.h has them. */
static void take_share(const struct fleet *fleet, size_t worker, size_t workers, FILE *out,
		       void *user)
{
	_cleanup_source_ struct source source = { 0 };
	const struct task *task = user;
	size_t after = fleet->count * (worker + 1) / workers;
	uint32_t failed = 0;
	struct diff diff;

	diff_init(&diff, fleet->count);
	for (size_t i = fleet->count * worker / workers; i < after; i++) {
		if (task->here && i == fleet->count - 1)
			diff_add(&diff, i, task->here);
		else if (!workers_begin_file(fleet, worker, i) ||
			 source_read(&source, task->options, fleet->files[i]))
			failed++;
		else
			diff_add(&diff, i, source.node);
	}
	fwrite(&failed, sizeof(failed), 1, out);
	diff_write(&diff, out);
	diff_free(&diff);
}

/* With --nvml this machine is one of the nodes. */
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

static enum exit_status compare(const struct fleet *fleet, const struct options *options,
				const struct node *here, struct diff *diff)
{
	struct task task = { options, here };
	struct workers workers;
	int rc = workers_start(&workers, fleet, take_share, &task);
	uint32_t n;

	for (size_t i = 0; rc == 0 && i < workers.count; i++) {
		/* One that was ended had written nothing yet. */
		while (rc == 0 && fread(&n, sizeof(n), 1, workers.streams[i]) != 1)
			rc = workers_again(&workers, i, i);
		if (rc == 0)
			rc = diff_merge(diff, workers.streams[i]);
		diff->unreadable += rc ? 0 : n;
	}
	if (!workers_end(&workers) && rc == 0)
		rc = -EIO;
	if (rc == 0)
		return EXIT_WELL;
	complain("a process that compares nodes failed: %s", strerror(-rc));
	return EXIT_CANNOT;
}

/* Of a lone name that is not there, which could have been a folder, that is the news. */
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
	status = compare(&fleet, options, here.node, &diff);
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
