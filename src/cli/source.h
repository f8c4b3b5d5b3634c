/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.h - the node of --root, --from or this machine, and its configuration. Functions that return an exit status
 * print the reason on standard error unless it is EXIT_WELL. */
#ifndef SOURCE_H
#define SOURCE_H

#include "cli/cli.h"
#include "evaluate/settings.h"
#include "facts/facts.h"
#include "host/host.h"
#include "host/root.h"

/* The node that a command reads: a live host, a tree (--root) or a file (--from). It must be zeroed before the first
 * use. */
struct source {
	struct arena *arena;
	const struct root *root; /* of --root, opened once; NULL: none */
	struct root own_root;
	struct host *host; /* NULL: facts were given */
	struct node *node;
	struct source *machine; /* of --hardware; NULL: none, or it belongs to another source */
	const struct node *hardware; /* its node */
	struct text file;	     /* of --from */
	struct fact_series facts;    /* one document, or many in turn */
};

/* Opens the tree, the file or this machine. The caller closes SOURCE, also after a failure. */
enum exit_status source_open(struct source *source, const struct options *options);
/* Opens the node of AGAIN once more, by its descriptor: the name of --root may lead elsewhere by now. */
enum exit_status source_reopen(struct source *source, const struct source *again);
/* Runs the probes and fills source->node. */
enum exit_status source_observe(struct source *source, const struct options *options);
/* Fills SETTINGS from the node's configuration and the options, which override it. */
enum exit_status source_settings(struct source *source, const struct options *options,
				 struct settings *settings);
/* Does both source_observe() and source_settings(); the watched child reads the configuration too. PREFLIGHT:
 * only the facts that it needs. SETTINGS is in the source's arena. */
enum exit_status source_read_node(struct source *source, const struct options *options,
				  bool preflight, const struct settings **settings);
/* Reads one of many files into SOURCE, and drops the previous node. */
enum exit_status source_read_file(struct source *source, const struct options *options,
				  const char *file);
void source_close(struct source *source);
#define _cleanup_source_ _cleanup_(source_close)

/* Opens the folder of --root. Without --root it returns EXIT_WELL and sets *USED to NULL. */
enum exit_status open_root(const struct options *options, struct root *root,
			   const struct root **used);

/* Refuses a pattern of --only or --skip that matches no rule, because it is misspelled. */
enum exit_status check_patterns(const struct options *options);

/* Returns true if --from and the arguments name the files of many nodes. */
bool is_of_many(const struct options *options);
#endif
