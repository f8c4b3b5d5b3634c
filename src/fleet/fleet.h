/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet.h - the files of many nodes: their list, the workers, and the facts that can be compared between nodes. Memory
 * does not grow with the data that was read: a node is freed before the next.
 */
#ifndef FLEET_H
#define FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/exit-status.h"

/* Facts files and captures; a folder means its files. */
struct fleet {
	struct arena *arena;
	const char **files;
	const char **names; /* of the nodes: the file's name without its ending */
	size_t count;
	struct fleet_progress *progress; /* of the workers */
};

enum exit_status fleet_open(struct fleet *fleet, const char *from, char *const *more, size_t count);
/* Adds a node that has no file, at the end of the list. */
void fleet_add_node(struct fleet *fleet, const char *name);
void fleet_close(struct fleet *fleet);
#define _cleanup_fleet_ _cleanup_(fleet_close)

/* Processes that share the files; each writes to a stream that the caller reads. */
#define WORKERS_MAX 64

/* WORKER is its number, or the start given to workers_again(). */
typedef void worker_run(const struct fleet *fleet, size_t worker, size_t workers, FILE *out,
			void *user);

struct workers {
	const struct fleet *fleet;
	worker_run *run;
	void *user;
	size_t total;
	size_t count; /* that were started */
	pid_t pids[WORKERS_MAX];
	FILE *streams[WORKERS_MAX];
};

/* 0 or negative errno. */
int workers_start(struct workers *workers, const struct fleet *fleet, worker_run *run, void *user);
/* A worker calls this before it reads FILE. Returns false if an earlier worker crashed on this file, or it was left out: skip it. */
bool workers_begin_file(const struct fleet *fleet, size_t worker, size_t file);
/* No worker that begins later reads FILE. */
void fleet_leave_out(const struct fleet *fleet, size_t file);
/* A stream has ended too early: names the file that ended the worker, and starts a new worker at BEGIN. -EIO if no file
 * was the cause, or negative errno. */
int workers_again(struct workers *workers, size_t worker, size_t begin);
/* Collects them; false if one of them failed. */
bool workers_end(struct workers *workers);

/* Returns true for a fact that changes by itself (a counter, a date), or with the lines above it in a file (the number
 * of a line). */
bool fleet_is_volatile(const char *path);
/* Returns true for such a fact, and for each node's own (a name, a serial number, an address): they are not compared
 * between nodes. */
bool fleet_is_own(const char *path);

#endif
