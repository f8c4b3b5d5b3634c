/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli.h - the command line as two tables: commands and options. Parsing, --help, completions and the option lists of
 * the manual are all made from them.
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/exit-status.h"
#include "base/message.h"
#include "base/page.h"
#include "render/options.h"

enum command_bit {
	COMMAND_DOCTOR = 1 << 0,
	COMMAND_FACTS = 1 << 1,
	COMMAND_CAPTURE = 1 << 2,
	COMMAND_RULES = 1 << 3,
	COMMAND_EXPLAIN = 1 << 4,
	COMMAND_TOPO = 1 << 5,
	COMMAND_EXPECT = 1 << 6,
	COMMAND_PREFLIGHT = 1 << 7,
	COMMAND_DIFF = 1 << 8,
	COMMAND_FIX = 1 << 9,
	COMMAND_UNDO = 1 << 10,
	COMMAND_PROVE = 1 << 11,
	COMMAND_ACK = 1 << 12,
	COMMAND_WHY = 1 << 13,
	COMMAND_ANY = -1,
};

#define LIST_OPTION_MAX 32

/* The options and arguments of the command line. A member belongs to the option of its name. */
struct options {
	const struct command *command;
	bool names_command; /* false: the user named none, and it is doctor */
	char **args;	    /* the arguments after the command */
	size_t args_count;
	bool help;
	bool version;

	/* ---- the node to read ---- */
	const char *root;
	const char *from;
	const char *hardware;
	const char *kernel;
	int nvml; /* enum probe_nvml */
	bool serials;
	pid_t pid;
	unsigned int timeout_ms; /* 0: not given */
	const char *with;	 /* of doctor: the results of prove */

	/* ---- the rules to evaluate ---- */
	const char *config;
	unsigned int profiles;
	const char *only[LIST_OPTION_MAX + 1];
	const char *skip[LIST_OPTION_MAX + 1];
	int fail_on; /* from SEVERITY_WARN, in the order of the words of --fail-on; -1: not given */
	bool strict;

	/* ---- the output ---- */
	int format; /* enum format */
	const char *output;
	int color; /* enum color */
	bool no_pager;
	bool verbose;
	bool brief;
	bool quiet;
	bool journal;
	int audience; /* in the order of the words of --for; -1: not given */
	const char *since;
	struct render_options render; /* filled from the others by cli_parse() */

	/* ---- capture ---- */
	bool no_redact;
	bool show_redactions;

	/* ---- fix and undo ---- */
	bool all;
	bool apply;
	bool yes;
	const char *plan; /* the id that was shown */
	bool no_regenerate;
	bool writable_parents;
	bool reload;
	bool list;

	/* ---- prove ---- */
	bool quick;
	bool in_use;

	/* ---- ack ---- */
	const char *reason;
	const char *until;
	bool withdraw;

	/* ---- why ---- */
	const char *text; /* a message, instead of a log */
	const char *host; /* this node's name in the log */
};

struct command {
	const char *name;
	unsigned int bit;
	const char *args; /* their names in the usage line; "" for none */
	size_t args_max;
	const char *formats; /* formats that it can write, as in option_rows[]; NULL: no --format */
	const char *summary;
	enum exit_status (*run)(const struct options *options);
};

enum option_kind {
	OPTION_FLAG,	 /* bool */
	OPTION_STRING,	 /* const char * */
	OPTION_WORD,	 /* an enum, by its place in words; int */
	OPTION_JSON,	 /* sets an enum format */
	OPTION_PROFILES, /* unsigned int */
	OPTION_LIST,	 /* const char *[LIST_OPTION_MAX + 1] */
	OPTION_PID,	 /* pid_t */
	OPTION_SECONDS,	 /* unsigned int, in milliseconds */
	OPTION_NVML,	 /* enum probe_nvml, as int; its value is optional */
};

struct option_row {
	const char *name;
	char letter; /* 0: none */
	enum option_kind kind;
	size_t offset;	       /* in struct options */
	const char *value;     /* name of its value; NULL: it has none */
	const char *words;     /* "text, json": the possible values; NULL: any */
	unsigned int commands; /* enum command_bit */
	const char *help;
};

extern const struct command commands[];	      /* ends with a NULL name */
extern const struct option_row option_rows[]; /* ends with a NULL name */

/* Returns 0, or -EINVAL after one line and "Try ..." on standard error. Strings point into ARGV; the values of --only
 * and --skip are split in place. */
int cli_parse(int argc, char **argv, struct options *options);
/* help.c: prints the help of COMMAND; NULL: that of the program. */
void cli_help(const struct command *command);
/* Returns the values that COMMAND (NULL: any) accepts for an option, or NULL: not every command has every format. */
const char *cli_words(const struct option_row *row, const struct command *command);

#endif
