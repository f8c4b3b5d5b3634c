/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - the options of the output. */
#ifndef RENDER_OPTIONS_H
#define RENDER_OPTIONS_H

#include <stdbool.h>

#include "base/page.h"

/* Formats in the order of the words of --format. */
enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_SVG,
	FORMAT_MAN,
	FORMAT_JSONL,
	FORMAT_PROMETHEUS,
	FORMAT_NAGIOS,
	FORMAT_NPD,
	FORMAT_HTML,
};

struct steps;

struct render_options {
	enum format format;
	enum color color;
	bool pager; /* long text may go through a pager */
	bool verbose;
	bool for_provider; /* a text to send instead of the report */
	bool brief;	   /* the verdict and one line for each problem */
	/* the steps; a text and a page need them, JSON has them if they are given */
	const struct steps *steps;
	bool quiet;	    /* nothing on standard output */
	bool journal;	    /* a record in the journal as well */
	const char *output; /* a file instead of standard output, or NULL */
	/* Options of the user, for sentences that suggest the next command. */
	const char *root;
	const char *from;
	/* of fix: the command that applies the shown plan; NULL: the user's with --apply */
	const char *command;
	bool apply;
	bool all; /* every finding, or rules named one by one */
};

#endif
