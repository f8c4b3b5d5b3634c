/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tabulate.c - the files of many nodes, read by several processes into one table (diff.h). */
#include "cli/tabulate.h"

#include <errno.h>
#include <string.h>

#include "base/output.h"

/* More passes over all files are not made to find those that make the table too large. */
#define PASSES_MAX 8

/* A file that adds less is only left out if no other adds more. A node of sixteen GPUs and NICs adds some 3 MiB. */
#define LARGE (8u << 20)

struct task {
	const struct options *options;
	const struct node *here;
	tabulate_node *add;
	size_t *shares; /* for each file, bytes that it added to a table: in memory that workers share */
};

/* Before the table of a worker. */
struct head {
	uint32_t failed;
	bool full; /* the table does not follow */
};

/* A file that cannot be read is not read again in the next pass. */
static bool add_file(struct diff *table, struct source *source, const struct fleet *fleet, size_t i,
		     const struct task *task)
{
	size_t before = table->bytes;

	if (task->here && i == fleet->count - 1) {
		task->add(table, i, task->here, source->arena);
	} else if (source_read_file(source, task->options, fleet->files[i]) == 0) {
		task->add(table, i, source->node, source->arena);
	} else {
		fleet_leave_out(fleet, i);
		return false;
	}
	task->shares[i] = table->bytes > before ? table->bytes - before : 0;
	return true;
}

/* Neighbours, as in node-set.h. */
static void take_share(const struct fleet *fleet, size_t worker, size_t workers, FILE *out,
		       void *user)
{
	_cleanup_source_ struct source source = { 0 };
	size_t after = fleet->count * (worker + 1) / workers;
	struct head head = { 0 };
	struct diff table;

	diff_init(&table, fleet->count);
	for (size_t i = fleet->count * worker / workers; i < after && !head.full; i++) {
		head.failed += !workers_begin_file(fleet, worker, i) ||
			       !add_file(&table, &source, fleet, i, user);
		head.full = table.bytes > DIFF_BYTES_MAX;
	}
	fwrite(&head, sizeof(head), 1, out);
	if (!head.full)
		diff_write(&table, out);
	diff_free(&table);
}

/* Returns -EFBIG if the table would be too large. */
static int merge_shares(struct workers *workers, struct diff *table)
{
	struct head head;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < workers->count; i++) {
		/* A worker that was killed has not written its number: start it again. */
		while (rc == 0 && fread(&head, sizeof(head), 1, workers->streams[i]) != 1)
			rc = workers_again(workers, i, i);
		if (rc == 0)
			rc = head.full ? -EFBIG : diff_merge(table, workers->streams[i]);
		table->unreadable += rc ? 0 : head.failed;
	}
	return rc;
}

static int make_table(const struct fleet *fleet, struct task *task, struct diff *table)
{
	struct workers workers;
	int rc = workers_start(&workers, fleet, take_share, task);

	if (rc)
		return rc;
	rc = merge_shares(&workers, table);
	return workers_end(&workers) || rc ? rc : -EIO;
}

static size_t find_largest(const struct fleet *fleet, const size_t *shares)
{
	size_t largest = 0;

	for (size_t i = 1; i < fleet->count; i++)
		if (shares[i] > shares[largest])
			largest = i;
	return largest;
}

/* So many that the next pass will hardly find the table too large again. */
static void leave_out_largest(const struct fleet *fleet, size_t *shares)
{
	size_t sum = 0, largest = find_largest(fleet, shares);

	for (size_t i = 0; i < fleet->count; i++)
		sum += shares[i];
	do {
		complain("%s: left out: it adds %zu MiB to a comparison of more than %u MiB",
			 fleet->files[largest], shares[largest] >> 20, DIFF_BYTES_MAX >> 20);
		fleet_leave_out(fleet, largest);
		sum -= shares[largest];
		shares[largest] = 0;
		largest = find_largest(fleet, shares);
	} while (sum > DIFF_BYTES_MAX / 2 && shares[largest] > LARGE);
}

static enum exit_status refuse(int rc)
{
	if (rc == -EFBIG)
		complain("without these files too the comparison has more than %u MiB",
			 DIFF_BYTES_MAX >> 20);
	else
		complain("a process that compares nodes failed: %s", strerror(-rc));
	return EXIT_CANNOT;
}

enum exit_status tabulate(const struct fleet *fleet, const struct options *options,
			  const struct node *here, tabulate_node *add, struct diff *table)
{
	struct task task = { options, here, add,
			     arena_alloc(fleet->arena, fleet->count * sizeof(size_t)) };
	int rc = make_table(fleet, &task, table);

	for (int pass = 1; rc == -EFBIG && pass < PASSES_MAX; pass++) {
		leave_out_largest(fleet, task.shares);
		diff_free(table);
		diff_init(table, fleet->count);
		rc = make_table(fleet, &task, table);
	}
	return rc ? refuse(rc) : EXIT_WELL;
}
