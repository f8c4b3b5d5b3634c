/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job.h - the job in a log: its messages, by host and rank; its first failure; its choices. A log has any size, and any
 * user can write it. Everything here is bounded, and the texts may only be printed through escape.h.
 */
#ifndef WHY_JOB_H
#define WHY_JOB_H

#include "facts/fact.h"
#include "why/line.h"
#include "why/message.h"

#define JOB_HOSTS_MAX 4096
#define JOB_RANKS_MAX 16384
#define JOB_FACTS_MAX 4096
#define JOB_TEXT_MAX 400 /* bytes of a line that are kept */
#define JOB_NOBODY UINT32_MAX

/* The place in a log from which something was read. */
struct job_place {
	uint64_t line;	  /* from 1 */
	uint32_t host;	  /* in hosts, or JOB_NOBODY */
	uint32_t rank;	  /* in ranks, or JOB_NOBODY */
	const char *time; /* NULL: not said */
	const char *text; /* after time, host and rank */
};

/* What the log shows of a failure. */
enum job_outcome {
	JOB_NO_FAILURE,
	JOB_ENDED,	 /* it ended the job */
	JOB_UNDECIDED,	 /* neither the end of the job nor further work of its process is shown */
	JOB_SURVIVED,	 /* the job went on after it */
	JOB_LEFT_BEHIND, /* its process went on, and a later failure counts */
	JOB_OUTCOMES,
};

/* A message of the table that the log has. */
struct job_event {
	const struct message *message;
	uint64_t count;
	struct job_place first;
	/* of the first line; if a rank has two places, the one with its number */
	uint32_t one_rank;
	uint64_t last_line;
	uint32_t hosts, ranks; /* hosts and ranks with this message, among those with a name */
	uint8_t *host_bits, *rank_bits;
	/* Each of its lines, or one of the next two, says that it is a warning, a quotation or overcome. */
	bool is_mild;
	enum job_outcome outcome;
};

struct job_host {
	const char *name;
	uint64_t lines;		       /* that were recognised */
	uint64_t failures;	       /* lines */
	const struct message *failure; /* the first one; NULL: none */
	uint64_t failure_line;
};

/* A rank, or a process whose rank the log does not say. */
struct job_rank {
	int64_t number, pid; /* LINE_NONE: not said */
	uint32_t host;
	const struct message *failure; /* the first one; NULL: none */
	uint64_t failure_line;
};

/* A choice of the job, or a value that it printed about itself, with the name that the table uses. */
struct job_fact {
	const char *name;
	const char *value;
	uint32_t host; /* or JOB_NOBODY */
	uint64_t line; /* the first one */
};

/* How much of the log was read. */
enum job_read {
	JOB_READ_WHOLE,
	JOB_READ_SIZE, /* it unpacks to more than is read */
	JOB_READ_TIME, /* the time was over */
};

struct job {
	uint64_t lines, bytes;
	uint64_t recognised;		/* lines */
	uint64_t counts[MESSAGE_KINDS]; /* lines */
	/* in the order of their first lines, without harmless ones and choices */
	LIST(struct job_event) events;
	LIST(struct job_host) hosts;
	LIST(struct job_rank) ranks;
	LIST(struct job_fact) facts;
	/* The first line that reads like an error and has no message of the table; line 0: none before the first
	 * failure. */
	struct job_place unrecognised;
	bool unrecognised_survived; /* the job went on after it */
	bool is_undecided;	    /* it has failures, but does not show that the job failed */
	bool is_cut;		    /* more hosts, ranks or facts than are kept */
	enum job_read read;
};

/* job-copy.c: a copy in ARENA of the job that another process wrote in the window. Invalid parts are left out. NULL:
 * all is invalid. */
const struct job *job_copy(const struct job *from, const struct window *window,
			   struct arena *arena);

/* Returns true if the job went on after this failure. */
bool job_event_is_survived(const struct job_event *event);

/* Returns the first failure; NULL: none was recognised. */
const struct job_event *job_decisive(const struct job *job);

/* ---- reading ---- */

struct job_reader;

/* The job and all its parts are in ARENA. */
struct job_reader *job_begin(struct arena *arena);
/* The next bytes of the log, in any portions. */
void job_feed(struct job_reader *reader, struct span bytes);
/* The log continues, but its rest is not read. */
void job_stop(struct job_reader *reader, enum job_read why);
const struct job *job_end(struct job_reader *reader);

#endif
