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

/* Before the table of a worker. */
struct head {
	uint32_t failed;
	bool full; /* the table does not follow */
	struct diff_share largest;
};

/* Neighbours, as in node-set.h. */
static void take_share(const struct fleet *fleet, size_t worker, size_t workers, FILE *out,
		       void *user)
{
	_cleanup_source_ struct source source = { 0 };
	const struct task *task = user;
	size_t after = fleet->count * (worker + 1) / workers;
	struct head head = { 0 };
	struct diff table;

	diff_init(&table, fleet->count);
	for (size_t i = fleet->count * worker / workers; i < after && !head.full; i++) {
		size_t before = table.bytes;

		if (task->here && i == fleet->count - 1)
			task->add(&table, i, task->here, source.arena);
		else if (!workers_begin_file(fleet, worker, i) ||
			 source_read_file(&source, task->options, fleet->files[i]))
			head.failed++;
		else
			task->add(&table, i, source.node, source.arena);
		head.full = diff_is_full(&table, i, before);
	}
	head.largest = table.largest;
	fwrite(&head, sizeof(head), 1, out);
	if (!head.full)
		diff_write(&table, out);
	diff_free(&table);
}

static void keep_largest(struct diff *table, const struct head *head)
{
	if (head->largest.bytes > table->largest.bytes)
		table->largest = head->largest;
}

static enum exit_status refuse(const struct fleet *fleet, const struct diff *table, int rc)
{
	if (rc == -EFBIG)
		complain("%s: it adds most to a comparison of more than %u MiB",
			 fleet->files[table->largest.node], DIFF_BYTES_MAX >> 20);
	else
		complain("a process that compares nodes failed: %s", strerror(-rc));
	return EXIT_CANNOT;
}

enum exit_status tabulate(const struct fleet *fleet, const struct options *options,
			  const struct node *here, tabulate_node *add, struct diff *table)
{
	struct task task = { options, here, add };
	struct workers workers;
	int rc = workers_start(&workers, fleet, take_share, &task);
	struct head head;

	for (size_t i = 0; rc == 0 && i < workers.count; i++) {
		/* A worker that was killed has not written its number: start it again. */
		while (rc == 0 && fread(&head, sizeof(head), 1, workers.streams[i]) != 1)
			rc = workers_again(&workers, i, i);
		if (rc == 0) {
			keep_largest(table, &head);
			rc = head.full ? -EFBIG : diff_merge(table, workers.streams[i]);
		}
		table->unreadable += rc ? 0 : head.failed;
	}
	if (!workers_end(&workers) && rc == 0)
		rc = -EIO;
	return rc ? refuse(fleet, table, rc) : EXIT_WELL;
}
