/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job-private.h - shared by the files that read a log. */
#ifndef WHY_JOB_PRIVATE_H
#define WHY_JOB_PRIVATE_H

#include "why/error-line.h"
#include "why/job.h"
#include "why/scan.h"

/* Keys and their numbers, from 0. A full table accepts no more. A key is any bytes. */
#define KEYS_RECENT 256
struct key_table {
	uint32_t recent[KEYS_RECENT]; /* number + 1 of a recent key, by a cheap hash */
	uint32_t *slots;	      /* number + 1; 0: free */
	struct span *keys;
	uint32_t count, most;
	size_t mask;
	uint64_t secret[2];
};

void key_table_init(struct key_table *table, struct arena *arena, uint32_t most);

#define JOB_LINE_MAX 65536 /* a longer line is read as several lines */
#define JOB_BUFFER (4 * JOB_LINE_MAX)

#define JOB_TAIL 32768 /* bytes of the end of a log, which show how the job ended */

#define JOB_SUSPECTS_MAX 4096 /* lines with a sign of an error that are compared with the topics */

/* A line of a topic. */
struct job_suspect {
	const struct message *topic; /* NULL: none yet */
	struct job_place place;
};

enum clean_state { CLEAN_TEXT, CLEAN_ESCAPE, CLEAN_SEQUENCE, CLEAN_STRING, CLEAN_STRING_END };

struct job_reader {
	struct arena *arena;
	struct job *job;
	struct scanner *scanner;
	struct error_finder *errors;
	struct key_table hosts, ranks, facts;
	struct job_event **events; /* by message; NULL: not seen yet */
	/* by message: a bit for each host whose facts it gave; the last bit is for no host */
	uint8_t **told;
	const struct message *messages;
	struct job_suspect suspects[TOPIC_WHENS]; /* the first line of a topic, by when it counts */
	uint32_t suspects_seen;			  /* lines */
	struct span next;			  /* the lines after the line that is read */
	enum clean_state clean;
	size_t fill;   /* of the buffer */
	char *buffer;  /* JOB_BUFFER bytes and one more */
	char *decoded; /* of one JSON line */
	char *tail;    /* the last bytes that left the buffer, JOB_TAIL at most */
	size_t tail_n;
};

/* clean.c: copies FROM without NULs and escape sequences. A sequence may begin in one portion and end in another.
 * Returns the bytes written, never more than FROM has. TO may equal FROM's address. */
size_t clean_copy(enum clean_state *state, char *to, struct span from);

/* job-who.c: numbers of a host and a rank; JOB_NOBODY: not known, or the table is full. */
uint32_t job_host_number(struct job_reader *r, struct span name);
uint32_t job_rank_number(struct job_reader *r, const struct line *line, uint32_t host);
/* Finds the host and the rank of a line without adding them to the job. JOB_NOBODY: the line does not say; JOB_OTHER:
 * not in the job's lists. */
#define JOB_OTHER (JOB_NOBODY - 1)
struct job_place job_find_place(struct job_reader *r, const struct line *line);
/* A process whose rank became known after its first lines has two places in the list. Returns that of the rank. */
uint32_t job_one_number(const struct job_reader *r, uint32_t rank);
/* Records the values of a message: choices, versions, the rank of a process. */
void job_take_facts(struct job_reader *r, const struct message_match *match,
		    const struct line *line, uint32_t host);

/* job-outcome.c: the outcome of one failure, and of all failures of the job. */
struct ending;
enum job_outcome job_outcome_of(const struct job *job, const struct job_event *e,
				const struct ending *ending);
void job_find_outcomes(struct job *job, const struct ending *ending);

#endif
