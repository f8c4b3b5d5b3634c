/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor-fleet.c - doctor over the files of many nodes: a table of their problems. JSON has one report a line, in the
 * order of the files; -v has a line for each node. A worker is at most one pipe ahead, so that memory does not grow
 * with the number of files. */
#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/advise.h"
#include "cli/cmd.h"
#include "cli/source.h"
#include "evaluate/report.h"
#include "fleet/fleet.h"
#include "render/fleet-table.h"
#include "render/render.h"

struct task {
	const struct options *options;
};

/* Header of each line that a worker writes. */
struct head {
	uint32_t bytes, items; /* of text, and of struct table_item before it */
	enum exit_status status;
	enum verdict verdict;
};

static bool is_table(const struct options *options)
{
	return options->format == FORMAT_TEXT || options->format == FORMAT_HTML;
}

/* Standard output is the record while this runs; ITEMS are the source's. */
static struct head evaluate_node(struct source *source, const char *file, const char *name,
				 const struct options *options, struct table_item **items)
{
	struct head head = { 0 };
	struct settings settings;
	struct report *report;
	struct options one = *options;

	head.status = source_read_file(source, options, file);
	one.from = file;
	if (!head.status)
		head.status = source_settings(source, &one, &settings);
	if (head.status)
		return head;
	settings.only_wrong = is_table(options);
	report = report_make(source->node, &settings, source->arena);
	head.status = report_status(report, settings.strict);
	head.verdict = report->verdict;
	*items = table_items(report, &head.items);
	if (!is_table(options))
		render_report_jsonl(report, advise(source, &settings, report, &one), head.status);
	else if (options->verbose)
		render_report_line(name, report);
	return head;
}

static void evaluate_share(const struct fleet *fleet, size_t worker, size_t workers, FILE *out,
			   void *user)
{
	_cleanup_source_ struct source source = { 0 };
	const struct task *task = user;
	FILE *standard = stdout;

	for (size_t i = worker; i < fleet->count && !ferror(out); i += workers) {
		char *text = NULL;
		size_t size = 0;
		struct head head = { .status = EXIT_CANNOT };
		struct table_item *items = NULL;

		if (!workers_begin_file(fleet, worker % workers, i)) {
			fwrite(&head, sizeof(head), 1, out);
			continue;
		}
		stdout = memory_need(open_memstream(&text, &size));
		head = evaluate_node(&source, fleet->files[i], fleet->names[i], task->options,
				     &items);
		fclose(stdout);
		stdout = standard;
		head.bytes = (uint32_t)size;
		fwrite(&head, sizeof(head), 1, out);
		if (items)
			fwrite(items, sizeof(*items), head.items, out);
		fwrite(text, 1, size, out);
		/* Lines go out in blocks; for the end of a long report the other workers would wait. */
		if (size > BUFSIZ)
			fflush(out);
		free(text);
	}
}

struct totals {
	struct table table;
	size_t findings;
	size_t incomplete;
};

static void count_node(struct totals *totals, size_t node, const struct head *head,
		       const struct table_item *items)
{
	struct table *table = &totals->table;
	struct node_run run = { (uint32_t)node, (uint32_t)node + 1 };

	totals->findings += head->status == EXIT_FINDINGS;
	totals->incomplete += head->status == EXIT_INCOMPLETE;
	if (head->status != EXIT_WELL && head->status != EXIT_FINDINGS &&
	    head->status != EXIT_INCOMPLETE) {
		node_set_add(&table->unreadable, run);
		return;
	}
	table->nodes++;
	table->verdicts[head->verdict]++;
	table_add(table, node, items, head->items);
	if (head->verdict == VERDICT_UNKNOWN)
		node_set_add(&table->incomplete, run);
}

/* All of it or nothing: an incomplete record of a killed worker is not shown. */
static int take_record(FILE *in, struct totals *totals, size_t node, bool quiet)
{
	_cleanup_free_ struct table_item *items = NULL;
	_cleanup_free_ char *text = NULL;
	struct head head;

	if (fread(&head, sizeof(head), 1, in) != 1)
		return -EPIPE;
	items = malloc(((size_t)head.items + 1) * sizeof(*items));
	text = malloc((size_t)head.bytes + 1);
	if (!text || !items)
		return -ENOMEM;
	if (fread(items, sizeof(*items), head.items, in) != head.items ||
	    fread(text, 1, head.bytes, in) != head.bytes)
		return -EPIPE;
	count_node(totals, node, &head, items);
	return quiet || fwrite(text, 1, head.bytes, stdout) == head.bytes ? 0 : -errno;
}

/* A file that ends its worker costs itself: the worker's other files go to a new worker. */
static int take_file(struct workers *workers, size_t i, struct totals *totals, bool quiet)
{
	size_t worker = i % workers->count;
	int rc;

	do
		rc = take_record(workers->streams[worker], totals, i, quiet);
	while (rc == -EPIPE && !ferror(stdout) && (rc = workers_again(workers, worker, i)) == 0);
	return rc;
}

static enum exit_status evaluate_all(const struct fleet *fleet, const struct options *options,
				     struct totals *totals)
{
	struct task task = { options };
	struct workers workers;
	int rc = workers_start(&workers, fleet, evaluate_share, &task);

	for (size_t i = 0; rc == 0 && i < fleet->count; i++)
		rc = take_file(&workers, i, totals, options->quiet);
	if (!workers_end(&workers) && rc == 0)
		rc = -EIO;
	if (rc && ferror(stdout)) {
		errno = -rc;
		return finish_output(EXIT_CANNOT);
	}
	if (rc) {
		complain("a process that checks nodes failed: %s", strerror(-rc));
		return EXIT_CANNOT;
	}
	table_sort(&totals->table);
	if (!options->quiet)
		render_table(&totals->table, fleet, &options->render);
	return finish_output(totals->table.unreadable.nodes ? EXIT_CANNOT
			     : totals->findings		    ? EXIT_FINDINGS
			     : totals->incomplete	    ? EXIT_INCOMPLETE
							    : EXIT_WELL);
}

/* Returns an option that is valid for one node only and was given; or NULL. */
static const char *for_one_node(const struct options *options)
{
	if (options->since)
		return "--since";
	if (options->journal)
		return "--journal";
	if (options->brief)
		return "--brief";
	if (options->audience >= 0)
		return "--for";
	switch ((enum format)options->format) {
	case FORMAT_PROMETHEUS:
		return "--format prometheus";
	case FORMAT_NAGIOS:
		return "--format nagios";
	case FORMAT_NPD:
		return "--format npd";
	default:
		return NULL;
	}
}

enum exit_status doctor_fleet(const struct options *options)
{
	_cleanup_fleet_ struct fleet fleet = { 0 };
	const char *single = for_one_node(options);
	struct totals totals = { 0 };
	struct output output;
	enum exit_status status;

	if (single) {
		complain("%s is for one node", single);
		return render_failure(&options->render, EXIT_USAGE);
	}
	status = fleet_open(&fleet, options->from, options->args, options->args_count);
	if (status)
		return status;
	if (output_begin(&output, options->output, OUTPUT_MODE))
		return EXIT_CANNOT;
	status = evaluate_all(&fleet, options, &totals);
	table_free(&totals.table);
	return output_end(&output, !ferror(stdout)) ? EXIT_CANNOT : status;
}
