/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line.h - the prefix of a message in a log: its time, host, rank and process, in the forms of launchers, containers,
 * loggers and the programs themselves.
 */
#ifndef WHY_LINE_H
#define WHY_LINE_H

#include "base/arena.h"
#include "base/span.h"

#define LINE_NONE (-1)

struct line {
	struct span text; /* after the prefix */
	struct span host; /* or the pod, if only that is known; empty: not said */
	struct span pod;  /* as kubectl logs --prefix has it */
	struct span time; /* as it is written; empty: not said */
	/* Numbers. LINE_NONE: not said. */
	int64_t rank;
	int64_t pid;
	int64_t gpu;  /* as the process counts them */
	int64_t task; /* the label of srun -l: the rank, unless the message has another */
};

/* TEXT is one line. Its spans point into it. */
void line_parse(struct line *line, struct span text);

/* json-line.c: a line that is a JSON object, as container runtimes and log collectors write them. */
struct json_line {
	struct span message; /* decoded; it may have several lines */
	struct span host;
	struct span time;
	int64_t rank;
};

/* Decodes into ROOM, of at least line.n bytes. False: LINE is not such an object, or has no message. */
bool json_line_parse(struct json_line *out, struct span line, char *room);

#endif
