/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job-private.h - what the files that read a log share. */
#ifndef WHY_JOB_PRIVATE_H
#define WHY_JOB_PRIVATE_H

#include "why/job.h"
#include "why/scan.h"

/* Names and the numbers that they got, from 0; a full table takes no more. */
struct name_table {
	uint32_t *slots; /* number + 1; 0: free */
	size_t mask;
	uint64_t key[2];
};

/* PLACES is a power of two above all numbers. */
void name_table_init(struct name_table *table, struct arena *arena, size_t places);
/* The slot of NAME: its own, or a free one. NAME_OF gives the name of a number. */
typedef const char *name_of(const void *user, uint32_t number);
uint32_t *name_table_slot(struct name_table *table, const char *name, name_of *of,
			  const void *user);

#define JOB_LINE_MAX 65536 /* a longer line is taken as several */
#define JOB_BUFFER (4 * JOB_LINE_MAX)

enum clean_state { CLEAN_TEXT, CLEAN_ESCAPE, CLEAN_SEQUENCE, CLEAN_STRING, CLEAN_STRING_END };

struct job_reader {
	struct arena *arena;
	struct job *job;
	struct scanner *scanner;
	struct name_table hosts, ranks, facts;
	struct job_event **events; /* by message; NULL: not seen yet */
	const struct message *messages;
	enum clean_state clean;
	size_t fill;   /* of the buffer */
	char *buffer;  /* JOB_BUFFER bytes and one more */
	char *decoded; /* of one JSON line */
};

/* clean.c: copies FROM without NULs and escape sequences, of which one may begin in one portion and end in another.
 * The bytes written, which are no more than FROM has. */
size_t clean_copy(enum clean_state *state, char *to, struct span from);

/* job-who.c: numbers of a host and a rank; JOB_NOBODY: not known, or too many. */
uint32_t job_host_number(struct job_reader *r, struct span name);
uint32_t job_rank_number(struct job_reader *r, const struct line *line, uint32_t host);
/* Takes what a message tells: choices, versions, which rank a process has. */
void job_take_facts(struct job_reader *r, const struct message_match *match,
		    const struct line *line, uint32_t host);

#endif
