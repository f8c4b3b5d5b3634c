/* SPDX-License-Identifier: GPL-2.0-or-later */
/* options.h - how a result is to be shown. */
#ifndef RENDER_OPTIONS_H
#define RENDER_OPTIONS_H

#include <stdbool.h>

#include "base/text.h"

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
	const struct steps *
		steps; /* what is to be done; a text and a page need it, JSON has it if there is one */
	bool quiet;    /* nothing on standard output */
	bool journal;	    /* a record in the journal as well */
	const char *output; /* a file instead of standard output, or NULL */
	/* Options of the user, for sentences that suggest the next command. */
	const char *root;
	const char *from;
	const char *
		command; /* of fix: the one that applies the plan shown; NULL: the user's with --apply */
	bool apply;
	bool all; /* every finding, or rules named one by one */
};

#endif
