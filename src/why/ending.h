/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ending.h - how a log ends. A job that survived an error goes on, and says so in its last lines; one that failed ends
 * with errors or with a bad exit status.
 */
#ifndef WHY_ENDING_H
#define WHY_ENDING_H

#include <stdint.h>

#include "why/error-line.h"

/* Of the last lines, up to the last error. */
struct ending {
	bool is_good;	     /* one tells that something went well */
	bool is_success;     /* one tells that the job, or its last try, did */
	bool is_zero_exit;   /* it does so by an exit status */
	uint64_t error_line; /* the last line that reads like an error; 0: none does */
};

/* TAIL: whole lines, the last of which has the number LINES. */
struct ending find_ending(const struct error_finder *errors, struct span tail, uint64_t lines);

#endif
