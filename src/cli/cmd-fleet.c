/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-fleet.c - doctor over many nodes' files: a report a line in the order of the files, then a summary.
 * A worker is at most one pipe ahead, so that memory does not grow with the number of files. */
#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/output.h"
#include "cli/cmd.h"
#include "evaluate/report.h"
#include "fleet/fleet.h"
#include "render/render.h"

struct task {
	const struct options *options;
};

/* What comes before each line that a worker writes. */
struct head {
	uint32_t bytes;
	enum exit_status status;
	enum verdict verdict;
};

/* The worst finding of those that make the verdict what it is, information left out; NULL for none. */
static const struct finding *worst(const struct report *r)
{
	const struct finding *f = render_next(r, NULL);

	while (f && f->answer.verdict != r->verdict)
		f = render_next(r, f);
	return f;
}

/* A file's name is its sender's. */
#define line(...) escape_printf(stdout, SINK_TERMINAL, __VA_ARGS__)

static void put_name(const char *name, const struct report *r)
{
	const struct finding *first = worst(r);
	size_t failed = r->count[VERDICT_FAIL];

	/* The reason of what is unknown begins with that word itself. */
	if (r->verdict == VERDICT_UNKNOWN && first)
		line("%s: %s", name, render_reason(r, first));
	else if (first)
		line("%s: %s: %s", name, verdict_words[r->verdict], render_reason(r, first));
	else
		line("%s: %s", name, verdict_words[r->verdict]);
	if (failed > 1)
		printf(" (of %zu that failed)", failed);
	putchar('\n');
}

/* Standard output is the record while this runs. */
static struct head evaluate_node(struct source *source, const char *file, const char *name,
				 const struct options *options)
{
	struct head head = { 0 };
	struct settings settings;
	struct report *report;
	struct options one = *options;

	head.status = source_read(source, options, file);
	one.from = file;
	if (!head.status)
		head.status = source_settings(source, &one, &settings);
	if (head.status)
		return head;
	settings.only_wrong = options->format == FORMAT_TEXT;
	report = report_make(source->node, &settings, source->arena);
	head.status = report_status(report, settings.strict);
	head.verdict = report->verdict;
	if (options->format == FORMAT_TEXT)
		put_name(name, report);
	else
		render_report_jsonl(report, head.status);
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

		if (!workers_begin_file(fleet, worker % workers, i)) {
			fwrite(&head, sizeof(head), 1, out);
			continue;
		}
		stdout = memory_need(open_memstream(&text, &size));
		head = evaluate_node(&source, fleet->files[i], fleet->names[i], task->options);
		fclose(stdout);
		stdout = standard;
		head.bytes = (uint32_t)size;
		fwrite(&head, sizeof(head), 1, out);
		fwrite(text, 1, size, out);
		/* Lines go out in blocks; for the end of a long report the other workers would wait. */
		if (size > BUFSIZ)
			fflush(out);
		free(text);
	}
}

struct totals {
	size_t verdicts[VERDICT_NOT_APPLICABLE + 1];
	size_t judged;
	size_t findings;
	size_t incomplete;
	size_t unreadable;
};

/* Whole or not at all: of a record whose worker was ended nothing is shown. */
static int take_record(FILE *in, struct totals *totals, bool quiet)
{
	_cleanup_free_ char *text = NULL;
	struct head head;

	if (fread(&head, sizeof(head), 1, in) != 1)
		return -EPIPE;
	text = malloc((size_t)head.bytes + 1);
	if (!text)
		return -ENOMEM;
	if (fread(text, 1, head.bytes, in) != head.bytes)
		return -EPIPE;
	if (head.status == EXIT_WELL || head.status == EXIT_FINDINGS ||
	    head.status == EXIT_INCOMPLETE) {
		totals->judged++;
		totals->verdicts[head.verdict]++;
	}
	totals->findings += head.status == EXIT_FINDINGS;
	totals->incomplete += head.status == EXIT_INCOMPLETE;
	totals->unreadable += head.status == EXIT_CANNOT || head.status == EXIT_USAGE;
	return quiet || fwrite(text, 1, head.bytes, stdout) == head.bytes ? 0 : -errno;
}

/* A file that ends its worker costs itself: the worker's other files go to a new worker. */
static int take_file(struct workers *workers, size_t i, struct totals *totals, bool quiet)
{
	size_t worker = i % workers->count;
	int rc;

	do
		rc = take_record(workers->streams[worker], totals, quiet);
	while (rc == -EPIPE && !ferror(stdout) && (rc = workers_again(workers, worker, i)) == 0);
	return rc;
}

static void put_summary(const struct totals *t, const struct options *options)
{
	_cleanup_json_ struct json_object *json = NULL;

	if (options->quiet)
		return;
	if (options->format == FORMAT_TEXT) {
		printf("%zu node%s: %zu pass, %zu fail, %zu pending, %zu unknown", t->judged,
		       t->judged == 1 ? "" : "s", t->verdicts[VERDICT_PASS],
		       t->verdicts[VERDICT_FAIL], t->verdicts[VERDICT_PENDING],
		       t->verdicts[VERDICT_UNKNOWN]);
		line(t->unreadable ? "; %zu file%s could not be read\n" : "\n", t->unreadable,
		     t->unreadable == 1 ? "" : "s");
		return;
	}
	json = json_document("nvnodecheck-summary");
	json_put_number(json, "nodes", t->judged);
	for (int v = VERDICT_PASS; v <= VERDICT_UNKNOWN; v++)
		json_put_number(json, verdict_words[v], t->verdicts[v]);
	json_put_number(json, "unreadable", t->unreadable);
	json_print(stdout, json, JSON_C_TO_STRING_PLAIN);
}

static enum exit_status evaluate_all(const struct fleet *fleet, const struct options *options)
{
	struct task task = { options };
	struct totals totals = { 0 };
	struct workers workers;
	int rc = workers_start(&workers, fleet, evaluate_share, &task);

	for (size_t i = 0; rc == 0 && i < fleet->count; i++)
		rc = take_file(&workers, i, &totals, options->quiet);
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
	put_summary(&totals, options);
	return finish_output(totals.unreadable	 ? EXIT_CANNOT
			     : totals.findings	 ? EXIT_FINDINGS
			     : totals.incomplete ? EXIT_INCOMPLETE
						 : EXIT_WELL);
}

/* What says something of one node alone, and was asked for; or NULL. */
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
	case FORMAT_HTML:
		return "--format html";
	case FORMAT_NPD:
		return "--format npd";
	default:
		return NULL;
	}
}

enum exit_status cmd_fleet(const struct options *options)
{
	_cleanup_fleet_ struct fleet fleet = { 0 };
	const char *single = for_one_node(options);
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
	status = evaluate_all(&fleet, options);
	return output_end(&output, !ferror(stdout)) ? EXIT_CANNOT : status;
}
