/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tabulate.c - the files of many nodes, read by several processes into one table (diff.h). */
#include "cli/tabulate.h"

#include <errno.h>
#include <string.h>

#include "base/output.h"

struct task {
	const struct options *options;
	const struct node *here;
	tabulate_node *add;
};

/* Neighbours, as in node-set.h. */
static void take_share(const struct fleet *fleet, size_t worker, size_t workers, FILE *out,
		       void *user)
{
	_cleanup_source_ struct source source = { 0 };
	const struct task *task = user;
	size_t after = fleet->count * (worker + 1) / workers;
	uint32_t failed = 0;
	struct diff table;

	diff_init(&table, fleet->count);
	for (size_t i = fleet->count * worker / workers; i < after; i++) {
		if (task->here && i == fleet->count - 1)
			task->add(&table, i, task->here, source.arena);
		else if (!workers_begin_file(fleet, worker, i) ||
			 source_read_file(&source, task->options, fleet->files[i]))
			failed++;
		else
			task->add(&table, i, source.node, source.arena);
	}
	fwrite(&failed, sizeof(failed), 1, out);
	diff_write(&table, out);
	diff_free(&table);
}

enum exit_status tabulate(const struct fleet *fleet, const struct options *options,
			  const struct node *here, tabulate_node *add, struct diff *table)
{
	struct task task = { options, here, add };
	struct workers workers;
	int rc = workers_start(&workers, fleet, take_share, &task);
	uint32_t n;

	for (size_t i = 0; rc == 0 && i < workers.count; i++) {
		/* A worker that was killed has not written its number: start it again. */
		while (rc == 0 && fread(&n, sizeof(n), 1, workers.streams[i]) != 1)
			rc = workers_again(&workers, i, i);
		if (rc == 0)
			rc = diff_merge(table, workers.streams[i]);
		table->unreadable += rc ? 0 : n;
	}
	if (!workers_end(&workers) && rc == 0)
		rc = -EIO;
	if (rc == 0)
		return EXIT_WELL;
	complain("a process that compares nodes failed: %s", strerror(-rc));
	return EXIT_CANNOT;
}
