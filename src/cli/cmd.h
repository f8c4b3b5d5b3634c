/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd.h - the commands; each is one file, cmd-NAME.c: take options, call, print. cmd-node.c is what
 * those of them share that look at a node. */
#ifndef CMD_H
#define CMD_H

#include "cli/cli.h"
#include "evaluate/settings.h"
#include "facts/facts.h"
#include "host/host.h"
#include "host/root.h"

enum exit_status cmd_doctor(const struct options *options);
enum exit_status cmd_preflight(const struct options *options);
enum exit_status cmd_diff(const struct options *options);
enum exit_status cmd_explain(const struct options *options);
enum exit_status cmd_rules(const struct options *options);
enum exit_status cmd_facts(const struct options *options);
enum exit_status cmd_topo(const struct options *options);
enum exit_status cmd_expect(const struct options *options);
enum exit_status cmd_capture(const struct options *options);
enum exit_status cmd_fix(const struct options *options);
enum exit_status cmd_prove(const struct options *options);
enum exit_status cmd_undo(const struct options *options);
enum exit_status cmd_ack(const struct options *options);
enum exit_status cmd_why(const struct options *options);

struct report;
struct plan;

/* Where a command takes its node from, opened as --root and --from say. Zeroed before the first. */
struct source {
	struct arena *arena;
	const struct root *root; /* of --root, opened once; NULL: none */
	struct root own_root;
	struct host *host; /* NULL: facts were given */
	struct node *node;
	struct source *machine;	     /* of --hardware; NULL: none, or another source's */
	const struct node *hardware; /* its node */
	struct text file;	     /* of --from */
	struct fact_series facts;    /* one document, or many in turn */
};

/* EXIT_WELL, or another status after saying why on standard error. */
enum exit_status source_open(struct source *source, const struct options *options);
/* The node of AGAIN once more, wherever the name of --root leads by now. */
enum exit_status source_reopen(struct source *source, const struct source *again);
enum exit_status source_observe(struct source *source, const struct options *options);
enum exit_status source_settings(struct source *source, const struct options *options,
				 struct settings *settings);
/* Both of the last two, the configuration read by the watched child as well; BRIEF: what preflight asks
 * for. SETTINGS lies in the source's arena. */
enum exit_status source_look(struct source *source, const struct options *options, bool brief,
			     const struct settings **settings);
/* Reads one of the files into SOURCE, whose arena may hold an earlier one. */
enum exit_status source_read(struct source *source, const struct options *options,
			     const char *file);
/* Gives back what the node took but its memory, which the next one is read into. */
void source_forget(struct source *source);
void source_close(struct source *source);
#define _cleanup_source_ _cleanup_(source_close)

/* Reads the configuration through HOST; FILE instead of the standard ones unless it is NULL, and
 * then it must be there. 0, or negative errno with ERROR filled: "file:line: ..." where it is -EINVAL, and
 * what cannot be read is not that. */
int settings_read(struct settings *settings, struct host *host, const char *file,
		  struct arena *arena, char error[512]);

/* Opens the folder of --root. EXIT_WELL also without one, and then *USED is NULL. */
enum exit_status open_root(const struct options *options, struct root *root,
			   const struct root **used);

/* A pattern of --only or --skip that selects nothing is a slip of the pen, not a node without
 * findings. */
enum exit_status check_patterns(const struct options *options);

/* What 'fix' would do about a report's problems, where there are files to read; NULL: nothing, or there are none. */
const struct plan *outline_plan(const struct source *source, const struct settings *settings,
				const struct report *report);

/* Says that no rule is called ID, and which one may be meant. */
enum exit_status refuse_rule(const char *id);

/* Do --from and the arguments name the files of many nodes? */
bool is_of_many(const struct options *options);
/* doctor over many files; see fleet.h. */
enum exit_status cmd_fleet(const struct options *options);

#endif
