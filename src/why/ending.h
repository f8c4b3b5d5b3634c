/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ending.h - the end of a log: whether the job ended badly, ended well, or continued its work. data/signs.tsv has the
 * words for it.
 *
 * Work after a message is evidence that the process that printed it went on. Work of other ranks and hosts is not, and
 * a line without a rank is evidence only if the log has one rank. If the source of the message says that its program
 * ends, or if the kernel or a service printed it, work after it is of another process.
 */
#ifndef WHY_ENDING_H
#define WHY_ENDING_H

#include <stdint.h>

#include "why/error-line.h"
#include "why/line.h"

/* The kind of a line. */
enum ending_class {
	ENDING_OTHER,
	ENDING_IDLE,	 /* start-up, waiting, a traceback */
	ENDING_PROGRESS, /* the job does its work */
	ENDING_GOOD,	 /* something went well */
	ENDING_SUCCESS,	 /* the job, or its last try, succeeded */
	ENDING_ERROR,	 /* it reads like an error */
	ENDING_BAD,	 /* a process or the job ended badly */
};

#define ENDING_LINES_MAX 256

struct ending_line {
	uint64_t number;
	enum ending_class class;
	bool is_exit;	     /* by an exit status */
	bool is_raised;	     /* an exception */
	bool is_overcome;    /* it says that the program does something else instead */
	bool is_request;     /* it is about one request of a server */
	struct line whose;   /* points into the tail */
	uint32_t host, rank; /* in the lists of the job; set by the caller of find_ending() */
};

struct ending {
	struct ending_line *lines; /* the last lines that are not empty, in reverse order */
	uint32_t count;
	bool is_good;	 /* after the last error, a line says that something went well */
	bool is_success; /* or that the job did */
	bool is_bad;	 /* one of the last lines reports the bad end of a process */
	bool is_raised;	 /* the last lines are an exception that nothing caught */
	bool is_lost; /* a server reports a failed request; success of other requests is no evidence */
	uint64_t error_line; /* the last line that reads like an error; 0: none */
	bool is_one_rank,
		is_one_host; /* the log has only one; set by the caller of find_ending() */
};

/* TAIL: whole lines. The last one has the number LINES. */
struct ending find_ending(struct arena *arena, const struct error_finder *errors, struct span tail,
			  uint64_t lines);

/* The lines after a message, whose first and last lines are known. */
struct ending_after {
	uint32_t plain;	   /* lines that are no error, no traceback and no start-up */
	uint32_t calm;	   /* of these, lines after the last error */
	uint32_t progress; /* of these, lines of work */
	uint32_t own;	   /* of these, lines of the process that printed the message */
	uint32_t overcome; /* lines that say that the program does something else instead */
	bool is_bad;	   /* after the last work, the job ended badly or with an error */
	bool is_raised;	   /* an exception, in the first line or after it */
	bool is_very_bad;  /* badly, or the last line is an error */
};

/* The process that printed a message, and the lines that have it. */
struct ending_message {
	uint64_t first, last; /* lines */
	uint32_t host, rank;  /* in the lists of the job, or JOB_NOBODY */
};

struct ending_after ending_after(const struct ending *ending, const struct ending_message *m);

/* Returns the lines of work of the process of M between its last line and the line TO. */
uint32_t ending_progress(const struct ending *ending, const struct ending_message *m, uint64_t to);

#endif
