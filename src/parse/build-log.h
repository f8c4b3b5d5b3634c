/* SPDX-License-Identifier: GPL-2.0-or-later */
/* build-log.h - make.log, which DKMS leaves after a failed build: the kernel, and the reason of the failure
 * (data/build-errors.tsv). */
#ifndef PARSE_BUILD_LOG_H
#define PARSE_BUILD_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/span.h"
#include "facts/facts-dkms.h"

/* Spans point into the text. */
struct build_log {
	struct span kernel; /* release, as DKMS' first line has it */
	bool explained;	    /* CAUSE, ERROR and LINE are set */
	enum build_cause cause;
	struct span error;
	uint64_t line;
	struct span compiler; /* the compiler that built the kernel; empty: not said */
};

/* False: TEXT is not a log of DKMS. */
bool build_log_parse(struct span text, struct build_log *log);

#endif
